package main

import (
	"strings"
	"testing"

	"starling/internal/postgres/postgrestest"
)

// TestReferenceExistence stores resources that refer to what is there and what
// is not, by every interaction that writes.
func TestReferenceExistence(t *testing.T) {
	url := postgrestest.New(t)
	refusing, warning, off := serve(t, url, "--reference-existence=refuse"), serve(t, url, "--reference-existence=warn"), serve(t, url)
	off.put("Patient/there", `{"resourceType":"Patient","id":"there"}`)
	off.put("Patient/gone", `{"resourceType":"Patient","id":"gone"}`)
	off.do("DELETE", "Patient/gone", "")

	observation := func(id, subject string) string {
		if id != "" {
			id = `"id":"` + id + `",`
		}
		return `{"resourceType":"Observation",` + id + `"status":"final","code":{"text":"x"},"subject":{"reference":"` + subject + `"}}`
	}
	for subject, exists := range map[string]bool{
		"Patient/there": true, "Patient/there/_history/1": true, refusing.base + "/Patient/there": true,
		"Patient/never": false, "Patient/gone": false, "Patient/there/_history/2": false, "Patient/there/_history/x": false,
		"Patient/gone/_history/1": true, "Patient/gone/_history/2": false,
		refusing.base + "/Patient/never":  false,
		refusing.base + "2/Patient/never": true, refusing.base + "Patient/never": true,
		"http://elsewhere.example/fhir/Patient/1": true, "urn:uuid:0195d3a0-0000-7000-8000-000000000000": true,
	} {
		want := 422
		if exists {
			want = 201
		}
		if a := refusing.do("POST", "Observation", observation("", subject)); a.StatusCode != want ||
			!exists && (a.code() != "not-found" || !strings.Contains(string(a.body), `"Observation.subject.reference"`)) {
			t.Errorf("POST with %s: %d %s", subject, a.StatusCode, a.body)
		}
		errors := strings.Contains(string(refusing.do("POST", "Observation/$validate", observation("", subject)).body), `"severity":"error"`)
		if errors == exists {
			t.Errorf("$validate with %s: errors %v", subject, errors)
		}
	}
	off.put("Observation/o", observation("o", "Patient/there"))
	const missing = "Patient/never"
	for name, a := range map[string]answer{
		"update":             refusing.do("PUT", "Observation/o", observation("o", missing)),
		"update that makes":  refusing.do("PUT", "Observation/new", observation("new", missing)),
		"conditional update": refusing.do("PUT", "Observation?code=none", observation("", missing)),
		"conditional create": refusing.do("POST", "Observation", observation("", missing), "If-None-Exist: code=none"),
		"patch":              refusing.do("PATCH", "Observation/o", `[{"op":"replace","path":"/subject/reference","value":"`+missing+`"}]`, "Content-Type: application/json-patch+json"),
		"conditional patch":  refusing.do("PATCH", "Observation?_id=o", `[{"op":"replace","path":"/subject/reference","value":"`+missing+`"}]`, "Content-Type: application/json-patch+json"),
	} {
		if a.StatusCode != 422 || a.code() != "not-found" {
			t.Errorf("%s: %d %s", name, a.StatusCode, a.body)
		}
	}
	// What is met already is not written.
	if a := refusing.do("POST", "Observation", observation("", missing), "If-None-Exist: _id=o"); a.StatusCode != 200 {
		t.Errorf("a conditional create that finds: %d %s", a.StatusCode, a.body)
	}
	// A resource may refer to itself.
	if a := refusing.do("PUT", "Patient/self", `{"resourceType":"Patient","id":"self","link":[{"type":"seealso","other":{"reference":"Patient/self"}}]}`); a.StatusCode != 201 {
		t.Errorf("to itself: %d %s", a.StatusCode, a.body)
	}
	// With warn it is stored, and told.
	a := warning.do("POST", "Observation", observation("", missing), "Prefer: return=OperationOutcome")
	if body := string(a.body); a.StatusCode != 201 || !strings.Contains(body, `"severity":"warning","code":"not-found"`) {
		t.Errorf("warn: %d %s", a.StatusCode, body)
	}
	if a := off.do("POST", "Observation", observation("", missing), "Prefer: return=OperationOutcome"); a.StatusCode != 201 || strings.Contains(string(a.body), "not-found") {
		t.Errorf("off: %d %s", a.StatusCode, a.body)
	}
}

// TestReferenceExistenceInTransactions: the entries of a transaction are there,
// whatever their order, and what it deletes is not.
func TestReferenceExistenceInTransactions(t *testing.T) {
	r := serve(t, postgrestest.New(t), "--reference-existence=refuse")
	r.put("Patient/there", `{"resourceType":"Patient","id":"there","identifier":[{"system":"http://ids","value":"1"}]}`)
	bundle := func(entries ...string) string {
		return `{"resourceType":"Bundle","type":"transaction","entry":[` + strings.Join(entries, ",") + `]}`
	}
	observation := func(subject string) string {
		return `{"resource":{"resourceType":"Observation","status":"final","code":{"text":"x"},"subject":{"reference":"` + subject + `"}},"request":{"method":"POST","url":"Observation"}}`
	}
	const posted = `{"fullUrl":"urn:uuid:0195d3a0-0000-7000-8000-000000000001","resource":{"resourceType":"Patient"},"request":{"method":"POST","url":"Patient"}}`
	const put = `{"resource":{"resourceType":"Patient","id":"made"},"request":{"method":"PUT","url":"Patient/made"}}`
	for name, c := range map[string]struct {
		body string
		want int
		at   string
	}{
		"to an entry":             {bundle(observation("urn:uuid:0195d3a0-0000-7000-8000-000000000001"), posted), 200, ""},
		"to an entry put":         {bundle(observation("Patient/made"), put), 200, ""},
		"to what is stored":       {bundle(observation("Patient/there")), 200, ""},
		"by criteria":             {bundle(observation("Patient?identifier=http://ids|1")), 200, ""},
		"to nothing":              {bundle(observation("Patient/there"), observation("Patient/never")), 422, "Bundle.entry[1].resource.subject.reference"},
		"to what the same erases": {bundle(observation("Patient/there"), `{"request":{"method":"DELETE","url":"Patient/there"}}`), 422, "Bundle.entry[0].resource.subject.reference"},
	} {
		a := r.do("POST", "", c.body)
		if a.StatusCode != c.want || !strings.Contains(string(a.body), c.at) {
			t.Errorf("%s: %d %s", name, a.StatusCode, a.body)
		}
	}
	if a := r.do("GET", "Observation?_summary=count", ""); !strings.Contains(string(a.body), `"total":4`) {
		t.Errorf("refused transactions leave nothing: %s", a.body)
	}
	// In a batch each entry is by itself: creates come before updates.
	a := r.do("POST", "", strings.Replace(bundle(observation("Patient/later"), strings.ReplaceAll(put, "made", "later")), "transaction", "batch", 1))
	if body := string(a.body); a.StatusCode != 200 || !strings.Contains(body, `"status":"422`) || !strings.Contains(body, `"status":"201`) {
		t.Errorf("batch: %d %s", a.StatusCode, body)
	}
}
