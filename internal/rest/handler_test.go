package rest

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
)

// FuzzHandler holds that any request at all gets an answer: one of success from
// the seam, or an OperationOutcome.
func FuzzHandler(f *testing.F) {
	f.Add("GET", "/fhir/Patient/1", "_format=json&_pretty=true", "application/json", "", "", "")
	f.Add("POST", "/fhir/", "", "*/*", "application/fhir+json", "gzip", "{}")
	f.Add("PUT", "/fhir/Binary/1", "", "text/html", "text/plain;charset=x", "", "hello")
	f.Add("POST", "/fhir/Patient/_search", "_count=1", "", "application/x-www-form-urlencoded", "", "a=%zz&_format=xml")
	f.Add("OPTIONS", "/fhir/a/%2F/..", "%", `"`, ";", "br", "\x00")
	h := newHarness(f)
	f.Fuzz(func(t *testing.T, method, path, query, accept, contentType, encoding, body string) {
		request := &http.Request{
			Method: method, URL: &url.URL{Path: path, RawQuery: query}, Host: "example.org", RemoteAddr: "192.0.2.1:1",
			Header: http.Header{"Accept": {accept}, "Content-Type": {contentType}, "Content-Encoding": {encoding}},
			Body:   readCloser{strings.NewReader(body)}, ContentLength: int64(len(body)),
		}
		answer := httptest.NewRecorder()
		h.log.Reset()
		h.handler.ServeHTTP(answer, request)
		if answer.Code >= 500 {
			t.Fatalf("%d %s\n%s", answer.Code, answer.Body, h.log)
		}
		if answer.Code < 400 || method == http.MethodHead {
			return
		}
		var outcome struct{ ResourceType string }
		if err := json.Unmarshal(answer.Body.Bytes(), &outcome); err != nil || outcome.ResourceType != "OperationOutcome" {
			t.Fatalf("%d without an outcome: %v %q", answer.Code, err, answer.Body)
		}
	})
}
