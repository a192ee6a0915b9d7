package main

import (
	"encoding/json"
	"fmt"
	"net/http"
	"runtime"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"starling/internal/postgres/postgrestest"
)

// heapPeak samples the heap until the function it gives is called, which says by how
// many MiB it grew at most.
func heapPeak() func() int64 {
	heap := func() int64 {
		var m runtime.MemStats
		runtime.ReadMemStats(&m)
		return int64(m.HeapAlloc)
	}
	runtime.GC()
	before := heap()
	var most atomic.Int64
	done, ended := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(ended)
		for {
			most.Store(max(most.Load(), heap()))
			select {
			case <-done:
				return
			case <-time.After(20 * time.Millisecond):
			}
		}
	}()
	return func() int64 {
		close(done)
		<-ended
		return (max(most.Load(), heap()) - before) >> 20
	}
}

// TestHostileInput sends a running server what is meant to keep it busy or to fill
// its memory: each is answered with a refusal, or the truth, within bounds.
func TestHostileInput(t *testing.T) {
	r := serve(t, postgrestest.New(t))
	const (
		bound  = 30 * time.Second // on a machine that does other things
		memory = 700              // MiB, of which many are garbage
	)
	text := func(v any) string {
		out, err := json.Marshal(v)
		if err != nil {
			t.Fatal(err)
		}
		return string(out)
	}
	deep := func(n int, open, inner, closing string) string {
		return strings.Repeat(open, n) + inner + strings.Repeat(closing, n)
	}
	megabyte := strings.Repeat("a", 1<<20)
	profile := func(id, base, elements string) string {
		return `{"resourceType":"StructureDefinition","id":"` + id + `","url":"http://example.org/` + id + `","name":"P","status":"active","kind":"resource","abstract":false,
			"type":"Patient","baseDefinition":"` + base + `","derivation":"constraint","differential":{"element":[` + elements + `]}}`
	}
	invariant := func(id, expression string) string {
		return profile(id, "http://hl7.org/fhir/StructureDefinition/Patient", `{"id":"Patient","path":"Patient","constraint":[{"key":"c-1","severity":"error","human":"h","expression":`+text(expression)+`}]}`)
	}
	claims := func(id, more string) string {
		return `{"resourceType":"Patient","meta":{"profile":["http://example.org/` + id + `"]}` + more + `}`
	}
	const patient = "http://hl7.org/fhir/StructureDefinition/Patient"
	names := `,"name":[` + strings.TrimSuffix(strings.Repeat(`{"family":"`+strings.Repeat("a", 40)+`"},`, 2000), ",") + `]`
	type request struct {
		method, target, body string
		least, most          int // of the status
	}
	var slices, wide strings.Builder
	for i := range 1000 {
		fmt.Fprintf(&slices, `,{"id":"Patient.identifier:s%[1]d","path":"Patient.identifier","sliceName":"s%[1]d","min":0,"max":"1"},{"id":"Patient.identifier:s%[1]d.system","path":"Patient.identifier.system","fixedUri":"http://%[1]d"}`, i)
		fmt.Fprintf(&wide, `{"system":"http://%d","value":"1"},`, i)
	}
	path := "Patient" + strings.Repeat(".extension", 50_000)
	cases := []struct {
		name     string
		requests []request
	}{
		{"10,000 levels of arrays", []request{{"POST", "Patient", `{"resourceType":"Patient","name":` + deep(10_000, "[", "", "]") + `}`, 400, 400}}},
		{"10,000 levels of extensions", []request{{"POST", "Patient", `{"resourceType":"Patient",` + deep(10_000, `"extension":[{"url":"http://x",`, `"valueCode":"c"`, "}]") + `}`, 400, 400}}},
		{"10,000 levels of a questionnaire", []request{{"POST", "Questionnaire", `{"resourceType":"Questionnaire","status":"active",` + deep(10_000, `"item":[{"linkId":"1","type":"group",`, `"text":"x"`, "}]") + `}`, 400, 400}}},
		{"a million brackets that do not close", []request{{"POST", "Patient", `{"resourceType":"Patient","name":` + strings.Repeat("[", 1_000_000), 400, 400}}},
		{"a megabyte of a name", []request{{"POST", "Patient", `{"resourceType":"Patient","name":[{"family":"` + megabyte + `"}]}`, 201, 400}}},
		{"a megabyte of a code", []request{{"POST", "Patient", `{"resourceType":"Patient","gender":"` + megabyte + `"}`, 400, 422}}},
		{"a megabyte of an id", []request{{"POST", "Patient", `{"resourceType":"Patient","contained":[{"resourceType":"Patient","id":"` + megabyte + `"}]}`, 400, 422}}},
		{"a megabyte of a date", []request{{"POST", "Patient", `{"resourceType":"Patient","birthDate":"` + strings.Repeat("1", 1<<20) + `"}`, 400, 400}}},
		{"a megabyte of a number", []request{{"POST", "Observation", `{"resourceType":"Observation","status":"final","code":{"text":"x"},"valueQuantity":{"value":` + strings.Repeat("1", 1<<20) + `}}`, 400, 422}}},
		{"a megabyte of spaces", []request{{"POST", "Patient", `{"resourceType":"Patient","name":[{"family":"` + strings.Repeat(" ", 1<<20) + `"}]}`, 201, 422}}},
		{"a megabyte of narrative", []request{{"POST", "Patient", `{"resourceType":"Patient","text":{"status":"generated","div":` + text(`<div xmlns="http://www.w3.org/1999/xhtml">`+strings.Repeat("<p>", 300_000)) + `}}`, 400, 422}}},
		{"entities that grow", []request{{"POST", "Patient", `{"resourceType":"Patient","text":{"status":"generated","div":` +
			text(`<!DOCTYPE d [<!ENTITY a "aaaaaaaaaa"><!ENTITY b "&a;&a;&a;&a;&a;&a;&a;&a;&a;&a;">]><div xmlns="http://www.w3.org/1999/xhtml">&b;</div>`) + `}}`, 400, 422}}},
		{"100,000 values", []request{{"POST", "Patient", `{"resourceType":"Patient","name":[` + strings.Repeat(`{"family":"a"},`, 100_000) + `{"family":"a"}]}`, 201, 413}}},
		{"20,000 contained resources that refer to each other", []request{{"POST", "Patient", func() string {
			var b strings.Builder
			b.WriteString(`{"resourceType":"Patient","contained":[`)
			for i := range 20_000 {
				fmt.Fprintf(&b, `{"resourceType":"Patient","id":"c%d","link":[{"type":"seealso","other":{"reference":"#c%d"}}]},`, i, (i+1)%20_000)
			}
			return strings.TrimSuffix(b.String(), ",") + `]}`
		}(), 201, 422}}},
		{"10,000 profiles claimed", []request{{"POST", "Patient", `{"resourceType":"Patient","meta":{"profile":[` + strings.TrimSuffix(strings.Repeat(`"http://hl7.org/fhir/StructureDefinition/cqf-questionnaire",`, 10_000), ",") + `]}}`, 201, 422}}},

		{"a regular expression that explodes", []request{
			{"PUT", "StructureDefinition/regex", invariant("regex", `name.all(family.matches('^((a+)+)+$'))`), 201, 201},
			{"POST", "Patient", claims("regex", names), 201, 422},
		}},
		{"a regular expression of many repetitions", []request{
			{"PUT", "StructureDefinition/regex2", invariant("regex2", `name.all(family.matches('((a{1,90}){1,90}){1,90}b'))`), 201, 422},
			{"POST", "Patient", claims("regex2", names), 201, 422},
		}},
		{"an expression that multiplies", []request{
			{"PUT", "StructureDefinition/product", invariant("product", `name.all(%resource.name.all(%resource.name.all(%resource.name.all(family.exists()))))`), 201, 422},
			{"POST", "Patient", claims("product", names), 201, 422},
		}},
		{"an expression that repeats without end", []request{
			{"PUT", "StructureDefinition/repeat", invariant("repeat", `repeat(name | %resource).count() > 0 and 'a'.repeat($this + $this).exists()`), 201, 422},
			{"POST", "Patient", claims("repeat", names), 201, 422},
		}},
		{"an expression of 10,000 brackets", []request{
			{"PUT", "StructureDefinition/brackets", invariant("brackets", deep(10_000, "(", "true", ")")), 422, 422},
		}},
		{"profiles that derive from each other", []request{
			{"PUT", "StructureDefinition/circle-a", profile("circle-a", "http://example.org/circle-b", `{"id":"Patient.name","path":"Patient.name","min":1}`), 201, 422},
			{"PUT", "StructureDefinition/circle-b", profile("circle-b", "http://example.org/circle-a", `{"id":"Patient.name","path":"Patient.name","min":1}`), 201, 422},
			{"POST", "Patient", claims("circle-a", ""), 201, 422},
		}},
		{"a profile that its own parts have to meet, twice", []request{
			{"PUT", "StructureDefinition/self", profile("self", patient, `{"id":"Patient.contained","path":"Patient.contained","type":[{"code":"Patient","profile":["http://example.org/self"]}]},
				{"id":"Patient.link.other","path":"Patient.link.other","type":[{"code":"Reference","targetProfile":["http://example.org/self"]}]}`), 201, 201},
			{"POST", "Patient", claims("self", `,"contained":[{"resourceType":"Patient","id":"a","link":[{"type":"seealso","other":{"reference":"#a"}},{"type":"seealso","other":{"reference":"#a"}}]}],
				"link":[{"type":"seealso","other":{"reference":"#a"}},{"type":"seealso","other":{"reference":"#a"}}]`), 201, 422},
		}},
		{"a path of 50,000 parts", []request{
			{"PUT", "StructureDefinition/path", profile("path", patient, `{"id":"`+path+`","path":"`+path+`","min":1}`), 201, 422},
			{"POST", "Patient", claims("path", ""), 201, 422},
		}},
		{"20,000 slices of extensions in each other", []request{
			{"PUT", "StructureDefinition/bush", profile("bush", patient, func() string {
				var b strings.Builder
				for i := range 20_000 {
					fmt.Fprintf(&b, `{"id":"Patient.extension:s%d%[2]s","path":"Patient.extension%[2]s"},`, i, strings.Repeat(".extension", 90))
				}
				return strings.TrimSuffix(b.String(), ",")
			}()), 201, 422},
			{"POST", "Patient", claims("bush", ""), 201, 422},
		}},
		{"1,000 slices and 1,000 values", []request{
			{"PUT", "StructureDefinition/slices", profile("slices", patient, `{"id":"Patient.identifier","path":"Patient.identifier","slicing":{"discriminator":[{"type":"value","path":"system"}],"rules":"closed"}}`+slices.String()), 201, 201},
			{"POST", "Patient", claims("slices", `,"identifier":[`+strings.TrimSuffix(wide.String(), ",")+`]`), 201, 422},
		}},
		{"a value set that includes itself", []request{
			{"PUT", "ValueSet/own", `{"resourceType":"ValueSet","id":"own","url":"http://example.org/own","status":"active","compose":{"include":[{"valueSet":["http://example.org/own"]}]}}`, 201, 422},
			{"GET", "ValueSet/own/$expand", "", 422, 422},
			{"PUT", "StructureDefinition/own", profile("own", patient, `{"id":"Patient.maritalStatus","path":"Patient.maritalStatus","binding":{"strength":"required","valueSet":"http://example.org/own"}}`), 201, 201},
			{"POST", "Patient", claims("own", `,"maritalStatus":{"coding":[{"system":"http://x","code":"y"}]}`), 201, 422},
		}},
		{"value sets that double at each level", []request{
			{"POST", "", func() string {
				var entries []string
				for i := range 60 {
					entries = append(entries, fmt.Sprintf(`{"resource":{"resourceType":"ValueSet","id":"d%[1]d","url":"http://example.org/d%[1]d","status":"active","compose":{"include":[{"valueSet":["http://example.org/d%[2]d"]},{"valueSet":["http://example.org/d%[2]d"]}]}},"request":{"method":"PUT","url":"ValueSet/d%[1]d"}}`, i, i+1))
				}
				return `{"resourceType":"Bundle","type":"transaction","entry":[` + strings.Join(entries, ",") + `]}`
			}(), 200, 200},
			{"PUT", "ValueSet/d60", `{"resourceType":"ValueSet","id":"d60","url":"http://example.org/d60","status":"active","compose":{"include":[{"system":"http://s","concept":[{"code":"a"}]}]}}`, 201, 201},
			{"GET", "ValueSet/d0/$expand", "", 200, 422},
			{"GET", "ValueSet/d0/$validate-code?system=http://s&code=b", "", 200, 422},
		}},
		{"a filter that explodes", []request{
			{"POST", "ValueSet/$expand", `{"resourceType":"ValueSet","status":"active","compose":{"include":[{"system":"http://terminology.hl7.org/CodeSystem/v3-ActCode","filter":[{"property":"code","op":"regex","value":"((A+)+)+((B{1,100}){1,100}){1,100}"}]}]}}`, 422, 422},
		}},
	}
	for _, c := range cases {
		for i, q := range c.requests {
			grown, begun := heapPeak(), time.Now()
			a := r.do(q.method, q.target, q.body)
			took, mib := time.Since(begun), grown()
			if a.StatusCode < q.least || a.StatusCode > q.most {
				t.Errorf("%s, %d: %d %.300s", c.name, i, a.StatusCode, a.body)
			}
			if took > bound || mib > memory {
				t.Errorf("%s, %d: it took %v and %d MiB", c.name, i, took, mib)
			}
			if testing.Verbose() {
				t.Logf("%s, %d: %d bytes, %d %s, %v, %d MiB", c.name, i, len(q.body), a.StatusCode, firstOf(a.code()), took.Round(time.Millisecond), mib)
			}
		}
	}
	if a := r.do("GET", "Patient?_count=1", ""); a.StatusCode != http.StatusOK {
		t.Errorf("afterwards: %d %s", a.StatusCode, a.body)
	}
}

// firstOf is the beginning of a text.
func firstOf(text string) string { return text[:min(len(text), 30)] }
