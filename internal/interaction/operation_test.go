package interaction

import (
	"strings"
	"testing"

	"starling/internal/fhir"
	"starling/internal/fhir/element"
)

// parameters makes a Parameters resource of its parameters' JSON.
func parameters(all ...string) string {
	return `{"resourceType":"Parameters","parameter":[` + strings.Join(all, ",") + `]}`
}

// operation carries out an operation whose answer must be a valid resource.
func (s *server) operation(method, target, body string, changes ...func(*Request)) element.Node {
	s.t.Helper()
	return valid(s.t, s.do(StatusOK, method, target, body, changes...).Body)
}

// worst gives severity, code and expression of the first issue.
func worst(outcome element.Node) string {
	issue := outcome.Get("issue").At(0)
	return strings.TrimSpace(issue.Get("severity").Str() + " " + issue.Get("code").Str() + " " + issue.Get("expression").At(0).Str())
}

func TestValidate(t *testing.T) {
	s := newServer(t)
	const told = `"text":{"status":"generated","div":"<div xmlns=\"http://www.w3.org/1999/xhtml\">x</div>"},`
	const good, bad = `{"resourceType":"Patient","id":"p",` + told + `"active":true}`, `{"resourceType":"Patient","id":"p",` + told + `"active":1}`
	s.do(StatusCreated, "PUT", "Patient/p", good)
	resource := `{"name":"resource","resource":` + bad + `}`
	const baseProfile = "http://hl7.org/fhir/StructureDefinition/Patient"
	for _, c := range []struct{ method, target, body, want string }{
		{"POST", "Patient/$validate", good, "information informational"},
		{"POST", "Patient/$validate", bad, "error structure Patient.active"},
		{"POST", "Patient/$validate", `{"resourceType":"Patient","id":"p"}`, "warning invariant Patient"},
		{"POST", "Patient/$validate", parameters(resource), "error structure Patient.active"},
		{"POST", "Patient/$validate?mode=create", bad, "error structure Patient.active"},
		{"POST", "Patient/$validate", parameters(resource, `{"name":"mode","valueCode":"create"}`), "error structure Patient.active"},
		{"POST", "Patient/$validate?profile=" + baseProfile, good, "information informational"},
		{"POST", "Patient/$validate", parameters(`{"name":"profile","valueCanonical":"`+baseProfile+`"}`, resource), "error structure Patient.active"},
		{"POST", "Patient/$validate", `{"resourceType":"Observation"}`, "error invalid resourceType"},
		{"POST", "Patient/$validate", `{}`, "error required resourceType"},
		{"POST", "Patient/p/$validate", good, "information informational"},
		{"POST", "Patient/p/$validate?mode=update", good, "information informational"},
		{"POST", "Patient/q/$validate?mode=update", good, "error invalid Patient.id"},
		{"POST", "Patient/p/$validate", parameters(`{"name":"mode","valueCode":"delete"}`), "information informational"},
		{"GET", "Patient/p/$validate?mode=delete", "", "information informational"},
		{"GET", "Patient/never/$validate?mode=delete", "", "information informational"},
		{"GET", "Patient/p/$validate", "", "information informational"},
		{"GET", "Patient/p/$validate?mode=profile&profile=" + baseProfile, "", "information informational"},
	} {
		if got := worst(s.operation(c.method, c.target, c.body)); got != c.want {
			t.Errorf("%s %s %s: %s, want %s", c.method, c.target, c.body, got, c.want)
		}
	}
	if got := worst(s.operation("POST", "Patient/p/$validate?mode=update", good, ifMatch(`W/"7"`))); got != "error conflict" {
		t.Errorf("If-Match: %s", got)
	}
	if got := worst(s.operation("POST", "Patient/p/$validate?mode=update", good, ifMatch(`W/"1"`))); got != "information informational" {
		t.Errorf("If-Match: %s", got)
	}
	if s.json("Patient/p").Get("meta").Get("versionId").Str() != "1" {
		t.Error("a validation has written")
	}
}

func TestValidateOfUnknownProfile(t *testing.T) {
	s := newServer(t)
	got := s.operation("POST", "Patient/$validate?profile=http://example.org/unheard", `{"resourceType":"Patient"}`)
	if issue := got.Get("issue").At(1); issue.Get("severity").Str() != "error" || issue.Get("code").Str() != "not-supported" {
		t.Errorf("%s", got.Raw())
	}
}

// A byte order mark is refused with words that say what it is.
func TestByteOrderMark(t *testing.T) {
	s := newServer(t)
	for _, target := range []string{"Patient", "Patient/$validate"} {
		failure := s.refuse(fhir.KindInvalid, fhir.IssueInvalid, "POST", target, "\ufeff"+`{"resourceType":"Patient"}`)
		if !strings.Contains(failure.Issues[0].Diagnostics, "byte order mark") {
			t.Errorf("%s: %v", target, failure)
		}
	}
}

func TestValidateRefuses(t *testing.T) {
	s := newServer(t)
	for _, c := range []struct {
		code                 fhir.IssueType
		method, target, body string
	}{
		{fhir.IssueInvalid, "POST", "Patient/$validate", `{"resourceType":`},
		{fhir.IssueRequired, "POST", "Patient/$validate", ""},
		{fhir.IssueRequired, "POST", "Patient/$validate", parameters(`{"name":"mode","valueCode":"create"}`)},
		{fhir.IssueInvalid, "POST", "Patient/$validate?mode=update", `{"resourceType":"Patient"}`},
		{fhir.IssueInvalid, "POST", "Patient/$validate?mode=delete", ``},
		{fhir.IssueValue, "POST", "Patient/$validate?mode=other", `{"resourceType":"Patient"}`},
		{fhir.IssueInvalid, "POST", "Patient/$validate?mode=create&mode=create", `{"resourceType":"Patient"}`},
		{fhir.IssueValue, "POST", "Patient/$validate", parameters(`{"name":"resource","valueString":"x"}`)},
		{fhir.IssueStructure, "POST", "Patient/$validate", parameters(`{"valueString":"x"}`)},
		{fhir.IssueStructure, "POST", "Patient/$validate", parameters(`{"name":"mode"}`)},
		{fhir.IssueStructure, "POST", "Patient/$validate", parameters(`{"name":"mode","valueCode":"create","part":[]}`)},
		{fhir.IssueStructure, "POST", "Patient/$validate", parameters(`{"name":"mode","value":"create"}`)},
		{fhir.IssueStructure, "POST", "Patient/$validate", `{"resourceType":"Parameters","parameter":{}}`},
	} {
		s.refuse(fhir.KindInvalid, c.code, c.method, c.target, c.body)
	}
	s.refuse(fhir.KindNotFound, fhir.IssueNotFound, "GET", "Patient/never/$validate", "")
	const unknown = "Patient/$validate?unheard=of"
	s.do(StatusOK, "POST", unknown, `{"resourceType":"Patient"}`)
	s.refuse(fhir.KindInvalid, fhir.IssueNotSupported, "POST", unknown, `{"resourceType":"Patient"}`, handling(HandlingStrict))
}

// Parameters that an operation does not have are told where the answer has a place
// for it, and refused by name if the client wants that.
func TestMisspeltParametersOfOperations(t *testing.T) {
	s := newServer(t)
	s.do(StatusCreated, "PUT", "Patient/p", patient("p", "1"))
	s.do(StatusCreated, "PUT", "Encounter/e", `{"resourceType":"Encounter","id":"e","status":"finished","class":{"code":"AMB"},"subject":{"reference":"Patient/p"}}`)
	const gender = "url=http://hl7.org/fhir/ValueSet/administrative-gender"
	for _, c := range []struct{ method, target, body, name string }{
		{"POST", "Patient/$validate?profil=http://x", patient("p", "1"), "profil"},
		{"POST", "Patient/$validate", parameters(`{"name":"profil","valueUri":"http://x"}`, `{"name":"resource","resource":`+patient("p", "1")+`}`), "profil"},
		{"GET", "Patient/p/$validate?_mode=delete", "", "_mode"},
		{"GET", "Patient/p/$everything?begin=2020", "", "begin"},
		{"GET", "Patient/p/$everything?_sinc=2020", "", "_sinc"},
		{"POST", "Patient/p/$everything", parameters(`{"name":"begin","valueDate":"2020"}`), "begin"},
		{"GET", "ValueSet/$expand?" + gender + "&fliter=x", "", "fliter"},
		{"GET", "ValueSet/$expand?" + gender + "&_filter=x", "", "_filter"},
		{"GET", "Observation/$lastn?patient=p&maxx=2", "", "maxx"},
	} {
		told := `The parameter \"` + c.name + `\" is not known here and was ignored.`
		response := s.do(StatusOK, c.method, c.target, c.body)
		if got := strings.Contains(string(response.Body), told); got == strings.Contains(c.target, "$expand") {
			t.Errorf("%s: %s", c.target, response.Body)
		}
		root := valid(t, response.Body)
		if strings.Contains(pageLink(root, "self"), c.name) {
			t.Errorf("%s: the link to itself has what was ignored: %s", c.target, pageLink(root, "self"))
		}
		failure := s.refuse(fhir.KindInvalid, fhir.IssueNotSupported, c.method, c.target, c.body, handling(HandlingStrict))
		if !strings.Contains(failure.Issues[0].Diagnostics, c.name) {
			t.Errorf("%s: %v", c.target, failure)
		}
	}
	for _, target := range []string{
		"Patient/p/$everything?start=2020&end=2021&_since=2020&_type=Patient&_count=2&_format=json&_pretty=true&_summary=false&_elements=name",
		"Encounter/e/$everything?start=2020&end=2021",
		"ValueSet/$expand?" + gender + "&filter=m&system-version=http://x%7C1&_format=json",
		"ValueSet/$validate-code?" + gender + "&code=male&system=http://hl7.org/fhir/administrative-gender&system-version=http://x%7C1",
	} {
		if body := s.do(StatusOK, "GET", target, "", handling(HandlingStrict)).Body; strings.Contains(string(body), "ignored") {
			t.Errorf("%s: %s", target, body)
		}
	}
	ids, _ := s.walkPages("Patient/p/$everything?_count=1&begin=2020", "next")
	if strings.Join(ids, " ") != "p e" {
		t.Errorf("%s", ids)
	}
}

func TestOperationsInBundles(t *testing.T) {
	s := newServer(t)
	entries := []string{
		entryJSON("POST", "Patient/$validate", `{"resourceType":"Patient","active":1}`),
		entryJSON("GET", "Patient/p/$validate?mode=delete", ""),
		entryJSON("POST", "Patient/$unheard", ""),
	}
	got := s.bundle("batch-response", "POST", "", bundleJSON("batch", entries...))
	if statuses := strings.Join(statusesOf(got), " "); statuses != "200 200 404" {
		t.Errorf("%s", statuses)
	}
	if first := worst(got.Get("entry").At(0).Get("resource")); first != "error structure Patient.active" {
		t.Errorf("%s", first)
	}
	s.refuse(fhir.KindUnprocessable, fhir.IssueNotSupported, "POST", "", bundleJSON("transaction", entries[0]))
}

func TestCapabilitiesNameOperations(t *testing.T) {
	s := newServer(t)
	rest := s.operation("GET", "metadata", "").Get("rest").At(0)
	for resource := range rest.Get("resource").Children() {
		first := resource.Get("operation").At(0)
		if resource.Get("operation").Len() == 0 || !strings.HasPrefix(first.Get("definition").Str(), operationBase) {
			t.Errorf("%s: %s", resource.Get("type").Str(), resource.Get("operation").Raw())
		}
	}
}
