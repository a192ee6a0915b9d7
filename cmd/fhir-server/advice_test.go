package main

import (
	"strings"
	"testing"

	"starling/internal/postgres/postgrestest"
)

// $validate warns of what may be stored, and nobody else can make sense of.
func TestValidateAdvises(t *testing.T) {
	r := serve(t, postgrestest.New(t))
	const known = "http://terminology.hl7.org/CodeSystem/v3-MaritalStatus"
	for inner, want := range map[string]string{
		`"maritalStatus":{"coding":[{"system":"` + known + `","code":"M"}]}`:               "",
		`"maritalStatus":{"coding":[{"system":"` + known + `","code":"nope"}]}`:            `does not have the code \"nope\"`,
		`"maritalStatus":{"coding":[{"system":"http://example.org/codes","code":"nope"}]}`: "",
		`"maritalStatus":{"coding":[{"system":"http://snomed.info/sct","code":"nope"}]}`:   "",
		`"maritalStatus":{"coding":[{"system":"codes","code":"nope"}]}`:                    `the system is \"codes\", expected an absolute URI`,
		`"identifier":[{"system":"MRN","value":"1"}]`:                                      `the system is \"MRN\", expected an absolute URI`,
		`"identifier":[{"system":"urn:oid:1.2.3","value":"1"},{"value":"2"}]`:              "",
	} {
		patient := `{"resourceType":"Patient","text":{"status":"empty","div":"<div xmlns=\"http://www.w3.org/1999/xhtml\">x</div>"},` + inner + `}`
		said := string(r.do("POST", "Patient/$validate", patient).body)
		if strings.Contains(said, `"error"`) || !strings.Contains(said, want) || want == "" && strings.Contains(said, "absolute") || want == "" && strings.Contains(said, "does not have") {
			t.Errorf("%s: %s", inner, said)
		}
		if a := r.do("POST", "Patient", patient); a.StatusCode != 201 {
			t.Errorf("%s: %d %s", inner, a.StatusCode, a.body)
		}
	}
}
