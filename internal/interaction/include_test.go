package interaction

import (
	"slices"
	"strconv"
	"strings"
	"testing"

	"starling/internal/fhir"
	"starling/internal/fhir/element"
)

// entriesOf lists a Bundle's entries by search mode, with their versions where
// these are not 1.
func entriesOf(bundle element.Node, mode string) (out []string) {
	for entry := range bundle.Get("entry").Children() {
		if entry.Get("search").Get("mode").Str() == mode {
			text := strings.TrimPrefix(entry.Get("fullUrl").Str(), base+"/")
			if version := entry.Get("resource").Get("meta").Get("versionId").Str(); version != "1" {
				text += "#" + version
			}
			out = append(out, text)
		}
	}
	slices.Sort(out)
	return out
}

func TestIncludes(t *testing.T) {
	s := newServer(t)
	put := func(target, members string) {
		typ, id, _ := strings.Cut(target, "/")
		s.do(StatusCreated, "PUT", target, `{"resourceType":"`+typ+`","id":"`+id+`"`+members+`}`)
	}
	put("Organization/o2", `,"name":"root"`)
	put("Organization/o1", `,"name":"a","partOf":{"reference":"Organization/o2"}`)
	put("Practitioner/d", ``)
	put("Patient/p1", `,"managingOrganization":{"reference":"Organization/o1"},"generalPractitioner":[{"reference":"Practitioner/d"},{"reference":"Organization/o1"}]`)
	put("Patient/p2", `,"link":[{"other":{"reference":"Patient/p1"},"type":"seealso"}],"managingOrganization":{"reference":"Organization/none"}`)
	observation := func(id, more string) {
		put("Observation/"+id, `,"status":"final","code":{"text":"c"}`+more)
	}
	observation("b1", `,"subject":{"reference":"Patient/p1"},"performer":[{"reference":"Practitioner/d"},{"reference":"http://elsewhere/fhir/Practitioner/x"}]`)
	observation("b2", `,"subject":{"reference":"Patient/p1/_history/1"},"hasMember":[{"reference":"Observation/b1"}]`)
	observation("b3", `,"subject":{"reference":"`+base+`/Patient/p2"}`)
	put("Provenance/v", `,"target":[{"reference":"Observation/b1"}],"recorded":"2024-01-01T00:00:00Z","agent":[{"who":{"reference":"Practitioner/d"}}]`)
	// p1 has a second version; references without one lead to it.
	s.do(StatusOK, "PUT", "Patient/p1", `{"resourceType":"Patient","id":"p1","active":true,"managingOrganization":{"reference":"Organization/o1"}}`)

	questionnaire := func(id, version string) {
		put("Questionnaire/"+id, `,"status":"active","url":"http://example.org/q","version":"`+version+`"`)
	}
	questionnaire("q1", "1")
	questionnaire("q2", "2")
	put("QuestionnaireResponse/a", `,"status":"completed","questionnaire":"http://example.org/q|1","subject":{"reference":"Patient/p2"}`)
	put("QuestionnaireResponse/b", `,"status":"completed","questionnaire":"http://example.org/q"`)
	put("QuestionnaireResponse/c", `,"status":"completed","questionnaire":"http://example.org/q|3"`)

	for target, want := range map[string]string{
		"QuestionnaireResponse?_id=a&_include=QuestionnaireResponse:questionnaire":                             "Questionnaire/q1",
		"QuestionnaireResponse?_id=b&_include=*":                                                               "Questionnaire/q1 Questionnaire/q2",
		"QuestionnaireResponse?_id=c&_include=QuestionnaireResponse:questionnaire":                             "",
		"QuestionnaireResponse?_id=a&_include=QuestionnaireResponse:questionnaire:Questionnaire":               "Questionnaire/q1",
		"Questionnaire?_id=q2&_revinclude=QuestionnaireResponse:questionnaire":                                 "QuestionnaireResponse/b",
		"Questionnaire?version=1&_revinclude:iterate=*&_include:iterate=*":                                     "Observation/b1 Observation/b2 Observation/b3 Organization/o1 Organization/o2 Patient/p1 Patient/p1#2 Patient/p2 Practitioner/d Provenance/v Questionnaire/q2 QuestionnaireResponse/a QuestionnaireResponse/b",
		"QuestionnaireResponse?questionnaire.version=2&_include=*":                                             "Questionnaire/q1 Questionnaire/q2",
		"Questionnaire?_has:QuestionnaireResponse:questionnaire:subject=Patient/p2&_include=*":                 "",
		"Observation?_id=b1&_include=Observation:subject":                                                      "Patient/p1#2",
		"Observation?_id=b1&_include=Observation:subject:Group":                                                "",
		"Observation?_id=b1,b2&_include=Observation:subject:Patient":                                           "Patient/p1 Patient/p1#2",
		"Observation?_id=b1&_include=Observation:performer&_include=Observation:patient":                       "Patient/p1#2 Practitioner/d",
		"Observation?_id=b1&_include=*":                                                                        "Patient/p1#2 Practitioner/d",
		"Observation?_id=b1&_include=Observation:*":                                                            "Patient/p1#2 Practitioner/d",
		"Observation?_id=b1&_include=Patient:organization":                                                     "",
		"Observation?_id=b1&_include=Observation:subject&_include=Patient:organization":                        "Patient/p1#2",
		"Observation?_id=b1&_include=Observation:subject&_include:iterate=Patient:organization":                "Organization/o1 Patient/p1#2",
		"Observation?_id=b1&_include:iterate=*":                                                                "Organization/o1 Organization/o2 Patient/p1#2 Practitioner/d",
		"Observation?_id=b1,b2&_include=Observation:has-member":                                                "",
		"Observation?_id=b3&_include=Observation:subject&_include:iterate=Patient:link":                        "Patient/p1#2 Patient/p2",
		"Patient?_id=p1&_revinclude=Observation:subject":                                                       "Observation/b1 Observation/b2",
		"Patient?_id=p1&_revinclude=Observation:performer":                                                     "",
		"Patient?_id=p1&_revinclude=Observation:*":                                                             "Observation/b1 Observation/b2",
		"Patient?_id=p1&_revinclude=*":                                                                         "Observation/b1 Observation/b2 Patient/p2",
		"Patient?_id=p1&_revinclude=Observation:subject&_revinclude:iterate=Provenance:target":                 "Observation/b1 Observation/b2 Provenance/v",
		"Patient?_revinclude=Patient:link":                                                                     "",
		"Organization?_id=o2&_revinclude:iterate=Organization:partof&_revinclude:iterate=Patient:organization": "Organization/o1 Patient/p1#2",
		"Patient?_id=p2&_include=Patient:organization":                                                         "",
		"?_type=Observation,Patient&_id=b1&_include=Observation:subject":                                       "Patient/p1#2",
		"Patient/p1/Observation?_include=Observation:performer":                                                "Practitioner/d",
	} {
		bundle := s.bundle("searchset", "GET", target+"&_total=accurate", "")
		if got := strings.Join(entriesOf(bundle, "include"), " "); got != want {
			t.Errorf("%s: %s, want %s", target, got, want)
		}
		if matches := len(entriesOf(bundle, "match")); bundle.Get("total").Literal() != strconv.Itoa(matches) {
			t.Errorf("%s: total %s of %d matches", target, bundle.Get("total").Literal(), matches)
		}
	}
	s.refuse(fhir.KindInvalid, fhir.IssueInvalid, "GET", "Observation?_include=Observation:subject&_summary=text", "")

	// The same in a transaction, which sees what it wrote.
	answer := s.bundle("transaction-response", "POST", "", `{"resourceType":"Bundle","type":"transaction","entry":[
		{"resource":{"resourceType":"Observation","status":"final","code":{"text":"c"},"subject":{"reference":"Patient/p2"}},"request":{"method":"POST","url":"Observation"}},
		{"request":{"method":"GET","url":"Patient?_id=p2&_revinclude=Observation:subject"}}]}`)
	if got := entriesOf(answer.Get("entry").At(1).Get("resource"), "include"); len(got) != 2 {
		t.Errorf("in a transaction: %s", got)
	}
}
