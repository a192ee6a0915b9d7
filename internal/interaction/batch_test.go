package interaction

import (
	"slices"
	"strings"
	"testing"

	"starling/internal/fhir"
	"starling/internal/fhir/element"
)

func entryJSON(method, url, resource string, more ...string) string {
	text := `{"request":{"method":"` + method + `","url":"` + url + `"` + strings.Join(more, "") + `}`
	if resource != "" {
		text += `,"resource":` + resource
	}
	return text + `}`
}

func withFullURL(fullURL, entry string) string { return `{"fullUrl":"` + fullURL + `",` + entry[1:] }

func bundleJSON(kind string, entries ...string) string {
	if len(entries) == 0 {
		return `{"resourceType":"Bundle","type":"` + kind + `"}`
	}
	return `{"resourceType":"Bundle","type":"` + kind + `","entry":[` + strings.Join(entries, ",") + `]}`
}

func TestBatch(t *testing.T) {
	s := newServer(t)
	s.do(StatusCreated, "PUT", "Patient/a", patient("a", "1"))
	got := s.bundle("batch-response", "POST", "", bundleJSON("batch",
		entryJSON("GET", "Patient/a", ""),
		entryJSON("GET", "Patient/a", "", `,"ifNoneMatch":"W/\"1\""`),
		entryJSON("GET", "Patient/never", ""),
		entryJSON("POST", "Patient", patient("", "2")),
		entryJSON("POST", "Patient", `{"resourceType":"Patient","colour":"red"}`),
		entryJSON("POST", "Patient", patient("", "1"), `,"ifNoneExist":"`+identifier("1")+`"`),
		entryJSON("PUT", "Patient/b", patient("b", "3")),
		entryJSON("PUT", "Patient/b", patient("c", "3")),
		entryJSON("DELETE", "Patient/never", ""),
		entryJSON("GET", "/Patient?"+identifier("3"), ""),
		entryJSON("GET", base+"/Patient/b", ""),
		entryJSON("GET", "http://elsewhere/Patient/b", ""),
		entryJSON("GET", "Patient/a/_history", ""),
		entryJSON("POST", "", bundleJSON("batch")),
		entryJSON("LOOK", "Patient/a", ""),
		entryJSON("PATCH", "Patient/a", ""),
		entryJSON("POST", "Patient", ""),
		`{"fullUrl":"urn:uuid:1"}`,
		entryJSON("GET", "metadata", ""),
	))
	want := []string{"200", "304", "404", "201", "400", "200", "201", "400", "204", "200", "200", "400", "200", "400", "400", "400", "400", "400", "200"}
	if !slices.Equal(statusesOf(got), want) {
		t.Errorf("got  %v\nwant %v", statusesOf(got), want)
	}
	entries := got.Get("entry")
	if found := entries.At(9).Get("resource").Get("entry").Len(); found != 1 {
		t.Errorf("the search found %d", found)
	}
	issue := entries.At(4).Get("response").Get("outcome").Get("issue").At(0)
	if where := issue.Get("expression").At(0).Str(); where != "Bundle.entry[4].resource.colour" {
		t.Errorf("the refusal names %s", where)
	}
	if at := locationOf(got, 5); at != base+"/Patient/a/_history/1" {
		t.Errorf("the conditional create found %s", at)
	}
	read := entries.At(0)
	if read.Get("resource").Get("id").Str() != "a" || read.Get("response").Get("etag").Str() != `W/"1"` ||
		!read.Get("response").Get("lastModified").Exists() {
		t.Errorf("%s", read.Raw())
	}
	if entries.At(3).Get("resource").Exists() {
		t.Error("a create shows its resource without being asked")
	}
	s.bundle("batch-response", "POST", "", bundleJSON("batch"))
}

func TestBatchReturns(t *testing.T) {
	s := newServer(t)
	body := bundleJSON("batch", entryJSON("PUT", "Patient/a", patient("a", "1")))
	prefer := func(r Return) func(*Request) { return func(request *Request) { request.Return = r } }
	full := s.bundle("batch-response", "POST", "", body, prefer(ReturnRepresentation)).Get("entry").At(0)
	if full.Get("resource").Get("id").Str() != "a" {
		t.Errorf("%s", full.Raw())
	}
	told := s.bundle("batch-response", "POST", "", body, prefer(ReturnOperationOutcome)).Get("entry").At(0)
	if told.Get("response").Get("outcome").Get("issue").Len() == 0 {
		t.Errorf("%s", told.Raw())
	}
}

func TestBundlesThatCannotBeCarriedOut(t *testing.T) {
	s := newServer(t)
	for _, body := range []string{
		bundleJSON("collection"), bundleJSON("history"), `{"resourceType":"Bundle"}`, `{"resourceType":"Patient"}`,
		`{"resourceType":"Bundle","type":"batch","entry":{}}`, `{"resourceType":"Bundle","type":"batch","entry":[]}`,
		`{"resourceType":"Bundle","type":"batch","colour":1}`, `{"resourceType":"Bundle","type":1}`, `{"resourceType":"Bundle","type":"batch"`,
	} {
		if _, err := s.try("POST", "", body); Failure(err).Kind != fhir.KindInvalid {
			t.Errorf("%s: %v", body, err)
		}
	}
	many := bundleJSON("batch", slices.Repeat([]string{`{}`}, maxEntries+1)...)
	s.refuse(fhir.KindTooLarge, fhir.IssueTooCostly, "POST", "", many)
	s.do(StatusCreated, "POST", "Bundle", bundleJSON("transaction", entryJSON("PUT", "Patient/x", patient("x", "1"))))
	s.refuse(fhir.KindNotFound, fhir.IssueNotFound, "GET", "Patient/x", "")
}

// broken is a validator with a fault.
type broken struct{}

func (broken) Validate(fhir.ResourceType, element.Node) []fhir.Issue { panic("secret") }

func TestBatchOutlivesAFault(t *testing.T) {
	s := newServer(t)
	s.do(StatusCreated, "PUT", "Patient/a", patient("a", "1"))
	s.Validator = broken{}
	response := s.do(StatusOK, "POST", "", bundleJSON("batch", entryJSON("POST", "Patient", patient("", "2")), entryJSON("GET", "Patient/a", "")))
	if got := statusesOf(valid(t, response.Body)); !slices.Equal(got, []string{"500", "200"}) {
		t.Errorf("%v", got)
	}
	if strings.Contains(string(response.Body), "secret") || response.Faults == nil || !strings.Contains(response.Faults.Error(), "secret") {
		t.Errorf("%s, %v", response.Body, response.Faults)
	}
}
