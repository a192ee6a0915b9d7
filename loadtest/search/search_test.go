package search

import (
	"bytes"
	"net/url"
	"strings"
	"testing"

	"starling/loadtest/record"
	"starling/loadtest/replicate"
)

const bundle = `{"resourceType":"Bundle","type":"transaction","entry":[
{"resource":{"resourceType":"Patient","identifier":[{"system":"urn:s","value":"0a1b2c3d-0000-4000-8000-000000000001"}],"name":[{"family":"O'Hara","given":["Wren"]}],"address":[{"city":"Boston"}],"birthDate":"1971-04-18"}},
{"resource":{"resourceType":"Practitioner","name":[{"family":"Ray"}]}},
{"resource":{"resourceType":"Organization","name":"A clinic"}},
{"resource":{"resourceType":"Encounter","period":{"start":"2012-08-23T23:45:08+00:00"}}},
{"resource":{"resourceType":"Condition","code":{"coding":[{"system":"http://snomed.info/sct","code":"1"}]}}},
{"resource":{"resourceType":"Observation","code":{"coding":[{"system":"http://loinc.org","code":"8302-2"}]},"valueQuantity":{"value":171.23456,"system":"http://unitsofmeasure.org","code":"cm"}}},
{"resource":{"resourceType":"Observation","code":{"coding":[{"system":"http://loinc.org","code":"55284-4"}]},"component":[
 {"code":{"coding":[{"system":"http://loinc.org","code":"8480-6"}]},"valueQuantity":{"value":120,"system":"http://unitsofmeasure.org","code":"mm[Hg]"}}]}}]}`

func learned(t *testing.T) *Values {
	t.Helper()
	v, err := Learn([]replicate.Bundle{{Name: "a", Text: []byte(bundle), Resources: 7}})
	if err != nil {
		t.Fatal(err)
	}
	return v
}

// Every kind makes a query of values that the data has, and the seed determines them.
func TestQueriesAreOfTheData(t *testing.T) {
	v := learned(t)
	people := []Person{{ID: "p1", Identifier: "i1"}}
	one, two := NewDraw(v, people, 7), NewDraw(v, people, 7)
	seen := map[string]bool{}
	for range 400 {
		kind, path := one.Next(Kinds)
		if again, same := two.Next(Kinds); again != kind || same != path {
			t.Fatalf("%s and %s of one seed", path, same)
		}
		u, err := url.Parse(path)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := url.ParseQuery(u.RawQuery); err != nil || strings.Contains(path, "||") {
			t.Errorf("%s: %v", path, err)
		}
		seen[Kinds[kind].Name] = true
	}
	if len(seen) != len(Kinds) {
		t.Errorf("%d kinds of %d", len(seen), len(Kinds))
	}
	quantity := Kinds[7].Query(one)
	if text, _ := url.QueryUnescape(quantity); text != "code=http://loinc.org|8302-2&value-quantity=171.2|http://unitsofmeasure.org|cm" {
		t.Errorf("quantity: %s", text)
	}
}

func TestCheckTellsWrongAnswers(t *testing.T) {
	page := `{"resourceType":"Bundle","type":"searchset","entry":[{"search":{"mode":"match"}}]}`
	for _, c := range []struct {
		status int
		body   string
		first  bool
		want   string
	}{
		{200, page, true, ""},
		{200, `{"resourceType":"Bundle","type":"searchset"}`, false, ""},
		{200, `{"resourceType":"Bundle","type":"searchset"}`, true, "nothing was found"},
		{200, `{"resourceType":"Bundle","type":"history"}`, false, "the body is no searchset"},
		{200, strings.Replace(page, `"mode"`, `"severity":"error","mode"`, 1), true, "the page has an error"},
		{503, page, true, "status 503"},
	} {
		got := ""
		if fault := Check(c.status, []byte(c.body), c.first); fault != nil {
			got = fault.Kind
		}
		if got != c.want {
			t.Errorf("%d %s: %q, want %q", c.status, c.body, got, c.want)
		}
	}
}

func TestNextLink(t *testing.T) {
	for body, want := range map[string]string{
		`{"link":[{"relation":"self","url":"a"},{"relation":"next","url":"http://x/fhir?a=1\u0026b=2"}]}`: "http://x/fhir?a=1&b=2",
		`{"link":[{"url":"http://x/n","relation":"next"},{"relation":"self","url":"a"}]}`:                 "http://x/n",
		`{"link":[{"relation":"self","url":"a"}]}`:                                                        "",
		`{"entry":[{"resource":{"note":"next"}}]}`:                                                        "",
	} {
		if got := NextLink([]byte(body)); got != want {
			t.Errorf("%s: %q, want %q", body, got, want)
		}
	}
}

func TestResources(t *testing.T) {
	body := `{"entry":[{"fullUrl":"a","search":{"mode":"match"}},{"fullUrl" : "b","search":{"mode":"include"}},{"search":{"mode":"outcome"}}]}`
	if n := Resources([]byte(body)); n != 2 {
		t.Errorf("%d resources, want 2", n)
	}
}

func TestReportShowsGrowth(t *testing.T) {
	result := func(p50 float64) *record.Result {
		g := record.Group{Interaction: "token", RPS: 10, Resources: 2.5, Latency: record.Latency{P50: p50, P95: 3, P99: 4}}
		return &record.Result{Total: g, Interactions: []record.Group{g}, Processes: []record.Process{{Name: "server", CPUPerRequest: 0.5}}}
	}
	var b bytes.Buffer
	report := Report{Sizes: []Size{{50_000, result(2)}, {500_000, result(3)}}}
	if err := report.Markdown(&b); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"RPS in 500,000", "| token | 10 | 2.5 | 2.00 | 3.00 | 4.00 | 10 | 2.5 | 3.00 | 3.00 | 4.00 | × 1.50 | × 1.00 |", "| server | 0.500 | 0.500 |"} {
		if !strings.Contains(b.String(), want) {
			t.Errorf("no %q in\n%s", want, b.String())
		}
	}
}

func TestSelectRefusesUnknownKinds(t *testing.T) {
	if kinds, err := Select([]string{"token", "chained"}); err != nil || len(kinds) != 2 || kinds[0].Name != "token" {
		t.Errorf("%v, %v", kinds, err)
	}
	if _, err := Select([]string{"telepathy"}); err == nil {
		t.Error("no error")
	}
}
