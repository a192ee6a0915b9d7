package main

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"starling/internal/postgres/postgrestest"
)

// TestRules holds the rules of FHIR's REST page to the whole program.
func TestRules(t *testing.T) {
	r := serve(t, postgrestest.New(t))
	t.Run("life of a resource", func(t *testing.T) { life(t, r) })
	t.Run("preconditions", func(t *testing.T) { preconditions(t, r) })
	t.Run("bundles at the base", func(t *testing.T) { bundles(t, r) })
	t.Run("binary", func(t *testing.T) { binaries(t, r) })
	t.Run("conditional", func(t *testing.T) { conditional(t, r) })
	t.Run("refusals", func(t *testing.T) { refusals(t, r) })
	t.Run("search by POST", func(t *testing.T) { searchByPost(t, r) })
	t.Run("patch", func(t *testing.T) { patches(t, r) })
	t.Run("capabilities", func(t *testing.T) { capabilities(t, r) })
}

func life(t *testing.T, r *running) {
	created := r.do("POST", "Patient", `{"resourceType":"Patient","id":"ignored","meta":{"versionId":"9","tag":[{"code":"kept"}]},"multipleBirthInteger":2}`)
	location := created.Header.Get("Location")
	if created.StatusCode != 201 || !strings.HasPrefix(location, r.base+"/Patient/") || !strings.HasSuffix(location, "/_history/1") || strings.Contains(location, "ignored") {
		t.Fatalf("create: %d %q %s", created.StatusCode, location, created.body)
	}
	if created.Header.Get("ETag") != `W/"1"` || created.Header.Get("Last-Modified") == "" || created.Header.Get("Content-Location") != location {
		t.Errorf("create: %v", created.Header)
	}
	if !strings.Contains(string(created.body), `"tag":[{"code":"kept"}]`) {
		t.Errorf("the tag is gone: %s", created.body)
	}
	target := strings.TrimSuffix(strings.TrimPrefix(location, r.base+"/"), "/_history/1")
	id := strings.TrimPrefix(target, "Patient/")

	if a := r.do("GET", target, ""); a.StatusCode != 200 || string(a.body) != string(created.body) || a.Header.Get("ETag") != `W/"1"` {
		t.Errorf("read: %d %s", a.StatusCode, a.body)
	}
	if a := r.do("HEAD", target, ""); a.StatusCode != 200 || len(a.body) != 0 || a.ContentLength != int64(len(created.body)) {
		t.Errorf("head: %d, %d bytes of %d", a.StatusCode, len(a.body), a.ContentLength)
	}
	if a := r.do("PUT", target, `{"resourceType":"Patient"}`); a.StatusCode != 400 {
		t.Errorf("update without an id in the body: %d", a.StatusCode)
	}
	if a := r.do("PUT", target, `{"resourceType":"Patient","id":"other"}`); a.StatusCode != 400 {
		t.Errorf("update with another id: %d", a.StatusCode)
	}
	updated := r.do("PUT", target, fmt.Sprintf(`{"resourceType":"Patient","id":%q,"active":true}`, id))
	if updated.StatusCode != 200 || updated.Header.Get("ETag") != `W/"2"` || updated.Header.Get("Location") != r.base+"/"+target+"/_history/2" {
		t.Errorf("update: %d %v %s", updated.StatusCode, updated.Header, updated.body)
	}
	if a := r.do("GET", target+"/_history/1", ""); a.StatusCode != 200 || string(a.body) != string(created.body) {
		t.Errorf("vread: %d %s", a.StatusCode, a.body)
	}
	if a := r.do("DELETE", target, ""); a.StatusCode != 204 && a.StatusCode != 200 {
		t.Errorf("delete: %d %s", a.StatusCode, a.body)
	}
	if a := r.do("DELETE", target, ""); a.StatusCode != 204 && a.StatusCode != 200 {
		t.Errorf("delete again: %d %s", a.StatusCode, a.body)
	}
	if a := r.do("GET", target, ""); a.StatusCode != 410 || a.code() != "deleted" || a.Header.Get("ETag") != `W/"3"` {
		t.Errorf("read of the deleted: %d %v %s", a.StatusCode, a.Header, a.body)
	}
	if a := r.do("PUT", target, fmt.Sprintf(`{"resourceType":"Patient","id":%q}`, id)); a.StatusCode != 201 || a.Header.Get("ETag") != `W/"4"` {
		t.Errorf("update of the deleted: %d %v", a.StatusCode, a.Header)
	}
	history := r.do("GET", target+"/_history", "").json(t)
	if entries, _ := history["entry"].([]any); history["type"] != "history" || len(entries) != 4 {
		t.Errorf("history: %v", history)
	}
	for _, target := range []string{"Patient/_history", "_history?_count=2"} {
		if a := r.do("GET", target, ""); a.StatusCode != 200 || a.json(t)["type"] != "history" {
			t.Errorf("%s: %d", target, a.StatusCode)
		}
	}
}

func preconditions(t *testing.T, r *running) {
	body := `{"resourceType":"Patient","id":"pre"}`
	r.put("Patient/pre", body)
	if a := r.do("PUT", "Patient/pre", body, `If-Match: W/"7"`); a.StatusCode != 412 || !strings.HasPrefix(a.code(), "conflict") {
		t.Errorf("If-Match with another version: %d %s", a.StatusCode, a.code())
	}
	if a := r.do("PUT", "Patient/pre", body, `If-Match: W/"1"`); a.StatusCode != 200 || a.Header.Get("ETag") != `W/"2"` {
		t.Errorf("If-Match: %d %v", a.StatusCode, a.Header)
	}
	if a := r.do("PUT", "Patient/pre", body, `If-None-Match: *`); a.StatusCode != 412 {
		t.Errorf("If-None-Match on an existing one: %d", a.StatusCode)
	}
	read := r.do("GET", "Patient/pre", "")
	if a := r.do("GET", "Patient/pre", "", `If-None-Match: W/"2"`); a.StatusCode != 304 || len(a.body) != 0 || a.Header.Get("ETag") != `W/"2"` {
		t.Errorf("If-None-Match: %d %v", a.StatusCode, a.Header)
	}
	if a := r.do("GET", "Patient/pre", "", "If-Modified-Since: "+read.Header.Get("Last-Modified")); a.StatusCode != 304 {
		t.Errorf("If-Modified-Since: %d", a.StatusCode)
	}
	if a := r.do("GET", "Patient/pre", "", "If-Modified-Since: Mon, 01 Jan 2001 00:00:00 GMT"); a.StatusCode != 200 {
		t.Errorf("If-Modified-Since long ago: %d", a.StatusCode)
	}
	for prefer, want := range map[string]string{"return=minimal": "", "return=OperationOutcome": "OperationOutcome", "return=representation": "Patient"} {
		a := r.do("PUT", "Patient/pre", body, "Prefer: "+prefer)
		if a.StatusCode != 200 || want == "" && len(a.body) > 0 || want != "" && a.json(t)["resourceType"] != want {
			t.Errorf("%s: %d %s", prefer, a.StatusCode, a.body)
		}
	}
}

func bundles(t *testing.T, r *running) {
	for _, base := range []string{r.base, r.base + "/"} {
		for _, kind := range []string{"transaction", "batch"} {
			body := `{"resourceType":"Bundle","type":"` + kind + `","entry":[{"fullUrl":"urn:uuid:6a7a5c2e-0f4b-4f0c-9d31-6e1b7d0b3a11",` +
				`"resource":{"resourceType":"Patient"},"request":{"method":"POST","url":"Patient"}}]}`
			request, _ := http.NewRequest("POST", base, strings.NewReader(body))
			request.Header.Set("Content-Type", "application/fhir+json")
			a := send(t, request)
			if a.StatusCode != 200 || a.json(t)["type"] != kind+"-response" {
				t.Errorf("%s to %s: %d %s", kind, base, a.StatusCode, a.body)
			}
		}
	}
	if a := r.do("POST", "", `{"resourceType":"Bundle","type":"collection"}`); a.StatusCode != 400 {
		t.Errorf("a collection at the base: %d", a.StatusCode)
	}
	if a := r.do("POST", "", `{"resourceType":"Bundle","type":"transaction"}`); a.StatusCode != 200 {
		t.Errorf("no entries: %d %s", a.StatusCode, a.body)
	}
	if a := r.do("POST", "Bundle", `{"resourceType":"Bundle","type":"collection"}`); a.StatusCode != 201 {
		t.Errorf("a collection stored: %d %s", a.StatusCode, a.body)
	}
	failed := r.do("POST", "", `{"resourceType":"Bundle","type":"transaction","entry":[{"resource":{"resourceType":"Patient","nonsense":1},"request":{"method":"POST","url":"Patient"}}]}`)
	if failed.StatusCode/100 != 4 || !strings.Contains(string(failed.body), "Bundle.entry[0]") {
		t.Errorf("a bad entry: %d %s", failed.StatusCode, failed.body)
	}
}

func binaries(t *testing.T, r *running) {
	created := r.do("POST", "Binary", "hello", "Content-Type: text/plain", "X-Security-Context: Patient/p")
	if created.StatusCode != 201 {
		t.Fatalf("raw create: %d %s", created.StatusCode, created.body)
	}
	target := strings.TrimPrefix(created.Header.Get("Location"), r.base+"/")
	target, _, _ = strings.Cut(target, "/_history")
	if a := r.do("GET", target, ""); a.StatusCode != 200 || string(a.body) != "hello" || a.Header.Get("Content-Type") != "text/plain" || a.Header.Get("ETag") != `W/"1"` {
		t.Errorf("raw read: %d %v %q", a.StatusCode, a.Header, a.body)
	}
	for _, asFHIR := range []answer{
		r.do("GET", target, "", "Accept: application/fhir+json"), r.do("GET", target, "", "Accept: application/json"), r.do("GET", target+"?_format=json", ""),
	} {
		v := asFHIR.json(t)
		if v["resourceType"] != "Binary" || v["data"] != "aGVsbG8=" || v["contentType"] != "text/plain" {
			t.Errorf("as FHIR: %s", asFHIR.body)
		}
		if context, _ := v["securityContext"].(map[string]any); context["reference"] != "Patient/p" {
			t.Errorf("security context: %s", asFHIR.body)
		}
	}
	r.put("Binary/b1", `{"resourceType":"Binary","id":"b1","contentType":"image/png","data":"AAEC"}`)
	if a := r.do("GET", "Binary/b1", "", "Accept: */*"); string(a.body) != "\x00\x01\x02" || a.Header.Get("Content-Type") != "image/png" {
		t.Errorf("stored as FHIR, read raw: %v %q", a.Header, a.body)
	}
	if a := r.do("PUT", "Binary/b1", `{"any":"json"}`, "Content-Type: application/json"); a.StatusCode != 200 {
		t.Errorf("raw update: %d %s", a.StatusCode, a.body)
	}
	if a := r.do("GET", "Binary/b1", "", "Accept: image/*"); string(a.body) != `{"any":"json"}` || a.Header.Get("Content-Type") != "application/json" {
		t.Errorf("raw JSON: %v %q", a.Header, a.body)
	}
	if a := r.do("GET", "Binary/none", ""); a.StatusCode != 404 || a.code() != "not-found" {
		t.Errorf("none: %d %s", a.StatusCode, a.body)
	}
}

func conditional(t *testing.T, r *running) {
	body := func(value string) string {
		return `{"resourceType":"Patient","identifier":[{"system":"http://s","value":"` + value + `"}]}`
	}
	first := r.do("POST", "Patient", body("c1"), "If-None-Exist: identifier=http://s|c1")
	again := r.do("POST", "Patient", body("c1"), "If-None-Exist: identifier=http://s|c1")
	if first.StatusCode != 201 || again.StatusCode != 200 || again.Header.Get("Location") != first.Header.Get("Location") {
		t.Errorf("conditional create: %d, %d %q", first.StatusCode, again.StatusCode, again.Header.Get("Location"))
	}
	if a := r.do("PUT", "Patient?identifier=http://s|c2", body("c2")); a.StatusCode != 201 {
		t.Errorf("conditional update, none: %d %s", a.StatusCode, a.body)
	}
	// A client's habit must not become part of the criteria.
	if a := r.do("PUT", "Patient?identifier=http://s|c2&_format=json&_pretty=true", body("c2")); a.StatusCode != 200 || a.Header.Get("ETag") != `W/"2"` {
		t.Errorf("conditional update with _format: %d %s", a.StatusCode, a.body)
	}
	if a := r.do("PUT", "Patient?unheard=of", body("c2")); a.StatusCode != 400 {
		t.Errorf("unknown criteria: %d %s", a.StatusCode, a.body)
	}
	for _, target := range []string{"Patient", "Patient/", "Patient?unheard=of"} {
		if a := r.do("DELETE", target, ""); a.StatusCode/100 != 4 {
			t.Errorf("DELETE %s: %d", target, a.StatusCode)
		}
	}
	for n, target := range []string{"Patient?identifier=http://s|c1", "Patient/?identifier=http://s|c2"} {
		if a := r.do("DELETE", target, ""); a.StatusCode/100 != 2 {
			t.Errorf("DELETE %s: %d %s", target, a.StatusCode, a.body)
		}
		if a := r.do("GET", fmt.Sprintf("Patient?identifier=http://s|c%d", n+1), ""); a.json(t)["entry"] != nil {
			t.Errorf("still there after DELETE %s", target)
		}
	}
}

func refusals(t *testing.T, r *running) {
	for _, c := range []struct {
		method, target, body string
		headers              []string
		status               int
		code                 string
	}{
		{"GET", "Patient/none", "", nil, 404, "not-found"},
		{"GET", "Unheard/1", "", nil, 404, "not-found"},
		{"GET", "Parameters/1", "", nil, 404, "not-found"},
		{"GET", "Patient/1/2/3/4", "", nil, 404, "not-found"},
		{"POST", "Patient", `{"resourceType":`, nil, 400, "invalid structure"},
		{"POST", "Patient", `{"resourceType":"Patient","active":true,"active":true}`, nil, 400, "invalid structure"},
		{"POST", "Patient", "{\"resourceType\":\"Patient\",\"id\":\"\xff\"}", nil, 400, "invalid structure"},
		{"POST", "Patient", "", nil, 400, "required structure"},
		{"POST", "Patient", `{"resourceType":"Observation"}`, nil, 400, ""},
		{"PUT", "Patient/bad_id", `{"resourceType":"Patient","id":"bad_id"}`, nil, 400, "value"},
		{"PATCH", "metadata", `[]`, []string{"Content-Type: application/json-patch+json"}, 405, "not-supported"},
		{"PUT", "_history", `{}`, nil, 405, "not-supported"},
		{"GET", "Patient/none", "", []string{"Accept: application/fhir+xml"}, 406, "not-supported"},
		{"POST", "Patient", "<Patient/>", []string{"Content-Type: application/fhir+xml"}, 415, "not-supported"},
		{"POST", "Patient", "a=b", []string{"Content-Type: application/x-www-form-urlencoded"}, 415, "not-supported"},
		{"GET", "Patient?_format=xml", "", nil, 406, "not-supported"},
	} {
		a := r.do(c.method, c.target, c.body, c.headers...)
		if code := a.code(); a.StatusCode != c.status || c.code != "" && !strings.Contains(c.code, code) || strings.HasPrefix(code, "no outcome") {
			t.Errorf("%s %s %q %v: %d %s", c.method, c.target, c.body, c.headers, a.StatusCode, code)
		}
		if c.status == 405 && a.Header.Get("Allow") == "" {
			t.Errorf("%s %s: no Allow", c.method, c.target)
		}
	}
}

func searchByPost(t *testing.T, r *running) {
	r.put("Patient/s1", `{"resourceType":"Patient","id":"s1","identifier":[{"system":"http://s","value":"by post"}]}`)
	a := r.do("POST", "Patient/_search?_count=5", "identifier=http%3A%2F%2Fs%7Cby+post", "Content-Type: application/x-www-form-urlencoded")
	bundle := a.json(t)
	if entries, _ := bundle["entry"].([]any); a.StatusCode != 200 || len(entries) != 1 {
		t.Fatalf("%d %s", a.StatusCode, a.body)
	}
	links, _ := bundle["link"].([]any)
	self, _ := links[0].(map[string]any)
	url, _ := self["url"].(string)
	request, err := http.NewRequest("GET", url, nil)
	if err != nil {
		t.Fatalf("self %q: %v", url, err)
	}
	if a := send(t, request); len(a.json(t)["entry"].([]any)) != 1 {
		t.Errorf("self %q gives %s", url, a.body)
	}
}

func patches(t *testing.T, r *running) {
	r.put("Patient/patched", `{"resourceType":"Patient","id":"patched","active":true}`)
	const patch = `[{"op":"replace","path":"/active","value":false}]`
	a := r.do("PATCH", "Patient/patched", patch, "Content-Type: application/json-patch+json", `If-Match: W/"1"`)
	if a.StatusCode != 200 || a.Header.Get("ETag") != `W/"2"` || a.json(t)["active"] != false || a.Header.Get("Content-Type") != "application/fhir+json" {
		t.Errorf("%d %v %s", a.StatusCode, a.Header, a.body)
	}
	if a := r.do("PATCH", "Patient/patched", patch, "Content-Type: application/json-patch+json", `If-Match: W/"1"`); a.StatusCode != 412 {
		t.Errorf("If-Match with an old version: %d %s", a.StatusCode, a.body)
	}
	if a := r.do("PATCH", "Patient/patched", "<diff/>", "Content-Type: application/xml-patch+xml"); a.StatusCode != 415 || a.code() != "not-supported" {
		t.Errorf("XML Patch: %d %s", a.StatusCode, a.body)
	}
}

func capabilities(t *testing.T, r *running) {
	a := r.do("GET", "metadata", "", "Accept: application/json", "Origin: https://app.example")
	statement := a.json(t)
	if a.StatusCode != 200 || statement["resourceType"] != "CapabilityStatement" || statement["fhirVersion"] != "4.0.1" || a.Header.Get("ETag") == "" {
		t.Errorf("%d %v %.300s", a.StatusCode, a.Header, a.body)
	}
	if date, _ := statement["date"].(string); strings.HasPrefix(date, "0001") || date == "" {
		t.Errorf("date %q", date)
	}
	if a.Header.Get("Access-Control-Allow-Origin") != "*" || a.Header.Get("Content-Type") != "application/json" {
		t.Errorf("%v", a.Header)
	}
}

// TestSchemaLevel: by the JSON Schema alone, what breaks the structure is
// refused and what breaks an invariant is not.
func TestSchemaLevel(t *testing.T) {
	server := serve(t, postgrestest.New(t), "--validation=schema")
	for body, want := range map[string]int{
		`{"resourceType":"Patient","birthDate":"2000-1"}`:                                      400,
		`{"resourceType":"Patient","unknown":[]}`:                                              400,
		`{"resourceType":"Patient","contact":[{"gender":"male"}]}`:                             201, // pat-1
		`{"resourceType":"Patient","meta":{"profile":["http://example.org/x"]},"active":true}`: 201,
	} {
		if a := server.do("POST", "Patient", body); a.StatusCode != want {
			t.Errorf("%s: %d %s", body, a.StatusCode, a.body)
		}
	}
}
