package main

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"starling/internal/postgres/postgrestest"
)

// way is what stands between two servers: it counts what passes, and can hold it
// or break it.
type way struct {
	*httptest.Server
	passed atomic.Int64
	mu     sync.RWMutex
	held   bool
}

func wayTo(t *testing.T, base string) *way {
	t.Helper()
	target, err := url.Parse(base)
	if err != nil {
		t.Fatal(err)
	}
	w := &way{}
	proxy := &httputil.ReverseProxy{Rewrite: func(r *httputil.ProxyRequest) { r.SetURL(&url.URL{Scheme: target.Scheme, Host: target.Host}) }}
	w.Server = httptest.NewServer(http.HandlerFunc(func(out http.ResponseWriter, r *http.Request) {
		w.passed.Add(1)
		w.mu.RLock()
		held := w.held
		w.mu.RUnlock()
		if held {
			select {
			case <-r.Context().Done():
			case <-time.After(20 * time.Second):
			}
			return
		}
		proxy.ServeHTTP(out, r)
	}))
	t.Cleanup(w.Close)
	return w
}

func (w *way) hold(held bool) {
	w.mu.Lock()
	w.held = held
	w.mu.Unlock()
}

// TestServerAsTerminologyServer has one server ask another one for a code system that
// only that one has: value sets, operations, writes that are checked by them, what is
// remembered, and what becomes of all that when the other does not answer.
func TestServerAsTerminologyServer(t *testing.T) {
	t.Parallel() // it waits for the other server to be asked again
	other := serve(t, postgrestest.New(t))
	other.put("CodeSystem/sct", `{"resourceType":"CodeSystem","id":"sct","url":"http://snomed.info/sct","version":"2026","name":"S","status":"active","content":"complete","caseSensitive":true,
		"hierarchyMeaning":"is-a","concept":[{"code":"1","display":"Clinical finding","concept":[{"code":"11","display":"Asthma","concept":[{"code":"111","display":"Childhood asthma"}]},{"code":"12","display":"Fever"}]},{"code":"2","display":"Procedure"}]}`)
	between := wayTo(t, other.base)
	database := postgrestest.New(t)
	const timeout = 2 * time.Second
	r := serve(t, database, "--terminology-url="+between.URL+"/fhir", "--terminology-timeout="+timeout.String())
	// The value set and the profile are known to the asking server alone.
	r.put("ValueSet/asthma", `{"resourceType":"ValueSet","id":"asthma","url":"http://example.org/asthma","status":"active","compose":{"include":[{"system":"http://snomed.info/sct","filter":[{"property":"concept","op":"is-a","value":"11"}]}]}}`)
	r.put("StructureDefinition/c", `{"resourceType":"StructureDefinition","id":"c","url":"http://example.org/c","name":"C","status":"active","kind":"resource","abstract":false,"type":"Condition",
		"baseDefinition":"http://hl7.org/fhir/StructureDefinition/Condition","derivation":"constraint","differential":{"element":[{"id":"Condition","path":"Condition"},
		{"id":"Condition.code","path":"Condition.code","binding":{"strength":"required","valueSet":"http://example.org/asthma"}}]}}`)
	condition := func(code string) string {
		return fmt.Sprintf(`{"resourceType":"Condition","meta":{"profile":["http://example.org/c"]},"subject":{"display":"x"},"code":{"coding":[{"system":"http://snomed.info/sct","code":%q}]}}`, code)
	}
	is := func(what string, a answer, status int, contains string) {
		t.Helper()
		if a.StatusCode != status || !strings.Contains(string(a.body), contains) {
			t.Errorf("%s: %d %s; want %d with %s", what, a.StatusCode, a.body, status, contains)
		}
	}
	const in = "ValueSet/$validate-code?url=http://example.org/asthma&system=http://snomed.info/sct&code="
	is("a code of the set", r.do("GET", in+"111", ""), 200, `"valueBoolean":true`)
	is("one of the system", r.do("GET", in+"12", ""), 200, `"valueBoolean":false`)
	is("one of neither", r.do("GET", in+"9", ""), 200, `"valueBoolean":false`)
	is("the set", r.do("GET", "ValueSet/asthma/$expand", ""), 200, `"Childhood asthma"`)
	is("look-up", r.do("GET", "CodeSystem/$lookup?system=http://snomed.info/sct&code=12", ""), 200, `"Fever"`)
	is("what subsumes", r.do("GET", "CodeSystem/$subsumes?system=http://snomed.info/sct&codeA=1&codeB=111", ""), 200, `"subsumes"`)
	is("a system that neither has", r.do("GET", "CodeSystem/$lookup?system=http://loinc.org&code=1-8", ""), 404, "not-found")
	is("a write that is right", r.do("POST", "Condition", condition("11")), 201, "")
	is("a write that is wrong", r.do("POST", "Condition", condition("12")), 422, "code-invalid")

	// Equal questions are asked once.
	before := between.passed.Load()
	for range 5 {
		is("again", r.do("POST", "Condition", condition("11")), 201, "")
		is("again", r.do("GET", in+"12", ""), 200, `"valueBoolean":false`)
	}
	if asked := between.passed.Load() - before; asked != 0 {
		t.Errorf("what was answered is asked %d times more", asked)
	}

	// While the other does not answer: within the time limit, and then at once, what is
	// known stays known, other codes are unknown, which refuses nothing.
	between.hold(true)
	begun := time.Now()
	is("a code not asked for before", r.do("POST", "Condition", condition("1")), 201, "")
	if took := time.Since(begun); took > 5*timeout {
		t.Errorf("a write waited %v for the other server", took)
	}
	is("an operation", r.do("GET", in+"2", ""), 503, "transient")
	is("what is remembered", r.do("POST", "Condition", condition("12")), 422, "code-invalid")
	failing := serve(t, database, "--terminology-url="+between.URL+"/fhir", "--terminology-timeout=200ms", "--terminology-away=fail")
	is("told to fail", failing.do("POST", "Condition", condition("1")), 503, "transient")
	is("told to fail, no such codes", failing.do("POST", "Patient", `{"resourceType":"Patient"}`), 201, "")

	// It is asked again when it has had its rest.
	between.hold(false)
	for end := time.Now().Add(30 * time.Second); r.do("GET", in+"2", "").StatusCode != 200; time.Sleep(100 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatal("the other server is not asked any more")
		}
	}
	is("back", r.do("POST", "Condition", condition("1")), 422, "code-invalid")
	is("back, told to fail", failing.do("POST", "Patient", `{"resourceType":"Patient"}`), 201, "")
}
