package main

import (
	"fmt"
	"strings"
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
