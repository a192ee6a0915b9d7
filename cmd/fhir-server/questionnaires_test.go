package main

import (
	"fmt"
	"strings"
	"testing"

	"starling/internal/postgres/postgrestest"
)

// TestStoredQuestionnaires: responses are held to the Questionnaire that is
// stored on any instance, in the version they name, from the next write on.
func TestStoredQuestionnaires(t *testing.T) {
	url := postgrestest.New(t)
	one, other := serve(t, url), serve(t, url)
	const (
		questionnaire = `{"resourceType":"Questionnaire","id":"ID","url":"http://example.org/q","version":"ID","status":"active","item":[{"linkId":"ID","type":"boolean"}]}`
		response      = `{"resourceType":"QuestionnaireResponse","questionnaire":"http://example.org/q","status":"completed","item":[{"linkId":"a","answer":[{"valueBoolean":true}]}]}`
	)
	versioned := func(version string) string { return strings.Replace(response, "org/q", "org/q|"+version, 1) }
	if a := one.do("POST", "QuestionnaireResponse", response); a.StatusCode != 201 {
		t.Fatalf("a questionnaire that is not there asks nothing: %d %s", a.StatusCode, a.body)
	}
	for _, id := range []string{"a", "b"} {
		if a := one.do("PUT", "Questionnaire/"+id, strings.ReplaceAll(questionnaire, "ID", id)); a.StatusCode != 201 {
			t.Fatalf("%d %s", a.StatusCode, a.body)
		}
	}
	for _, test := range []struct {
		body string
		want int
	}{
		{versioned("a"), 201},
		{versioned("b"), 422},
		{versioned("c"), 201},
		{response, 422}, // b was stored last
		{strings.Replace(response, `"linkId":"a"`, `"linkId":"b"`, 1), 201},
		{strings.Replace(versioned("a"), `"valueBoolean":true`, `"valueInteger":1`, 1), 422},
	} {
		if a := other.do("POST", "QuestionnaireResponse", test.body); a.StatusCode != test.want && (test.want != 422 || a.StatusCode != 400) {
			t.Errorf("%s: %d %s, want %d", test.body, a.StatusCode, a.body, test.want)
		}
	}
	// One as deep as a body may be is deeper in the Bundle by which it is found.
	deep := `{"linkId":"x","type":"string"}`
	for i := range 48 {
		deep = fmt.Sprintf(`{"linkId":"g%d","type":"group","item":[%s]}`, i, deep)
	}
	one.put("Questionnaire/deep", `{"resourceType":"Questionnaire","id":"deep","url":"http://example.org/q","version":"deep","status":"active","item":[`+deep+`]}`)
	if a := one.do("POST", "QuestionnaireResponse", versioned("deep")); a.StatusCode < 400 {
		t.Errorf("by a deep one: %d %s", a.StatusCode, a.body)
	}
}

// TestProfileFlags: --type-profiles holds all resources of a type to a profile,
// which the CapabilityStatement names; --unknown-profiles=refuse.
func TestProfileFlags(t *testing.T) {
	r := serve(t, postgrestest.New(t), "--type-profiles=Patient=http://example.org/p", "--unknown-profiles=refuse")
	if a := r.do("PUT", "StructureDefinition/p", `{"resourceType":"StructureDefinition","id":"p","url":"http://example.org/p","name":"P","status":"active","kind":"resource",
			"abstract":false,"type":"Patient","baseDefinition":"http://hl7.org/fhir/StructureDefinition/Patient","derivation":"constraint","differential":{"element":[
			{"id":"Patient","path":"Patient"},{"id":"Patient.name","path":"Patient.name","min":1}]}}`); a.StatusCode != 201 {
		t.Fatalf("%d %s", a.StatusCode, a.body)
	}
	for _, test := range []struct {
		target, body string
		want         int
	}{
		{"Patient", `{"resourceType":"Patient","name":[{"text":"x"}]}`, 201},
		{"Patient", `{"resourceType":"Patient"}`, 400},
		{"Patient", `{"resourceType":"Patient","meta":{"profile":["http://example.org/p"]}}`, 400},
		{"Group", `{"resourceType":"Group","type":"person","actual":false}`, 201},
		{"Group", `{"resourceType":"Group","meta":{"profile":["http://example.org/other"]},"type":"person","actual":false}`, 422},
	} {
		if a := r.do("POST", test.target, test.body); a.StatusCode != test.want {
			t.Errorf("%s: %d %s, want %d", test.body, a.StatusCode, a.body, test.want)
		}
	}
	if a := r.do("GET", "metadata", ""); !strings.Contains(string(a.body), `"type":"Patient","profile":"http://example.org/p"`) {
		t.Error("the CapabilityStatement does not name the profile")
	}
	if err := (&profileFlags{TypeProfiles: map[string]string{"Patent": "x"}}).check(); err == nil {
		t.Error("a type that does not exist is accepted")
	}
}
