package validation_test

import (
	"fmt"
	"runtime"
	"strings"
	"testing"
	"time"

	"starling/internal/fhir"
	"starling/internal/fhir/definition"
	"starling/internal/fhir/element"
	"starling/internal/terminology"
)

// hostileTime is far more than any case takes, on a busy machine with the race
// detector; what is not bounded takes longer by orders.
const hostileTime = 30 * time.Second

// hostileMemory bounds what one case may allocate in all, in bytes.
const hostileMemory = 2 << 30

// bounded carries out a case within time and memory.
func bounded(t *testing.T, what func() []fhir.Issue) []fhir.Issue {
	t.Helper()
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	done := make(chan []fhir.Issue, 1)
	start := time.Now()
	go func() { done <- what() }()
	select {
	case issues := <-done:
		runtime.ReadMemStats(&after)
		if allocated := after.TotalAlloc - before.TotalAlloc; allocated > hostileMemory {
			t.Errorf("%d MiB allocated", allocated>>20)
		} else {
			t.Logf("%v, %d MiB allocated, %d issues", time.Since(start), allocated>>20, len(issues))
		}
		return issues
	case <-time.After(hostileTime):
		t.Fatal("does not end")
		return nil
	}
}

// 10,000 levels are refused before anything is checked.
func TestTenThousandLevels(t *testing.T) {
	for name, text := range map[string]string{
		"extensions": `{"resourceType":"Patient","extension":[` + strings.Repeat(`{"url":"u","extension":[`, 10_000) + `{"url":"u","valueCode":"x"}` + strings.Repeat("]}", 10_000) + `]}`,
		"arrays":     strings.Repeat("[", 10_000) + strings.Repeat("]", 10_000),
		"open":       strings.Repeat(`{"a":`, 10_000),
	} {
		t.Run(name, func(t *testing.T) {
			bounded(t, func() []fhir.Issue {
				if _, err := element.Parse([]byte(text), element.DefaultLimits); err == nil || !strings.Contains(err.Error(), "levels deep") {
					t.Error(err)
				}
				return nil
			})
		})
	}
}

// Expressions of profiles are written by clients: none keeps the server busy.
func TestHostileExpressions(t *testing.T) {
	long := strings.Repeat("a", 1<<20) + "!"
	names := `{"text":"x"}` + strings.Repeat(`,{"text":"x"}`, 2_000)
	for name, test := range map[string]struct{ expression, text string }{
		"a regular expression that explodes":  {"name.text.matches('^(a+)+$')", `{"resourceType":"Patient","name":[{"text":"` + long + `"}]}`},
		"alternatives that explode":           {"name.text.matches('^(a|a|aa)*$')", `{"resourceType":"Patient","name":[{"text":"` + long + `"}]}`},
		"a regular expression of repetitions": {"name.text.matches('((a{1,1000}){1,1000}){1,1000}')", `{"resourceType":"Patient","name":[{"text":"` + long + `"}]}`},
		"replacements that grow":              {"name.text" + strings.Repeat(".replace('a','aaaaaaaaaa')", 10) + ".length() > 0", `{"resourceType":"Patient","name":[{"text":"` + long + `"}]}`},
		"a product of lists":                  {"name.select($this.text.select(%resource.name.text)).count() > 0", `{"resourceType":"Patient","name":[` + names + `]}`},
		"repeat":                              {"repeat(%resource.name).count() > 0", `{"resourceType":"Patient","name":[` + names + `]}`},
		"nested iterations":                   {"name.all(%resource.name.all(%resource.name.all(%resource.name.exists())))", `{"resourceType":"Patient","name":[` + names + `]}`},
		"conformsTo itself":                   {"conformsTo('" + profileURL + "')", `{"resourceType":"Patient","name":[` + names + `]}`},
	} {
		t.Run(name, func(t *testing.T) {
			profile := define(t, profileURL, "Patient", specification+"Patient", "",
				fmt.Sprintf(`{"id":"Patient","path":"Patient","constraint":[{"key":"x-1","severity":"error","human":"x","expression":%q}]}`, test.expression))
			v, root := validator().With([]*fhir.Resource{profile}), parse(t, test.text)
			bounded(t, func() []fhir.Issue { return v.ValidateProfile("Patient", root, []string{profileURL}, "") })
		})
	}
}

// Profiles of a type that holds itself, each of which asks for the next.
func TestProfilesThatNameThemselves(t *testing.T) {
	const url = "http://example.org/ext"
	nested := define(t, url, "Extension", specification+"Extension", `,"context":[{"type":"element","expression":"Element"}]`,
		`{"id":"Extension.extension","path":"Extension.extension","slicing":{"discriminator":[{"type":"profile","path":"$this"}],"rules":"open"}}`,
		`{"id":"Extension.extension:a","path":"Extension.extension","sliceName":"a","type":[{"code":"Extension","profile":["`+url+`"]}]}`,
		`{"id":"Extension.extension:b","path":"Extension.extension","sliceName":"b","type":[{"code":"Extension","profile":["`+url+`"]}]}`)
	v := validator().With([]*fhir.Resource{nested})
	text := strings.Repeat(`{"url":"`+url+`","extension":[`, 40) + `{"url":"` + url + `","valueCode":"x"}` + strings.Repeat("]}", 40)
	root := parse(t, `{"resourceType":"Patient","extension":[`+text+`]}`)
	for _, issue := range bounded(t, func() []fhir.Issue { return v.Validate("Patient", root) }) {
		if issue.Code == fhir.IssueTooCostly {
			t.Error("each question is to be answered once:", issue.Diagnostics)
		}
	}
}

// A value set that includes itself, and two that include each other, bound by a
// profile: their codes cannot be told, so that nothing is held against them.
func TestValueSetsThatIncludeThemselves(t *testing.T) {
	set := func(url string, includes ...string) *fhir.Resource {
		resource := define(t, url, "Patient", "", "")
		tree := parse(t, `{"resourceType":"ValueSet","url":"`+url+`","status":"active","compose":{"include":[{"valueSet":["`+strings.Join(includes, `","`)+`"]}]}}`)
		content, err := element.Content(tree)
		if err != nil {
			t.Fatal(err)
		}
		resource.Type, resource.Content = "ValueSet", content
		return resource
	}
	const url = "http://example.org/ValueSet/"
	sets := []*fhir.Resource{set(url+"self", url+"self"), set(url+"a", url+"b"), set(url+"b", url+"a", url+"a")}
	for _, name := range []string{"self", "a", "b"} {
		t.Run(name, func(t *testing.T) {
			profile := define(t, profileURL, "Patient", specification+"Patient", "",
				`{"id":"Patient.maritalStatus","path":"Patient.maritalStatus","binding":{"strength":"required","valueSet":"`+url+name+`"}}`)
			resources := append([]*fhir.Resource{profile}, sets...)
			terms := terms{terminology.New(terminology.NewSpecification(definition.R4()), resources, nil, nil)}
			v := validator().With(resources).WithTerminology(terms)
			root := parse(t, `{"resourceType":"Patient","maritalStatus":{"coding":[{"system":"http://a","code":"x"}]}}`)
			issues := bounded(t, func() []fhir.Issue { return onlyErrors(v.ValidateProfile("Patient", root, []string{profileURL}, "")) })
			if len(issues) > 1 {
				t.Error(issues)
			}
		})
	}
}

// A Bundle of which each entry refers to another takes as long as it has entries.
func TestBundleThatRefers(t *testing.T) {
	const count = 20_000
	var entries strings.Builder
	for i := range count {
		if i > 0 {
			entries.WriteByte(',')
		}
		fmt.Fprintf(&entries, `{"fullUrl":"http://a/fhir/Patient/%d","resource":{"resourceType":"Patient","id":"%d","link":[{"other":{"reference":"Patient/%d"},"type":"refer"}]}}`,
			i, i, (i+1)%count)
	}
	root := parse(t, `{"resourceType":"Bundle","type":"collection","entry":[`+entries.String()+`]}`)
	if issues := onlyErrors(bounded(t, func() []fhir.Issue { return validator().Validate("Bundle", root) })); len(issues) > 0 {
		t.Errorf("%v", issues)
	}
}
