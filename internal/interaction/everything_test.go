package interaction

import (
	"fmt"
	"strings"
	"testing"

	"starling/internal/fhir"
)

func TestEverything(t *testing.T) {
	s := newServer(t)
	put := func(target, members string) {
		typ, id, _ := strings.Cut(target, "/")
		s.do(StatusCreated, "PUT", target, `{"resourceType":"`+typ+`","id":"`+id+`"`+members+`}`)
	}
	put("Organization/o", `,"name":"a"`)
	put("Practitioner/d", ``)
	for _, p := range []string{"p1", "p2"} {
		put("Patient/"+p, `,"managingOrganization":{"reference":"Organization/o"}`)
		put("Encounter/e"+p, `,"status":"finished","class":{"code":"AMB"},"subject":{"reference":"Patient/`+p+`"},"period":{"start":"2020-05-01","end":"2020-05-02"}`)
		put("Observation/b"+p, `,"status":"final","code":{"text":"c"},"effectiveDateTime":"2021-03-04","subject":{"reference":"Patient/`+p+`"},`+
			`"encounter":{"reference":"Encounter/e`+p+`"},"performer":[{"reference":"Practitioner/d"}]`)
		put("Coverage/c"+p, `,"status":"active","beneficiary":{"reference":"Patient/`+p+`"},"payor":[{"reference":"Organization/o"}]`)
	}
	for target, want := range map[string]string{
		"Patient/p1/$everything":                                                             "Coverage/cp1 Encounter/ep1 Observation/bp1 Patient/p1 + Organization/o Practitioner/d",
		"Patient/p1/$everything?_type=Observation":                                           "Observation/bp1 + ",
		"Patient/p1/$everything?_type=Patient,Organization":                                  "Patient/p1 + Organization/o",
		"Patient/p1/$everything?start=2021&_type=Encounter,Observation,Coverage,Patient":     "Coverage/cp1 Observation/bp1 Patient/p1 + ",
		"Patient/p1/$everything?end=2020-12&_type=Encounter,Observation":                     "Encounter/ep1 + ",
		"Patient/p1/$everything?start=2020-05-02&end=2021-03-04&_type=Encounter,Observation": "Encounter/ep1 Observation/bp1 + ",
		"Patient/p1/$everything?_since=2999-01-01T00:00:00Z":                                 " + ",
		"Patient/$everything?_type=Patient,Observation":                                      "Observation/bp1 Observation/bp2 Patient/p1 Patient/p2 + ",
		"Encounter/ep1/$everything?_type=Encounter,Observation,Patient":                      "Encounter/ep1 Observation/bp1 + Patient/p1",
	} {
		bundle := s.bundle("searchset", "GET", target, "")
		if got := strings.Join(entriesOf(bundle, "match"), " ") + " + " + strings.Join(entriesOf(bundle, "include"), " "); got != want {
			t.Errorf("%s: %s, want %s", target, got, want)
		}
	}
	posted := s.bundle("searchset", "POST", "Patient/p1/$everything",
		`{"resourceType":"Parameters","parameter":[{"name":"_count","valueInteger":1},{"name":"_type","valueCode":"Observation"},{"name":"_type","valueCode":"Encounter"}]}`)
	if got := strings.Join(entriesOf(posted, "match"), " "); got != "Encounter/ep1" {
		t.Errorf("the first page has %s", got)
	}
	if ids, _ := s.walkPages(pageLink(posted, "next"), "next"); strings.Join(ids, " ") != "bp1" {
		t.Errorf("the other pages have %s, by %s", ids, pageLink(posted, "next"))
	}
	for _, query := range []string{"_count=0", "_summary=count"} {
		count := s.bundle("searchset", "GET", "Patient/p1/$everything?"+query, "")
		if count.Get("total").Literal() != "4" || count.Get("entry").Exists() {
			t.Errorf("%s: %s", query, count.Raw())
		}
	}
	s.refuse(fhir.KindNotFound, fhir.IssueNotFound, "GET", "Patient/none/$everything", "")
	s.refuse(fhir.KindInvalid, fhir.IssueValue, "GET", "Patient/p1/$everything?start=soon", "")
	s.refuse(fhir.KindInvalid, fhir.IssueValue, "GET", "Patient/p1/$everything?_type=Practitioner", "")
	s.do(StatusNoContent, "DELETE", "Patient/p2", "")
	s.refuse(fhir.KindGone, fhir.IssueDeleted, "GET", "Patient/p2/$everything", "")
}

// The focus comes first, whenever it was created, on pages of any size and in both
// directions; nothing is shown twice or left out.
func TestEverythingBeginsWithItsFocus(t *testing.T) {
	s := newServer(t)
	for i := range 3 {
		s.do(StatusCreated, "PUT", fmt.Sprintf("Observation/a%d", i),
			fmt.Sprintf(`{"resourceType":"Observation","id":"a%d","status":"final","code":{"text":"c"},"subject":{"reference":"Patient/p"}}`, i))
	}
	s.do(StatusCreated, "PUT", "Organization/o", `{"resourceType":"Organization","id":"o","name":"a"}`)
	s.do(StatusCreated, "PUT", "Patient/p", `{"resourceType":"Patient","id":"p","managingOrganization":{"reference":"Organization/o"},"link":[{"other":{"reference":"Patient/p"},"type":"seealso"}]}`)
	s.do(StatusCreated, "PUT", "Patient/other", `{"resourceType":"Patient","id":"other","link":[{"other":{"reference":"Patient/p"},"type":"seealso"}]}`)
	s.do(StatusCreated, "PUT", "Encounter/e", `{"resourceType":"Encounter","id":"e","status":"finished","class":{"code":"AMB"},"subject":{"reference":"Patient/p"}}`)
	const all = "p a0 a1 a2 other e"
	for count := 1; count <= 7; count++ {
		first := fmt.Sprintf("Patient/p/$everything?_count=%d", count)
		ids, last := s.walkPages(first, "next")
		if got := strings.Join(ids, " "); got != all {
			t.Errorf("%d a page: %s", count, got)
		}
		ids, begin := s.walkPages(last, "previous")
		if got := strings.Join(ids, " "); got != all {
			t.Errorf("%d a page, from the last: %s", count, got)
		}
		ids, _ = s.walkPages(begin, "next")
		if got := strings.Join(ids, " "); got != all {
			t.Errorf("%d a page, from the first that was come back to: %s", count, got)
		}
		page := s.bundle("searchset", "GET", first, "")
		if got := len(entriesOf(page, "match")); got != min(count, 6) {
			t.Errorf("%d a page: %d", count, got)
		}
		if got := strings.Join(entriesOf(page, "include"), " "); got != "Organization/o" {
			t.Errorf("%d a page includes %s", count, got)
		}
	}
	for target, want := range map[string]string{
		"Patient/p/$everything?_count=1&_type=Patient":              "p other",
		"Patient/p/$everything?_count=1&_type=Observation":          "a0 a1 a2",
		"Patient/p/$everything?_since=2999-01-01":                   "",
		"Patient/p/$everything?_since=2020-01-01&_type=Patient":     "p other",
		"Encounter/e/$everything?_count=1":                          "e",
		"Patient/other/$everything?_type=Patient,Observation":       "other",
		"Patient/$everything?_type=Patient,Observation&_since=2020": "a0 a1 a2 p other",
	} {
		if ids, _ := s.walkPages(target, "next"); strings.Join(ids, " ") != want {
			t.Errorf("%s: %s, want %s", target, ids, want)
		}
	}
}

// Page links hold a call whose text is too long for them.
func TestEverythingOfManyTypes(t *testing.T) {
	s := newServer(t)
	s.do(StatusCreated, "PUT", "Patient/p", patient("p", "1"))
	s.do(StatusCreated, "PUT", "Observation/b", `{"resourceType":"Observation","id":"b","status":"final","code":{"text":"c"},"subject":{"reference":"Patient/p"}}`)
	s.do(StatusCreated, "PUT", "Encounter/e", `{"resourceType":"Encounter","id":"e","status":"finished","class":{"code":"AMB"},"subject":{"reference":"Patient/p"}}`)
	var types []string
	for _, name := range s.Definitions.ResourceTypes() {
		if s.hasEndpoint(string(name)) && name != "Observation" {
			types = append(types, string(name))
		}
	}
	list := strings.Join(types, ",")
	if len(list) <= longestQuery {
		t.Fatalf("%d bytes only", len(list))
	}
	if ids, _ := s.walkPages("Patient/p/$everything?_count=1&_type="+list, "next"); strings.Join(ids, " ") != "p e" {
		t.Errorf("%s", ids)
	}
}

func TestLastN(t *testing.T) {
	s := newServer(t)
	s.do(StatusCreated, "PUT", "Patient/p", patient("p", "1"))
	for i := range 12 {
		// Codes a and b name the same through x; c stands alone, and so does text.
		code := [...]string{
			`{"coding":[{"system":"http://s","code":"a"},{"system":"http://s","code":"x"}]}`,
			`{"coding":[{"system":"http://s","code":"x"}]}`,
			`{"coding":[{"system":"http://s","code":"c"}]}`, `{"text":"free"}`,
		}[i%4]
		s.do(StatusCreated, "PUT", fmt.Sprintf("Observation/b%d", i), fmt.Sprintf(
			`{"resourceType":"Observation","id":"b%d","status":"final","code":%s,"subject":{"reference":"Patient/p"},"effectiveDateTime":"2020-01-%02d"}`, i, code, i+1))
	}
	if count := s.bundle("searchset", "GET", "Observation/$lastn?patient=p&_summary=count", ""); count.Get("total").Literal() != "3" || count.Get("entry").Exists() {
		t.Errorf("%s", count.Raw())
	}
	for target, want := range map[string]string{
		"Observation/$lastn?patient=p":                   "b10 b11 b9",
		"Observation/$lastn?patient=Patient/p&max=2":     "b10 b11 b6 b7 b8 b9",
		"Observation/$lastn?patient=p&code=c&max=9":      "b10 b2 b6",
		"Observation/$lastn?subject=Patient/none":        "",
		"Observation/$lastn?patient=p&date=lt2020-01-03": "b1",
	} {
		var got []string
		for _, entry := range entriesOf(s.bundle("searchset", "GET", target, ""), "match") {
			got = append(got, strings.TrimPrefix(entry, "Observation/"))
		}
		if strings.Join(got, " ") != want {
			t.Errorf("%s: %s, want %s", target, got, want)
		}
	}
	strict := func(r *Request) { r.Handling = HandlingStrict }
	s.do(StatusOK, "GET", "Observation/$lastn?patient=p&code=c&max=9", "", strict)
	s.refuse(fhir.KindInvalid, fhir.IssueNotSupported, "GET", "Observation/$lastn?patient=p&colour=red", "", strict)
	s.refuse(fhir.KindInvalid, fhir.IssueRequired, "GET", "Observation/$lastn?code=c", "")
	s.refuse(fhir.KindInvalid, fhir.IssueValue, "GET", "Observation/$lastn?patient=p&max=0", "")
	s.refuse(fhir.KindInvalid, fhir.IssueValue, "GET", "Observation/$lastn?patient=p&date=soon", "")
}
