package rest

import (
	"context"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"starling/internal/fhir"
	"starling/internal/interaction"
)

const patientJSON = `{"resourceType":"Patient","id":"1","meta":{"versionId":"3","lastUpdated":"2026-03-04T05:06:07.891Z"},` +
	`"multipleBirthInteger":2,"extension":[{"url":"http://x","valueDecimal":1.10}]}`

func TestReadHeaders(t *testing.T) {
	h := newHarness(t)
	answer := h.do("GET", "/fhir/Patient/1", "")
	if answer.Body.String() != patientJSON {
		t.Errorf("body %s", answer.Body)
	}
	for name, want := range map[string]string{
		"ETag": `W/"3"`, "Last-Modified": "Wed, 04 Mar 2026 05:06:07 GMT", "Content-Length": "179",
		"Content-Location": "http://example.org/fhir/Patient/1/_history/3", "Location": "",
		"Cache-Control": "private, no-cache",
	} {
		if got := answer.Header().Get(name); got != want {
			t.Errorf("%s: %q, want %q", name, got, want)
		}
	}
	if answer.Header().Get("X-Request-Id") == "" {
		t.Error("no request id was made")
	}
}

func TestCreateHasAbsoluteLocation(t *testing.T) {
	h := newHarness(t)
	h.serve = func(context.Context, *interaction.Request) (*interaction.Response, error) {
		response := patientResponse()
		response.Status, response.Location = interaction.StatusCreated, "Patient/1/_history/3"
		return response, nil
	}
	answer := h.do("POST", "/fhir/Patient", "{}")
	const want = "http://example.org/fhir/Patient/1/_history/3"
	if answer.Code != 201 || answer.Header().Get("Location") != want || answer.Header().Get("Content-Location") != want {
		t.Errorf("%d %v", answer.Code, answer.Header())
	}
}

func TestHeadIsGetWithoutBody(t *testing.T) {
	h := newHarness(t)
	server := httptest.NewServer(h.handler)
	defer server.Close()
	answer, err := http.Head(server.URL + "/fhir/Patient/1")
	if err != nil {
		t.Fatal(err)
	}
	body, _ := io.ReadAll(answer.Body)
	answer.Body.Close()
	if answer.StatusCode != 200 || len(body) != 0 || answer.ContentLength != 179 || answer.Header.Get("ETag") != `W/"3"` {
		t.Errorf("%d %d %v", answer.StatusCode, len(body), answer.Header)
	}
	if h.got.Interaction != interaction.Read {
		t.Errorf("routed to %s", h.got.Interaction)
	}
}

func TestPreferReturn(t *testing.T) {
	h := newHarness(t)
	h.serve = func(context.Context, *interaction.Request) (*interaction.Response, error) {
		response := patientResponse()
		response.Location = "Patient/1/_history/3"
		response.Issues = []fhir.Issue{{Severity: fhir.SeverityWarning, Code: fhir.IssueInvariant, Diagnostics: "a warning"}}
		return response, nil
	}
	for prefer, want := range map[string]string{
		"":                      patientJSON,
		"return=representation": patientJSON,
		"return=minimal":        "",
		"return=OperationOutcome": `{"resourceType":"OperationOutcome","issue":[{"severity":"warning",` +
			`"code":"invariant","diagnostics":"a warning"}]}`,
		"handling=strict; return=minimal": "",
		`respond-async, return="minimal"`: "",
		"return=unheard-of":               patientJSON,
		"RETURN=Minimal":                  "",
	} {
		answer := h.do("PUT", "/fhir/Patient/1", "{}", "Prefer: "+prefer)
		if got := answer.Body.String(); got != want {
			t.Errorf("Prefer %q: %s", prefer, got)
		}
		if answer.Header().Get("ETag") != `W/"3"` || answer.Header().Get("Location") == "" {
			t.Errorf("Prefer %q: headers %v", prefer, answer.Header())
		}
	}
	// A read shows the resource whatever is preferred.
	if got := h.do("GET", "/fhir/Patient/1", "", "Prefer: return=minimal").Body.String(); got != patientJSON {
		t.Errorf("read gave %q", got)
	}
	h.do("GET", "/fhir/Patient", "", "Prefer: handling=strict")
	if h.got.Handling != interaction.HandlingStrict || h.got.Return != "" {
		t.Errorf("handling %q return %q", h.got.Handling, h.got.Return)
	}
	h.do("GET", "/fhir/Patient", "")
	if h.got.Handling != interaction.HandlingLenient {
		t.Errorf("default handling %q", h.got.Handling)
	}
}

func TestConditionsArePassedOn(t *testing.T) {
	h := newHarness(t)
	h.do("PUT", "/fhir/Patient/1", "{}", `If-Match: W/"3"`, `If-None-Match: *`, "If-None-Exist: identifier=a|b",
		"If-Modified-Since: Wed, 04 Mar 2026 05:06:07 GMT")
	g := h.got
	if g.IfMatch != `W/"3"` || g.IfNoneMatch != "*" || g.IfNoneExist != "identifier=a|b" || g.Base != "http://example.org/fhir" {
		t.Errorf("%+v", g)
	}
	if !g.IfModifiedSince.Equal(updated.Truncate(time.Second)) {
		t.Errorf("since %v", g.IfModifiedSince)
	}
}

func TestListsMayTakeSeveralLines(t *testing.T) {
	h := newHarness(t)
	answer := h.do("GET", "/fhir/Patient/1", "", "Accept: text/html", "Accept: application/json", `If-None-Match: W/"1"`, `If-None-Match: W/"2"`)
	if answer.Code != 200 || answer.Header().Get("Content-Type") != typeJSON || h.got.IfNoneMatch != `W/"1", W/"2"` {
		t.Errorf("%d %q %q", answer.Code, answer.Header().Get("Content-Type"), h.got.IfNoneMatch)
	}
}

func TestNotModifiedHasNoBody(t *testing.T) {
	h := newHarness(t)
	h.serve = func(context.Context, *interaction.Request) (*interaction.Response, error) {
		return &interaction.Response{Status: interaction.StatusNotModified, VersionID: 3, LastUpdated: updated}, nil
	}
	answer := h.do("GET", "/fhir/Patient/1", "", `If-None-Match: W/"3"`)
	if answer.Code != 304 || answer.Body.Len() != 0 || answer.Header().Get("ETag") != `W/"3"` || answer.Header().Get("Content-Length") != "" {
		t.Errorf("%d %v", answer.Code, answer.Header())
	}
}

func TestPrettyKeepsNumbers(t *testing.T) {
	h := newHarness(t)
	body := h.do("GET", "/fhir/Patient/1?_pretty=true", "").Body.String()
	if !strings.Contains(body, "\n  \"id\": \"1\"") || !strings.Contains(body, `"valueDecimal": 1.10`) {
		t.Errorf("%s", body)
	}
	if body := h.do("GET", "/fhir/Patient/1?_pretty=false", "").Body.String(); body != patientJSON {
		t.Errorf("%s", body)
	}
	if body := h.do("GET", "/fhir/a/b/c?_pretty=true", "").Body.String(); !strings.Contains(body, "\n") {
		t.Errorf("an outcome is not indented: %s", body)
	}
}

func TestFailures(t *testing.T) {
	secret := errors.New(`pq: relation "secret" at 10.0.0.1`)
	for _, c := range []struct {
		err    error
		status int
		code   string
	}{
		{fhir.NewError(fhir.KindInvalid, fhir.IssueStructure, "x"), 400, "structure"},
		{fhir.NewError(fhir.KindUnprocessable, fhir.IssueInvariant, "x"), 422, "invariant"},
		{fhir.NewError(fhir.KindNotFound, fhir.IssueNotFound, "x"), 404, "not-found"},
		{fhir.NewError(fhir.KindConflict, fhir.IssueConflict, "x"), 409, "conflict"},
		{fhir.NewError(fhir.KindPreconditionFailed, fhir.IssueMultipleMatches, "x"), 412, "multiple-matches"},
		{fhir.NewError(fhir.KindTooLarge, fhir.IssueTooLong, "x"), 413, "too-long"},
		{fhir.NewError(fhir.KindThrottled, fhir.IssueThrottled, "x"), 429, "throttled"},
		{fhir.NewError(fhir.KindUnavailable, fhir.IssueTransient, "x").Because(secret), 503, "transient"},
		{fhir.NewError(fhir.KindPreparing, fhir.IssueIncomplete, "x"), 503, "incomplete"},
		{fhir.NewError(fhir.KindInternal, fhir.IssueException, "x").Because(secret), 500, "exception"},
		{&fhir.Error{Kind: fhir.KindConflict}, 500, "exception"},
		{secret, 500, "exception"},
	} {
		h := newHarness(t)
		h.serve = func(context.Context, *interaction.Request) (*interaction.Response, error) { return nil, c.err }
		answer := h.do("GET", "/fhir/Patient/1", "", "X-Request-Id: request-7")
		code, _ := issue(t, answer)
		if answer.Code != c.status || code != c.code {
			t.Errorf("%v: %d %s", c.err, answer.Code, code)
		}
		if strings.Contains(answer.Body.String(), "secret") {
			t.Errorf("internal text in %s", answer.Body)
		}
		if retry := answer.Header().Get("Retry-After"); (retry != "") != (c.status == 429 || c.status == 503) {
			t.Errorf("%v: Retry-After %q", c.err, retry)
		}
		if preparing := c.code == "incomplete"; preparing != (c.status >= 500 && !strings.Contains(h.log.String(), "level=ERROR")) {
			t.Errorf("%v: log %s", c.err, h.log)
		}
		if c.status >= 500 && errors.Is(c.err, secret) && (!strings.Contains(h.log.String(), "secret") || !strings.Contains(h.log.String(), "request-7")) {
			t.Errorf("cause not logged: %s", h.log)
		}
	}
}

func TestUnknownFailureNamesItsRequest(t *testing.T) {
	h := newHarness(t)
	h.serve = func(context.Context, *interaction.Request) (*interaction.Response, error) {
		panic("at the secret place")
	}
	answer := h.do("GET", "/fhir/Patient/1", "", "X-Request-Id: request-7")
	code, diagnostics := issue(t, answer)
	if answer.Code != 500 || code != "exception" || !strings.Contains(diagnostics, "request-7") || strings.Contains(diagnostics, "secret") {
		t.Errorf("%d %s %q", answer.Code, code, diagnostics)
	}
	if !strings.Contains(h.log.String(), "secret place") || !strings.Contains(h.log.String(), "answer_test.go") {
		t.Errorf("stack not logged: %s", h.log)
	}
	if answer := h.do("GET", "/fhir/a/b/c", ""); answer.Code != 404 {
		t.Errorf("after the panic: %d", answer.Code)
	}
}

func TestGoneCarriesTheVersion(t *testing.T) {
	h := newHarness(t)
	h.serve = func(context.Context, *interaction.Request) (*interaction.Response, error) {
		failure := fhir.NewError(fhir.KindGone, fhir.IssueDeleted, "deleted")
		failure.Resource = &fhir.Resource{VersionID: 4, LastUpdated: updated, Method: fhir.MethodDelete}
		return nil, failure
	}
	answer := h.do("GET", "/fhir/Patient/1", "")
	if code, _ := issue(t, answer); answer.Code != 410 || code != "deleted" || answer.Header().Get("ETag") != `W/"4"` {
		t.Errorf("%d %v", answer.Code, answer.Header())
	}
}

func TestTimeLimit(t *testing.T) {
	h := newHarness(t, func(c *Config) { c.Timeout = time.Millisecond })
	h.serve = func(ctx context.Context, _ *interaction.Request) (*interaction.Response, error) {
		<-ctx.Done()
		return nil, ctx.Err()
	}
	answer := h.do("GET", "/fhir/Patient/1", "")
	if code, _ := issue(t, answer); answer.Code != 503 || code != "timeout" {
		t.Errorf("%d %s", answer.Code, answer.Body)
	}
}

func TestClientThatHangsUpIsNoFailure(t *testing.T) {
	h := newHarness(t)
	asked := make(chan struct{})
	h.serve = func(ctx context.Context, _ *interaction.Request) (*interaction.Response, error) {
		close(asked)
		<-ctx.Done()
		return nil, fhir.NewError(fhir.KindUnavailable, fhir.IssueTransient, "x").Because(ctx.Err())
	}
	ctx, hangUp := context.WithCancel(context.Background())
	go func() { <-asked; hangUp() }()
	recorder := httptest.NewRecorder()
	h.handler.ServeHTTP(recorder, httptest.NewRequest("GET", "/fhir/Patient/1", nil).WithContext(ctx))
	text := get(Admin(h.metrics, h.health, http.NotFoundHandler()), "/metrics").Body.String()
	if !strings.Contains(text, `starling_requests_total{interaction="read",status="4xx",type="Patient"} 1`) || h.log.Len() > 0 {
		t.Errorf("counted or logged as a failure of the server: %d %s", recorder.Code, h.log)
	}
}

func TestMethodNotAllowedListsMethods(t *testing.T) {
	h := newHarness(t)
	answer := h.do("PATCH", "/fhir/Patient", "[]")
	if code, _ := issue(t, answer); answer.Code != 405 || code != "not-supported" || answer.Header().Get("Allow") != "GET, POST, OPTIONS" {
		t.Errorf("%d %v", answer.Code, answer.Header())
	}
	answer = h.do("OPTIONS", "/fhir/Patient", "")
	if answer.Code != 204 || answer.Header().Get("Allow") != "GET, POST, OPTIONS" {
		t.Errorf("OPTIONS: %d %v", answer.Code, answer.Header())
	}
	if answer := h.do("OPTIONS", "/fhir/a/b/c", ""); answer.Code != 404 {
		t.Errorf("OPTIONS of nothing: %d", answer.Code)
	}
}

func TestBaseIsNeverRedirected(t *testing.T) {
	h := newHarness(t)
	for _, target := range []string{"/fhir", "/fhir/", "/fhir?_format=json", "/fhir/?_format=json"} {
		h.got = nil
		answer := h.do("POST", target, `{"resourceType":"Bundle"}`)
		if answer.Code != 200 || h.got == nil || h.got.Interaction != interaction.Batch {
			t.Errorf("%s: %d", target, answer.Code)
		}
	}
	for _, target := range []string{"/", "/fhirx", "/fhirx/Patient/1", "/favicon.ico"} {
		answer := h.do("GET", target, "")
		if code, diagnostics := issue(t, answer); answer.Code != 404 || code != "not-found" || !strings.Contains(diagnostics, "/fhir") {
			t.Errorf("%s: %d", target, answer.Code)
		}
	}
}
