package main

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"starling/internal/postgres/postgrestest"
)

// TestTerminologyOfUsers stores a code system on one instance: the same one
// knows it with the next request, the other within two seconds.
func TestTerminologyOfUsers(t *testing.T) {
	url := postgrestest.New(t)
	one, other := serve(t, url), serve(t, url)
	body := func(version int, code string) string {
		return fmt.Sprintf(`{"resourceType":"CodeSystem","id":"colours","url":"http://example.org/colours","version":"%d","status":"active",
			"content":"complete","concept":[{"code":%q,"display":"A colour"}]}`, version, code)
	}
	for version, code := range []string{"red", "green", "blue"} {
		lookup := "CodeSystem/$lookup?system=http://example.org/colours&code=" + code
		if a := one.do("GET", lookup, ""); a.StatusCode != 404 || a.code() != "not-found" {
			t.Fatalf("before it is stored: %d %s", a.StatusCode, a.body)
		}
		if a := one.do("PUT", "CodeSystem/colours", body(version, code)); a.StatusCode/100 != 2 {
			t.Fatalf("%d %s", a.StatusCode, a.body)
		}
		written := time.Now()
		if a := one.do("GET", lookup, ""); a.StatusCode != 200 || !strings.Contains(string(a.body), "A colour") {
			t.Errorf("the next request: %d %s", a.StatusCode, a.body)
		}
		eventually(t, "the other instance knows "+code, func() bool { return other.do("GET", lookup, "").StatusCode == 200 })
		if took := time.Since(written); took > 2*time.Second {
			t.Errorf("known to the other after %v", took)
		}
	}
	bundle := `{"resourceType":"Bundle","type":"transaction","entry":[{"request":{"method":"DELETE","url":"CodeSystem/colours"}}]}`
	if a := one.do("POST", "", bundle); a.StatusCode != 200 {
		t.Fatalf("%d %s", a.StatusCode, a.body)
	}
	if a := one.do("GET", "CodeSystem/$lookup?system=http://example.org/colours&code=blue", ""); a.StatusCode != 404 {
		t.Errorf("deleted in a transaction: %d %s", a.StatusCode, a.body)
	}
}

// TestOperationsOverHTTP holds operations to what HTTP adds to them.
func TestOperationsOverHTTP(t *testing.T) {
	r := serve(t, postgrestest.New(t), "--validation=off")
	const expand = "ValueSet/$expand?url=http://hl7.org/fhir/ValueSet/administrative-gender"
	for _, c := range []struct {
		method, target, body string
		headers              []string
		status               int
		contains             string
	}{
		{"GET", expand + "&_format=json&_pretty=true", "", nil, 200, `"female"`},
		{"HEAD", expand, "", nil, 200, ""},
		{"POST", "ValueSet/$expand", `{"resourceType":"Parameters","parameter":[{"name":"url","valueUri":"http://hl7.org/fhir/ValueSet/administrative-gender"}]}`, nil, 200, `"female"`},
		{"POST", "ValueSet/$expand", "url=x", []string{"Content-Type: application/x-www-form-urlencoded"}, 415, "not-supported"},
		{"GET", expand, "", []string{"Accept: application/fhir+xml"}, 406, "not-supported"},
		{"PUT", "ValueSet/$expand", "{}", nil, 405, "not-supported"},
		{"GET", "Patient/$expand", "", nil, 404, "not-supported"},
		{"GET", "$nothing", "", nil, 404, "not-supported"},
		{"POST", "Patient/$validate", `{"resourceType":"Patient","active":"yes"}`, nil, 200, `"error"`},
		{"POST", "Patient/$validate", `{"resourceType":`, nil, 400, "OperationOutcome"},
		{"POST", "Binary/$validate", `{"resourceType":"Binary","contentType":"text/plain"}`, nil, 200, "All OK"},
		{"GET", "metadata", "", nil, 200, "http://hl7.org/fhir/OperationDefinition/ValueSet-expand"},
	} {
		a := r.do(c.method, c.target, c.body, c.headers...)
		if a.StatusCode != c.status || !strings.Contains(string(a.body), c.contains) {
			t.Errorf("%s %s: %d %s", c.method, c.target, a.StatusCode, a.body)
		}
		if c.status == 405 && a.Header.Get("Allow") == "" {
			t.Errorf("%s %s: no Allow", c.method, c.target)
		}
	}
}

// TestOtherTerminologyServer sends what is not held to a server on loopback.
func TestOtherTerminologyServer(t *testing.T) {
	var away atomic.Bool
	other := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		known := strings.Contains(string(body), "22298006")
		switch {
		case away.Load():
			w.WriteHeader(http.StatusBadGateway)
		case r.URL.Path == "/r4/CodeSystem/$lookup" && known:
			_, _ = io.WriteString(w, `{"resourceType":"Parameters","parameter":[{"name":"name","valueString":"SNOMED CT"},{"name":"display","valueString":"Myocardial infarction"}]}`)
		case r.URL.Path == "/r4/ValueSet/$validate-code" && strings.Contains(string(body), `"is-a"`):
			_, _ = fmt.Fprintf(w, `{"resourceType":"Parameters","parameter":[{"name":"result","valueBoolean":%t}]}`, known)
		case r.URL.Path == "/r4/ValueSet/$expand" && strings.Contains(string(body), `"resource":{"`):
			_, _ = io.WriteString(w, `{"resourceType":"ValueSet","status":"active","expansion":{"timestamp":"2026-01-01","contains":[{"system":"http://snomed.info/sct","code":"22298006"}]}}`)
		default:
			w.WriteHeader(http.StatusNotFound)
		}
	}))
	defer other.Close()
	r := serve(t, postgrestest.New(t), "--terminology-url="+other.URL+"/r4")
	const clinical = "ValueSet/$validate-code?url=http://hl7.org/fhir/ValueSet/condition-code&system=http://snomed.info/sct&code="
	for _, c := range []struct {
		target   string
		status   int
		contains string
	}{
		{clinical + "22298006", 200, `"valueBoolean":true`},
		{clinical + "1", 200, `"valueBoolean":false`},
		{"CodeSystem/$lookup?system=http://snomed.info/sct&code=22298006", 200, "Myocardial"},
		{"CodeSystem/$lookup?system=http://snomed.info/sct&code=1", 404, "not-found"},
		{"ValueSet/$expand?url=http://hl7.org/fhir/ValueSet/condition-code&count=10", 200, "22298006"},
		{"ValueSet/$expand?url=http://hl7.org/fhir/ValueSet/administrative-gender", 200, "female"},
	} {
		if a := r.do("GET", c.target, ""); a.StatusCode != c.status || !strings.Contains(string(a.body), c.contains) {
			t.Errorf("%s: %d %s", c.target, a.StatusCode, a.body)
		}
	}
	away.Store(true)
	if a := r.do("GET", clinical+"2", ""); a.StatusCode != 503 || a.code() != "transient" {
		t.Errorf("away: %d %s", a.StatusCode, a.body)
	}
	if a := r.do("GET", clinical+"22298006", ""); a.StatusCode != 200 {
		t.Errorf("what is known stays known: %d %s", a.StatusCode, a.body)
	}
	condition := `{"resourceType":"Condition","subject":{"display":"x"},"code":{"coding":[{"system":"http://snomed.info/sct","code":"3"}]}}`
	if a := r.do("POST", "Condition", condition); a.StatusCode != 201 {
		t.Errorf("a resource is refused while the server is away: %d %s", a.StatusCode, a.body)
	}
	if text := metrics(t, r); !strings.Contains(text, `starling_terminology_remote_total{outcome="answered"}`) {
		t.Error("no metrics")
	}
}

// TestWithoutOtherTerminologyServer holds what becomes of a resource whose codes another
// server would know, while that fails or stalls.
func TestWithoutOtherTerminologyServer(t *testing.T) {
	for name, handler := range map[string]http.HandlerFunc{
		"fails": func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusInternalServerError) },
		"stalls": func(_ http.ResponseWriter, r *http.Request) {
			_, _ = io.Copy(io.Discard, r.Body) // only then it is noticed that the client has gone
			<-r.Context().Done()
		},
	} {
		other := httptest.NewServer(handler)
		defer other.Close()
		url := postgrestest.New(t)
		const body = `{"resourceType":"Patient","meta":{"profile":["http://example.org/p"]},"maritalStatus":{"coding":[{"system":"http://snomed.info/sct","code":"1"}]}}`
		for policy, want := range map[string]int{"warn": 201, "fail": 503} {
			r := serve(t, url, "--terminology-url="+other.URL, "--terminology-timeout=50ms", "--terminology-away="+policy)
			for target, body := range map[string]string{
				"ValueSet/v": `{"resourceType":"ValueSet","id":"v","url":"http://example.org/v","status":"active","compose":{"include":[{"system":"http://snomed.info/sct"}]}}`,
				"StructureDefinition/p": `{"resourceType":"StructureDefinition","id":"p","url":"http://example.org/p","name":"P","status":"active","kind":"resource","abstract":false,"type":"Patient",
					"baseDefinition":"http://hl7.org/fhir/StructureDefinition/Patient","derivation":"constraint","differential":{"element":[{"id":"Patient","path":"Patient"},
					{"id":"Patient.maritalStatus","path":"Patient.maritalStatus","binding":{"strength":"required","valueSet":"http://example.org/v"}}]}}`,
			} {
				if a := r.put(target, body); a.StatusCode > 201 {
					t.Fatalf("%s: %d %s", target, a.StatusCode, a.body)
				}
			}
			a := r.do("POST", "Patient", body)
			if a.StatusCode != want || want == 503 && a.code() != "transient" {
				t.Errorf("%s, %s: %d %s", name, policy, a.StatusCode, a.body)
			}
			if a := r.do("POST", "Patient", `{"resourceType":"Patient"}`); a.StatusCode != 201 {
				t.Errorf("%s, %s: a resource without such codes: %d %s", name, policy, a.StatusCode, a.body)
			}
		}
	}
}
