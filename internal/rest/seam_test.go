package rest

import (
	"bytes"
	"compress/gzip"
	"context"
	"encoding/json"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"starling/internal/fhir"
	"starling/internal/interaction"
)

// seam is the interactions as these tests need them: Route knows a few places,
// Serve records what it was asked and answers as told. The real ones are tested
// with the whole program in cmd/fhir-server.
type seam struct {
	serve func(ctx context.Context, request *interaction.Request) (*interaction.Response, error)
	got   *interaction.Request
}

func (s *seam) Route(method, path, rawQuery string) (*interaction.Request, error) {
	request := &interaction.Request{RawQuery: rawQuery}
	request.Query, _ = url.ParseQuery(rawQuery)
	parts := strings.Split(strings.Trim(path, "/"), "/")
	request.Type = fhir.ResourceType(parts[0])
	if len(parts) > 1 {
		request.ID = parts[1]
	}
	places := map[string]interaction.Name{
		"GET /": interaction.SearchSystem, "POST /": interaction.Batch,
		"GET T": interaction.SearchType, "POST T": interaction.Create, "POST T/_search": interaction.SearchType,
		"GET T/1": interaction.Read, "PUT T/1": interaction.Update, "DELETE T/1": interaction.Delete, "PATCH T/1": interaction.Patch,
	}
	place := "T"
	switch {
	case path == "":
		place = "/"
	case len(parts) == 2 && parts[1] == "_search":
		place = "T/_search"
	case len(parts) == 2:
		place = "T/1"
	case len(parts) > 2:
		return nil, fhir.NewError(fhir.KindNotFound, fhir.IssueNotFound, "nothing there")
	}
	if name, ok := places[method+" "+place]; ok {
		request.Interaction = name
		return request, nil
	}
	failure := fhir.NewError(fhir.KindMethodNotAllowed, fhir.IssueNotSupported, "not here")
	for _, m := range []string{"GET", "POST", "PUT", "PATCH", "DELETE"} {
		if _, ok := places[m+" "+place]; ok {
			failure.Allow = append(failure.Allow, m)
		}
	}
	return nil, failure
}

func (s *seam) Serve(ctx context.Context, request *interaction.Request) (*interaction.Response, error) {
	s.got = request
	if s.serve != nil {
		return s.serve(ctx, request)
	}
	return patientResponse(), nil
}

var updated = time.Date(2026, 3, 4, 5, 6, 7, 891e6, time.UTC)

func patientResponse() *interaction.Response {
	return &interaction.Response{
		Status: interaction.StatusOK, VersionID: 3, LastUpdated: updated,
		Resource: &fhir.Resource{
			Key: fhir.Key{Type: "Patient", ID: "1"}, VersionID: 3, LastUpdated: updated, Method: fhir.MethodPut,
			Content: fhir.Content{Body: []byte(`,"multipleBirthInteger":2,"extension":[{"url":"http://x","valueDecimal":1.10}]`)},
		},
	}
}

func binaryResponse(contentType, data string) *interaction.Response {
	response := patientResponse()
	response.Resource.Type = "Binary"
	response.Resource.Body = []byte(`,"contentType":"` + contentType + `","securityContext":{"reference":"Patient/9"},"data":"` + data + `"`)
	return response
}

// harness serves a seam by the handler under test.
type harness struct {
	*seam
	handler http.Handler
	log     *bytes.Buffer
	health  *Health
	metrics *prometheus.Registry
}

func newHarness(t testing.TB, change ...func(*Config)) *harness {
	t.Helper()
	h := &harness{seam: &seam{}, log: &bytes.Buffer{}, health: &Health{}, metrics: prometheus.NewRegistry()}
	config := Config{
		Service: h.seam, MaxBody: 1000, Bodies: NewBodies(1<<20, nil), Timeout: time.Minute, Metrics: NewMetrics(h.metrics), Health: h.health,
		Proxies: Proxies{mustPrefix("192.0.2.0/24")},
		Logger:  slog.New(slog.NewTextHandler(h.log, nil)),
	}
	for _, c := range change {
		c(&config)
	}
	h.handler = New(config)
	return h
}

// do sends a request; headers are "Name: value".
func (h *harness) do(method, target, body string, headers ...string) *httptest.ResponseRecorder {
	var reader io.Reader
	if body != "" {
		reader = strings.NewReader(body)
	}
	request := httptest.NewRequest(method, "http://example.org"+target, reader)
	for _, header := range headers {
		name, value, _ := strings.Cut(header, ": ")
		if name == "Host" {
			request.Host = value
			continue
		}
		request.Header.Add(name, value)
	}
	recorder := httptest.NewRecorder()
	h.handler.ServeHTTP(recorder, request)
	return recorder
}

// issue gives status, code and diagnostics of an answer that must be an
// OperationOutcome.
func issue(t *testing.T, answer *httptest.ResponseRecorder) (code, diagnostics string) {
	t.Helper()
	var outcome struct {
		ResourceType string
		Issue        []struct{ Severity, Code, Diagnostics string }
	}
	if err := json.Unmarshal(answer.Body.Bytes(), &outcome); err != nil {
		t.Fatalf("%v in %q", err, answer.Body)
	}
	if outcome.ResourceType != "OperationOutcome" || len(outcome.Issue) == 0 {
		t.Fatalf("no outcome: %s", answer.Body)
	}
	return outcome.Issue[0].Code, outcome.Issue[0].Diagnostics
}

func zipped(text string) string {
	var buffer bytes.Buffer
	writer := gzip.NewWriter(&buffer)
	_, _ = writer.Write([]byte(text)) // a buffer takes everything
	_ = writer.Close()
	return buffer.String()
}

// handlerServes has interactions carried out by that and answered as always.
func (h *harness) handlerServes(carryOut func(request *interaction.Request)) {
	h.serve = func(_ context.Context, request *interaction.Request) (*interaction.Response, error) {
		carryOut(request)
		return patientResponse(), nil
	}
}
