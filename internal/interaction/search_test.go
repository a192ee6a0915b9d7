package interaction

import (
	"strconv"
	"strings"
	"testing"

	"starling/internal/fhir"
)

func TestSearch(t *testing.T) {
	s := newServer(t)
	for i := range 5 {
		n := strconv.Itoa(i)
		s.do(StatusCreated, "PUT", "Patient/p"+n, patient("p"+n, n))
		s.do(StatusCreated, "PUT", "Observation/p"+n, `{"resourceType":"Observation","id":"p`+n+`","status":"final","code":{"text":"c"},"subject":{"reference":"Patient/p`+n+`"}}`)
	}
	one := s.bundle("searchset", "GET", "Patient?"+identifier("3")+"&_total=accurate", "")
	entry := one.Get("entry").At(0)
	if one.Get("entry").Len() != 1 || one.Get("total").Literal() != "1" || entry.Get("fullUrl").Str() != base+"/Patient/p3" ||
		entry.Get("search").Get("mode").Str() != "match" {
		t.Errorf("%s", one.Raw())
	}
	if got := pageLink(one, "self"); got != "Patient?"+identifier("3")+"&_total=accurate" {
		t.Errorf("self is %s", got)
	}

	seen := map[string]bool{}
	page := s.bundle("searchset", "GET", "Patient?_count=2", "")
	for {
		for entry := range page.Get("entry").Children() {
			seen[entry.Get("fullUrl").Str()] = true
		}
		next := pageLink(page, "next")
		if next == "" {
			break
		}
		page = s.bundle("searchset", "GET", next, "")
	}
	if len(seen) != 5 {
		t.Errorf("pages show %d of 5", len(seen))
	}

	lenient := s.bundle("searchset", "GET", "Patient?"+identifier("3")+"&colour=red", "")
	outcome := lenient.Get("entry").At(1)
	if outcome.Get("search").Get("mode").Str() != "outcome" || !strings.Contains(string(outcome.Raw()), "colour") ||
		strings.Contains(pageLink(lenient, "self"), "colour") {
		t.Errorf("%s", lenient.Raw())
	}
	s.refuse(fhir.KindInvalid, fhir.IssueNotSupported, "GET", "Patient?colour=red", "", handling(HandlingStrict))

	count := s.bundle("searchset", "GET", "Patient?_summary=count", "")
	if count.Get("total").Literal() != "5" || count.Get("entry").Exists() {
		t.Errorf("%s", count.Raw())
	}
	for target, want := range map[string]int{
		"Patient/p1/Observation":                            1,
		"Patient/p1/Observation?status=final":               1,
		"Patient/p1/Observation?status=amended":             0,
		"Patient/p9/Observation":                            0,
		"Patient/p1/*":                                      1,
		"?_type=Patient,Observation&_id=p1":                 2,
		"?_id=p1":                                           2,
		"Patient?_elements=id&" + identifier("1"):           1,
		"Patient?_summary=true&_pretty=true&_format=json":   5,
		"Observation?subject=Patient/p1":                    1,
		"Observation?subject=" + base + "/Patient/p1":       1,
		"Observation?subject=http://elsewhere/x/Patient/p1": 0,
	} {
		if got := s.bundle("searchset", "GET", target, "").Get("entry").Len(); got != want {
			t.Errorf("%s: %d, want %d", target, got, want)
		}
	}
	s.refuse(fhir.KindNotFound, fhir.IssueNotFound, "GET", "Patient/p1/Practitioner", "")
	for _, target := range []string{
		"Patient?_cursor=x", "Patient?_cursor=eyJzIjoiIn0&_cursor=", "_history?_cursor=x", "Patient/p1/_history?_cursor=bnVsbA",
		"Patient?_count=-1", "Patient?_summary=some", "Patient?_elements=id&_summary=text",
	} {
		if _, err := s.try("GET", target, ""); Failure(err).Kind != fhir.KindInvalid {
			t.Errorf("%s: %v", target, err)
		}
	}
	if none := s.bundle("searchset", "GET", "Patient?_count=0", ""); none.Get("total").Literal() != "5" || none.Get("entry").Exists() {
		t.Errorf("%s", none.Raw())
	}
	s.refuse(fhir.KindInvalid, fhir.IssueValue, "GET", "?_type=Patient,Colour", "")

	// An id alone is enough where it is that of one resource.
	if got := s.bundle("searchset", "GET", "Observation?subject=p1,p2", "").Get("entry").Len(); got != 2 {
		t.Errorf("%d are found by the id alone", got)
	}
	s.do(StatusCreated, "PUT", "Group/p1", `{"resourceType":"Group","id":"p1","type":"person","actual":true}`)
	refused := s.refuse(fhir.KindInvalid, fhir.IssueMultipleMatches, "GET", "Observation?subject=p2,p1", "")
	if text := refused.Issues[0].Diagnostics; !strings.Contains(text, "Group/p1 and Patient/p1") {
		t.Errorf("%s", text)
	}
	s.do(StatusOK, "GET", "Observation?subject:Patient=p1", "")
	s.do(StatusOK, "GET", "Observation?patient=p1", "")
}
