package main

import (
	"fmt"
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

// TestCapabilityStatementNamesProfiles: on every instance it names the profiles that
// are stored while they are, and the one that all resources of a type have to meet.
func TestCapabilityStatementNamesProfiles(t *testing.T) {
	url := postgrestest.New(t)
	const required = "--type-profiles=Patient=http://example.org/StructureDefinition/required"
	one, other := serve(t, url, required), serve(t, url, required)
	of := func(r *running, resourceType string) (profile any, supported []any, etag string) {
		a := r.do("GET", "metadata", "")
		for _, rest := range a.json(t)["rest"].([]any) {
			for _, resource := range rest.(map[string]any)["resource"].([]any) {
				if of := resource.(map[string]any); of["type"] == resourceType {
					supported, _ = of["supportedProfile"].([]any)
					return of["profile"], supported, a.Header.Get("ETag")
				}
			}
		}
		t.Fatalf("no %s in %s", resourceType, a.body)
		return nil, nil, ""
	}
	profile, supported, before := of(one, "Patient")
	if profile != "http://example.org/StructureDefinition/required" || supported != nil {
		t.Errorf("at first: %v %v", profile, supported)
	}
	if profile, _, _ := of(one, "Group"); profile != "http://hl7.org/fhir/StructureDefinition/Group" {
		t.Errorf("a type without: %v", profile)
	}
	one.put("StructureDefinition/b", profileOf("b", "1.0.0", `"min": 1`))
	one.put("StructureDefinition/a1", strings.Replace(profileOf("a", "1.0.0", `"min": 1`), `"id": "a"`, `"id": "a1"`, 1))
	one.put("StructureDefinition/a2", strings.Replace(profileOf("a", "2.0.0", `"min": 1`), `"id": "a"`, `"id": "a2"`, 1))
	one.put("StructureDefinition/e", `{"resourceType":"StructureDefinition","id":"e","url":"http://example.org/e","name":"E","status":"active","kind":"complex-type","abstract":false,
		"type":"Extension","baseDefinition":"http://hl7.org/fhir/StructureDefinition/Extension","derivation":"constraint","context":[{"type":"element","expression":"Patient"}],
		"differential":{"element":[{"id":"Extension","path":"Extension"}]}}`)
	for name, r := range map[string]*running{"the same": one, "the other": other} {
		_, supported, etag := of(r, "Patient")
		if got := fmt.Sprint(supported); got != "[http://example.org/StructureDefinition/a http://example.org/StructureDefinition/b]" || etag == before {
			t.Errorf("on %s instance: %s, ETag %s after %s", name, got, etag, before)
		}
	}
	if a := one.do("DELETE", "StructureDefinition/b", ""); a.StatusCode >= 300 {
		t.Errorf("%d %s", a.StatusCode, a.body)
	}
	for _, r := range []*running{one, other} {
		if _, supported, _ := of(r, "Patient"); fmt.Sprint(supported) != "[http://example.org/StructureDefinition/a]" {
			t.Errorf("after one is deleted: %v", supported)
		}
	}
	// Retired ones, and those that nothing can be checked against, are not supported.
	derived := strings.Replace(profileOf("c", "1.0.0", `"min": 1`), "http://hl7.org/fhir/StructureDefinition/Patient", "http://example.org/StructureDefinition/b", 1)
	one.put("StructureDefinition/c", derived)
	one.put("StructureDefinition/d", strings.Replace(profileOf("d", "1.0.0", `"min": 1`), `"active"`, `"retired"`, 1))
	for _, r := range []*running{one, other} {
		if _, supported, _ := of(r, "Patient"); fmt.Sprint(supported) != "[http://example.org/StructureDefinition/a]" {
			t.Errorf("with one that lacks its base, and one that is retired: %v", supported)
		}
	}
	one.put("StructureDefinition/b", profileOf("b", "1.0.0", `"min": 1`))
	for _, r := range []*running{one, other} {
		if _, supported, _ := of(r, "Patient"); len(supported) != 3 {
			t.Errorf("when the base is there: %v", supported)
		}
	}
	// What another server's CapabilityStatement says is about that server.
	one.put("CapabilityStatement/guide", `{"resourceType":"CapabilityStatement","id":"guide","url":"http://example.org/guide","name":"G","title":"G","status":"active","date":"2026-01-01",
		"description":"d","kind":"requirements","fhirVersion":"4.0.1","format":["json"],"rest":[{"mode":"server","resource":[{"type":"Group","profile":"http://example.org/group","supportedProfile":["http://example.org/g"]}]}]}`)
	if profile, supported, _ := of(one, "Group"); profile != "http://hl7.org/fhir/StructureDefinition/Group" || supported != nil {
		t.Errorf("a stored CapabilityStatement changed the server's: %v %v", profile, supported)
	}
}

// TestTransactionWithProfile: a transaction is checked by the profiles as they were
// before it, also by those that it stores, replaces or deletes itself.
func TestTransactionWithProfile(t *testing.T) {
	url := postgrestest.New(t)
	one, other := serve(t, url), serve(t, url)
	const single, married = `{"resourceType":"Patient","meta":{"profile":["http://example.org/StructureDefinition/p"]}}`,
		`{"resourceType":"Patient","meta":{"profile":["http://example.org/StructureDefinition/p"]},"maritalStatus":{"text":"married"}}`
	const strict, loose = `"min": 1`, `"min": 0`
	for _, step := range []struct {
		name, method, constraint, patient string
		status                            int
		then                              int // to the same patient afterwards
	}{
		{"a new profile", "PUT", strict, single, 200, 400},
		{"a looser one", "PUT", loose, single, 400, 400},
		{"a looser one, and what met the one before", "PUT", loose, married, 200, 201},
		{"a stricter one", "PUT", strict, single, 200, 400},
		{"none any more", "DELETE", "", single, 400, 400},
		{"none any more, and what met the one before", "DELETE", "", married, 200, 201},
	} {
		request := `"request":{"method":"` + step.method + `","url":"StructureDefinition/p"}`
		if step.constraint != "" {
			request += `,"resource":` + profileOf("p", "1.0.0", step.constraint)
		}
		a := one.do("POST", "", `{"resourceType":"Bundle","type":"transaction","entry":[{`+request+`},
			{"request":{"method":"POST","url":"Patient"},"resource":`+step.patient+`}]}`)
		if a.StatusCode != step.status {
			t.Errorf("%s: %d, want %d: %s", step.name, a.StatusCode, step.status, a.body)
		}
		for _, instance := range []*running{one, other} {
			if a := instance.do("POST", "Patient", step.patient); a.StatusCode != step.then {
				t.Errorf("%s, afterwards: %d, want %d: %s", step.name, a.StatusCode, step.then, a.body)
			}
		}
	}
}
