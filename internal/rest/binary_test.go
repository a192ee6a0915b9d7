package rest

import (
	"context"
	"testing"

	"starling/internal/interaction"
)

func bodyOf(text string) func(context.Context, *interaction.Request) (*interaction.Response, error) {
	return func(context.Context, *interaction.Request) (*interaction.Response, error) {
		return &interaction.Response{Status: interaction.StatusOK, Body: []byte(text)}, nil
	}
}

func TestBinaryIsReadRaw(t *testing.T) {
	h := newHarness(t)
	h.serve = func(context.Context, *interaction.Request) (*interaction.Response, error) {
		return binaryResponse("text/plain", `aGVs bG8=\n`), nil
	}
	for accept, raw := range map[string]bool{
		"": true, "*/*": true, "text/plain": true, "image/png": true, "text/html, */*;q=0.5": true,
		"image/png, application/fhir+json;q=0.5": true,
		"application/fhir+json":                  false, "application/json": false, "application/fhir+json, */*;q=0.1": false,
	} {
		answer := h.do("GET", "/fhir/Binary/1", "", "Accept: "+accept)
		isRaw := answer.Header().Get("Content-Type") == "text/plain" && answer.Body.String() == "hello"
		if answer.Code != 200 || isRaw != raw {
			t.Errorf("Accept %q: %d %v %q", accept, answer.Code, answer.Header()["Content-Type"], answer.Body)
		}
		if answer.Header().Get("ETag") != `W/"3"` {
			t.Errorf("Accept %q: no ETag", accept)
		}
		if raw && (answer.Header().Get("X-Security-Context") != "Patient/9" || answer.Header().Get("X-Content-Type-Options") != "nosniff") {
			t.Errorf("Accept %q: %v", accept, answer.Header())
		}
	}
	if got := h.do("GET", "/fhir/Binary/1?_format=json", "").Header().Get("Content-Type"); got != typeFHIRJSON {
		t.Errorf("_format=json gave %q", got)
	}
}

func TestBinaryContentTypeIsNoHeaderInjection(t *testing.T) {
	for stored, want := range map[string]string{
		`text/plain\r\nSet-Cookie: a=b`: typeUnknown, "": typeUnknown, "nonsense": typeUnknown,
		"text/plain; charset=utf-8": "text/plain; charset=utf-8",
	} {
		h := newHarness(t)
		h.serve = func(context.Context, *interaction.Request) (*interaction.Response, error) {
			return binaryResponse(stored, "aGVsbG8="), nil
		}
		answer := h.do("GET", "/fhir/Binary/1", "")
		if got := answer.Header().Get("Content-Type"); got != want || answer.Header().Get("Set-Cookie") != "" {
			t.Errorf("%q sent as %q", stored, got)
		}
	}
}

func TestBinaryIsWrittenRaw(t *testing.T) {
	h := newHarness(t)
	for _, c := range []struct {
		contentType, body string
		raw               bool
	}{
		{"application/fhir+json", `{"resourceType":"Binary"}`, false},
		{"application/fhir+json", `{"resourceType":"Patient"}`, false}, // refused later, as no Binary
		{"application/json", `{"resourceType":"Binary","contentType":"a/b"}`, false},
		{"application/json", `{"resourceType":"Patient"}`, true},
		{"application/json; charset=utf-8", `{"a":1}`, true},
		{"application/json", `not json`, true},
		{"text/plain", "hello", true},
		{"application/pdf", "%PDF", true},
		{"application/xml", "<a/>", true},
		{"application/x-www-form-urlencoded", "a=b", true},
		{"text/plain; charset=iso-8859-1", "\xe9", true},
	} {
		for _, target := range []struct{ method, path string }{{"POST", "/fhir/Binary"}, {"PUT", "/fhir/Binary/1"}} {
			answer := h.do(target.method, target.path, c.body, "Content-Type: "+c.contentType, "X-Security-Context: Patient/9")
			if answer.Code != 200 || string(h.got.Body) != c.body {
				t.Errorf("%s %q: %d", target.method, c.contentType, answer.Code)
				continue
			}
			want, context := "", ""
			if c.raw {
				want, context = c.contentType, "Patient/9"
			}
			if h.got.ContentType != want || h.got.SecurityContext != context {
				t.Errorf("%s %q %q: raw as %q %q", target.method, c.contentType, c.body, h.got.ContentType, h.got.SecurityContext)
			}
		}
	}
}
