package main

import (
	"net/http/httptest"
	"strings"
	"testing"
)

// Operators who ask while the database is being opened are answered as clients are.
func TestCacheStatusWhileOpening(t *testing.T) {
	answer := httptest.NewRecorder()
	(&server{}).cacheStatus(answer, httptest.NewRequest("GET", "/fhir/$cache-status", nil))
	if answer.Code != 503 || answer.Header().Get("Content-Type") != "application/fhir+json" || answer.Header().Get("Retry-After") == "" ||
		!strings.HasPrefix(answer.Body.String(), `{"resourceType":"OperationOutcome","issue":[{"severity":"error","code":"transient"`) {
		t.Errorf("%d %v %s", answer.Code, answer.Header(), answer.Body)
	}
}
