package main

import (
	"strings"
	"testing"

	"starling/internal/postgres/postgrestest"
)

// TestStoredProfilesApply stores a profile and a value set on one instance: the
// next write there is held to them, and soon those of another are.
func TestStoredProfilesApply(t *testing.T) {
	url := postgrestest.New(t)
	one, other := serve(t, url), serve(t, url)
	const patient = `{"resourceType":"Patient","meta":{"profile":["http://example.org/p"]},"maritalStatus":{"coding":[{"system":"http://example.org/own","code":"GRAY"}]}}`
	if a := one.do("POST", "Patient", patient); a.StatusCode != 201 {
		t.Fatalf("a profile that is not known is no error: %d %s", a.StatusCode, a.body)
	}
	for target, body := range map[string]string{
		"ValueSet/v": `{"resourceType":"ValueSet","id":"v","url":"http://example.org/v","status":"active","compose":{"include":[{"system":"http://example.org/own","concept":[{"code":"RED"}]}]}}`,
		"StructureDefinition/p": `{"resourceType":"StructureDefinition","id":"p","url":"http://example.org/p","name":"P","status":"active","kind":"resource",
			"abstract":false,"type":"Patient","baseDefinition":"http://hl7.org/fhir/StructureDefinition/Patient","derivation":"constraint","differential":{"element":[
			{"id":"Patient","path":"Patient"},
			{"id":"Patient.maritalStatus","path":"Patient.maritalStatus","binding":{"strength":"required","valueSet":"http://example.org/v"}}]}}`,
	} {
		if a := one.do("PUT", target, body); a.StatusCode != 201 {
			t.Fatalf("%s: %d %s", target, a.StatusCode, a.body)
		}
	}
	if a := one.do("POST", "Patient", patient); a.StatusCode != 422 || !strings.Contains(string(a.body), "http://example.org/v") {
		t.Errorf("the next write: %d %s", a.StatusCode, a.body)
	}
	if a := one.do("POST", "Patient", strings.Replace(patient, "GRAY", "RED", 1)); a.StatusCode != 201 {
		t.Errorf("what the profile allows: %d %s", a.StatusCode, a.body)
	}
	eventually(t, "the other instance knows the profile", func() bool { return other.do("POST", "Patient", patient).StatusCode == 422 })
}
