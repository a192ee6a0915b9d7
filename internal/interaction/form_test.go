package interaction

import (
	"encoding/json"
	"net/url"
	"reflect"
	"testing"
	"time"

	"starling/internal/fhir"
	"starling/internal/fhir/definition"
	"starling/internal/fhir/element"
	"starling/internal/fhir/search"
	"starling/internal/validation"
)

// resource is a stored version of what JSON text says.
func resource(t *testing.T, text string) *fhir.Resource {
	t.Helper()
	tree, err := element.Parse([]byte(text), element.DefaultLimits)
	if err != nil {
		t.Fatal(err)
	}
	content, err := element.Content(tree.Root())
	if err != nil {
		t.Fatal(err)
	}
	return &fhir.Resource{
		Key:       fhir.Key{Type: fhir.ResourceType(tree.Root().Get("resourceType").Str()), ID: "1"},
		VersionID: 2, LastUpdated: time.Date(2024, 2, 29, 0, 0, 0, 0, time.UTC), Method: fhir.MethodPut, Content: content,
	}
}

func equalJSON(t *testing.T, got []byte, want string) {
	t.Helper()
	var g, w any
	if err := json.Unmarshal(got, &g); err != nil {
		t.Errorf("%v in %s", err, got)
	}
	if err := json.Unmarshal([]byte(want), &w); err != nil {
		t.Fatal(err)
	}
	if !reflect.DeepEqual(g, w) {
		t.Errorf("got  %s\nwant %s", got, want)
	}
}

const (
	stored = `"versionId":"2","lastUpdated":"2024-02-29T00:00:00.000Z"`
	tagged = `{"system":"http://terminology.hl7.org/CodeSystem/v3-ObservationValue","code":"SUBSETTED","display":"Resource encoded in summary mode"}`
)

func TestForm(t *testing.T) {
	s := &Service{Definitions: definition.R4()}
	const observation = `{"resourceType":"Observation","meta":{"tag":[{"code":"t"}],"profile":["http://p"]},
		"text":{"status":"generated","div":"<div xmlns=\"http://www.w3.org/1999/xhtml\">x</div>"},
		"extension":[{"url":"http://e","valueCode":"c"}],"status":"final","_status":{"id":"s"},
		"code":{"text":"c","coding":[{"code":"1"}]},"valueQuantity":{"value":1.10},"note":[{"text":"n"}],
		"component":[{"id":"i","code":{"text":"d"},"valueString":"v","interpretation":[{"text":"i"}]}]}`
	const meta = `"meta":{` + stored + `,"profile":["http://p"],"tag":[{"code":"t"},` + tagged + `]}`
	const head = `{"resourceType":"Observation","id":"1",` + meta
	const mandatory = `,"status":"final","_status":{"id":"s"},"code":{"text":"c","coding":[{"code":"1"}]}`
	for query, want := range map[string]string{
		"_summary=true": head + mandatory + `,"valueQuantity":{"value":1.10},"component":[{"id":"i","code":{"text":"d"},"valueString":"v"}]}`,
		"_summary=text": head + mandatory + `,"text":{"status":"generated","div":"<div xmlns=\"http://www.w3.org/1999/xhtml\">x</div>"}}`,
		"_summary=data": head + mandatory + `,"extension":[{"url":"http://e","valueCode":"c"}],"valueQuantity":{"value":1.10},"note":[{"text":"n"}],
			"component":[{"id":"i","code":{"text":"d"},"valueString":"v","interpretation":[{"text":"i"}]}]}`,
		"_elements=value,Observation.note,Patient.text": head + mandatory + `,"valueQuantity":{"value":1.10},"note":[{"text":"n"}]}`,
		"_elements=id": head + mandatory + `}`,
	} {
		values, _ := url.ParseQuery(query)
		f, err := parseForm(values)
		if err != nil {
			t.Fatal(err)
		}
		got, err := s.appendForm(nil, resource(t, observation), f)
		if err != nil {
			t.Fatal(err)
		}
		t.Log(query)
		equalJSON(t, got, want)
	}
	whole := resource(t, observation)
	got, err := s.appendForm(nil, whole, form{summary: summaryFalse})
	if err != nil || string(got) != string(whole.AppendJSON(nil)) {
		t.Errorf("_summary=false: %s, %v", got, err)
	}
}

func TestFormWithoutMeta(t *testing.T) {
	s := &Service{Definitions: definition.R4()}
	got, err := s.appendForm(nil, resource(t, `{"resourceType":"Patient","active":true,"birthDate":"2000"}`), form{elements: []string{"active"}})
	if err != nil {
		t.Fatal(err)
	}
	equalJSON(t, got, `{"resourceType":"Patient","id":"1","meta":{`+stored+`,"tag":[`+tagged+`]},"active":true}`)
}

func TestFormRefuses(t *testing.T) {
	for _, query := range []string{"_summary=all", "_summary=true&_summary=true", "_summary=true&_elements=id"} {
		values, _ := url.ParseQuery(query)
		if _, err := parseForm(values); Failure(err).Kind != fhir.KindInvalid {
			t.Errorf("%s: %v", query, err)
		}
	}
}

// valid fails the test if our own validator refuses what we generated.
func valid(t *testing.T, body []byte) element.Node {
	t.Helper()
	tree, err := element.Parse(body, element.DefaultLimits)
	if err != nil {
		t.Fatalf("%v in %s", err, body)
	}
	of := fhir.ResourceType(tree.Root().Get("resourceType").Str())
	for _, issue := range validation.New(definition.R4()).Validate(of, tree.Root()) {
		if issue.Severity == fhir.SeverityError || issue.Severity == fhir.SeverityFatal {
			t.Errorf("%s: %s %s", issue.Expression, issue.Code, issue.Diagnostics)
		}
	}
	return tree.Root()
}

func TestCapabilities(t *testing.T) {
	r4 := definition.R4()
	served := func(t fhir.ResourceType) []*definition.SearchParameter {
		return []*definition.SearchParameter{r4.SearchParameter(t, "_id")}
	}
	s := &Service{
		Definitions: r4, Served: served, Planner: search.New(r4), Software: Software{Version: "1.0", Date: time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)},
	}
	ask := func(mode string) *Response {
		response, err := s.capabilities(&Request{Interaction: Capabilities, Query: url.Values{"mode": {mode}}, Base: "http://x/fhir"})
		if err != nil {
			t.Fatal(err)
		}
		return response
	}
	full := ask("full")
	root := valid(t, full.Body)
	if got := root.Get("implementation").Get("url").Str(); got != "http://x/fhir" {
		t.Errorf("implementation.url is %q", got)
	}
	rest := root.Get("rest").At(0)
	if got, want := rest.Get("resource").Len(), len(r4.ResourceTypes())-1; got != want {
		t.Errorf("%d resource types, want %d", got, want)
	}
	if got := rest.Get("compartment").Len(); got != 5 {
		t.Errorf("%d compartments", got)
	}
	for resource := range rest.Get("resource").Children() {
		searches := resource.Get("searchParam").Len()
		if name := resource.Get("type").Str(); (name == "Binary") != (searches == 0) {
			t.Errorf("%s has %d search parameters", name, searches)
		}
	}
	if got := valid(t, ask("normative").Body).Get("rest").At(0).Get("resource").Len(); got != len(normativeTypes)-1 {
		t.Errorf("%d normative types", got)
	}
	if got := valid(t, ask("terminology").Body).Get("resourceType").Str(); got != "TerminologyCapabilities" {
		t.Errorf("mode=terminology gives a %s", got)
	}
	if _, err := s.capabilities(&Request{Query: url.Values{"mode": {"some"}}}); Failure(err).Kind != fhir.KindInvalid {
		t.Errorf("mode=some: %v", err)
	}
	again, err := s.capabilities(&Request{IfNoneMatch: full.ETag})
	if err != nil || again.Status != StatusNotModified || again.Body != nil {
		t.Errorf("If-None-Match: %+v, %v", again, err)
	}
	other := &Service{Definitions: r4, Served: served, Planner: search.New(r4), Software: Software{Version: "1.1", Date: s.Software.Date}}
	changed, err := other.capabilities(&Request{IfNoneMatch: full.ETag})
	if err != nil || changed.Status != StatusOK || changed.ETag == full.ETag {
		t.Errorf("another release has the ETag %s, %v", changed.ETag, err)
	}
}

func TestOutcomeIsValid(t *testing.T) {
	valid(t, AppendOutcome(nil, nil))
	valid(t, AppendOutcome(nil, []fhir.Issue{
		{Severity: fhir.SeverityError, Code: fhir.IssueInvalid, Diagnostics: "a \"b\"\n", Expression: "Patient.name[0]"},
		{Severity: fhir.SeverityWarning, Code: fhir.IssueNotSupported},
	}))
	broken := valid(t, AppendOutcome(nil, []fhir.Issue{{Severity: fhir.SeverityError, Code: fhir.IssueInvariant, Constraint: "obs-6"}}))
	if key := broken.Get("issue").At(0).Get("details").Get("coding").At(0).Get("code").Str(); key != "obs-6" {
		t.Errorf("the key of the constraint is %q", key)
	}
}
