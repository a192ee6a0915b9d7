package rest

import (
	"context"
	"errors"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
)

func get(handler http.Handler, path string) *httptest.ResponseRecorder {
	recorder := httptest.NewRecorder()
	handler.ServeHTTP(recorder, httptest.NewRequest(http.MethodGet, path, nil))
	return recorder
}

func TestHealth(t *testing.T) {
	h := newHarness(t)
	var failure error
	h.health.Check("database", func(context.Context) error { return failure })
	for _, handler := range []http.Handler{h.handler, Admin(h.metrics, h.health, http.NotFoundHandler())} {
		failure = nil
		if answer := get(handler, "/readyz"); answer.Code != 200 || answer.Body.String() != "database: ok\n" {
			t.Errorf("ready: %d %q", answer.Code, answer.Body)
		}
		failure = errors.New("secret")
		if answer := get(handler, "/readyz"); answer.Code != 503 || answer.Body.String() != "database: failed\n" {
			t.Errorf("not ready: %d %q", answer.Code, answer.Body)
		}
		if answer := get(handler, "/livez"); answer.Code != 200 {
			t.Errorf("alive: %d", answer.Code)
		}
	}
	failure = nil
	h.health.Drain()
	if answer := get(h.handler, "/readyz"); answer.Code != 503 || answer.Body.String() != "draining\n" {
		t.Errorf("draining: %d %q", answer.Code, answer.Body)
	}
	if answer := get(h.handler, "/livez"); answer.Code != 200 {
		t.Errorf("draining, alive: %d", answer.Code)
	}
	if answer := get(h.handler, "/fhir/Patient/1"); answer.Code != 200 || answer.Header().Get("Connection") != "close" {
		t.Errorf("draining, but a request came: %d %v", answer.Code, answer.Header())
	}
}

func TestMetrics(t *testing.T) {
	h := newHarness(t)
	h.do("GET", "/fhir/Patient/1", "")
	h.do("PUT", "/fhir/Patient/1", `{"resourceType":"Patient"}`)
	h.do("GET", "/fhir/made/up/things", "")
	h.do("GET", "/fhir/Patient/1", "", "Accept: application/fhir+xml")
	text := get(Admin(h.metrics, h.health, http.NotFoundHandler()), "/metrics").Body.String()
	for _, want := range []string{
		`starling_requests_total{interaction="read",status="2xx",type="Patient"} 1`,
		`starling_requests_total{interaction="update",status="2xx",type="Patient"} 1`,
		`starling_requests_total{interaction="read",status="4xx",type="Patient"} 1`,
		`starling_requests_total{interaction="none",status="4xx",type=""} 1`,
		`starling_request_duration_seconds_count{interaction="read"} 2`,
		`starling_request_body_bytes_sum 26`,
		`starling_response_body_bytes_count 4`,
		`starling_requests_in_flight 0`,
	} {
		if !strings.Contains(text, want+"\n") {
			t.Errorf("no %s in\n%s", want, text)
		}
	}
	if strings.Contains(text, "made") {
		t.Error("a label holds what a client made up")
	}
}

func TestAccessLogHasNoQuery(t *testing.T) {
	h := newHarness(t, func(c *Config) { c.AccessLog = true })
	h.do("GET", "/fhir/Patient?name=Hara", "", "X-Request-Id: r1")
	line := h.log.String()
	if !strings.Contains(line, "requestId=r1") || !strings.Contains(line, "interaction=search-type") || !strings.Contains(line, "status=200") {
		t.Errorf("%s", line)
	}
	if strings.Contains(line, "Hara") {
		t.Errorf("a patient's name in the log: %s", line)
	}
}
