package rest

import (
	"net/http"
	"net/netip"
	"strings"
	"testing"
	"time"
)

func mustPrefix(text string) netip.Prefix { return netip.MustParsePrefix(text) }

func TestNegotiate(t *testing.T) {
	const browser = "text/html,application/xhtml+xml,application/xml;q=0.9,image/avif,image/webp,*/*;q=0.8"
	for _, c := range []struct {
		accept, query string
		want          string // "" for 406
		fhir          bool
	}{
		{"", "", typeFHIRJSON, false},
		{"*/*", "", typeFHIRJSON, false},
		{browser, "", typeFHIRJSON, false},
		{"application/json", "", typeJSON, true},
		{"application/fhir+json", "", typeFHIRJSON, true},
		{"APPLICATION/JSON", "", typeJSON, true},
		{"text/json", "", typeTextJSON, true},
		{"application/*", "", typeFHIRJSON, false},
		{"text/*", "", typeTextJSON, false},
		{"application/json, text/plain, */*", "", typeJSON, true},
		{"application/json;q=0.5, application/fhir+json;q=0.9", "", typeFHIRJSON, true},
		{"application/json;q=0.9, application/fhir+json;q=0.5", "", typeJSON, true},
		{"application/fhir+json;q=0, */*", "", typeJSON, false},
		{"application/fhir+xml, application/fhir+json;q=0.1", "", typeFHIRJSON, false},
		{"application/fhir+xml;q=0.9, */*;q=0.1", "", typeFHIRJSON, false},
		{"application/fhir+json; fhirVersion=4.0", "", typeFHIRJSON, true},
		{`application/fhir+json; fhirVersion="4.0"; charset=utf-8`, "", typeFHIRJSON, true},
		{"application/fhir+json; fhirVersion=3.0", "", "", false},
		{"application/fhir+json; fhirVersion=5.0, application/json;q=0.1", "", typeJSON, false},
		{"application/fhir+xml", "", "", false},
		{"text/turtle", "", "", false},
		{"image/png", "", "", false},
		{"application/json;q=0", "", "", false},
		{"nonsense", "", "", false},

		{"", "_format=json", typeFHIRJSON, true},
		{"application/fhir+xml", "_format=json", typeFHIRJSON, true},
		{"", "_format=application/json", typeJSON, true},
		{"", "_format=application%2Fjson", typeJSON, true},
		{"", "_format=application/fhir+json", typeFHIRJSON, true},
		{"", "_format=application/fhir%2Bjson", typeFHIRJSON, true},
		{"", "_format=application/fhir%2Bjson%3BfhirVersion%3D4.0", typeFHIRJSON, true},
		{"", "_format=application/fhir%2Bjson%3BfhirVersion%3D3.0", "", false},
		{"application/json", "_format=xml", "", false},
		{"application/json", "_format=ttl", "", false},
		{"application/json", "_format=html", "", false},
		{"application/json", "_format=", typeJSON, true},
		{"application/json", "name=_format", typeJSON, true},
	} {
		got, err := negotiate(c.accept, c.query)
		if c.want == "" {
			if err == nil {
				t.Errorf("Accept %q, query %q: accepted as %q", c.accept, c.query, got.ContentType)
			}
			continue
		}
		if err != nil || got.ContentType != c.want || got.FHIR != c.fhir {
			t.Errorf("Accept %q, query %q: %+v, %v; want %q, FHIR %v", c.accept, c.query, got, err, c.want, c.fhir)
		}
	}
}

func TestAnswerTypeFollowsNegotiation(t *testing.T) {
	h := newHarness(t)
	for accept, want := range map[string]string{"application/json": typeJSON, "application/fhir+json": typeFHIRJSON, "*/*": typeFHIRJSON} {
		answer := h.do("GET", "/fhir/Patient/1", "", "Accept: "+accept)
		if got := answer.Header().Get("Content-Type"); got != want || answer.Code != 200 {
			t.Errorf("Accept %q: %d %q", accept, answer.Code, got)
		}
	}
	// Errors follow it, too.
	if got := h.do("GET", "/fhir/a/b/c", "", "Accept: application/json").Header().Get("Content-Type"); got != typeJSON {
		t.Errorf("error as %q", got)
	}
}

func TestXMLAndTurtleAreRefusedBySayingSo(t *testing.T) {
	h := newHarness(t)
	for _, c := range []struct {
		method, target string
		header         string
		status         int
		says           string
	}{
		{"GET", "/fhir/Patient/1", "Accept: application/fhir+xml", 406, "XML"},
		{"GET", "/fhir/Patient/1", "Accept: text/turtle", 406, "Turtle"},
		{"GET", "/fhir/Patient/1?_format=xml", "Accept: application/json", 406, "XML"},
		{"GET", "/fhir/Patient/1", "Accept: application/fhir+json;fhirVersion=3.0", 406, "4.0"},
		{"POST", "/fhir/Patient", "Content-Type: application/fhir+xml", 415, "XML"},
		{"PUT", "/fhir/Patient/1", "Content-Type: text/turtle", 415, "Turtle"},
		{"PUT", "/fhir/Patient/1", "Content-Type: text/plain", 415, "application/fhir+json"},
		{"PUT", "/fhir/Patient/1?_format=json", "Content-Type: application/xml", 415, "XML"},
		{"POST", "/fhir/Patient", "Content-Type: application/json; charset=iso-8859-1", 415, "utf-8"},
		{"POST", "/fhir/Patient", "Content-Type: application/fhir+json; fhirVersion=3.0", 415, "4.0"},
		{"POST", "/fhir/Patient/_search", "Content-Type: application/json", 415, "x-www-form-urlencoded"},
		{"POST", "/fhir/", "Content-Type: application/fhir+xml", 415, "XML"},
		{"POST", "/fhir/Binary", "Content-Type: application/fhir+xml", 415, "XML"},
		{"GET", "/fhir/Binary/1", "Accept: application/fhir+xml", 406, "XML"},
	} {
		h.got = nil
		answer := h.do(c.method, c.target, "<Patient/>", c.header)
		code, diagnostics := issue(t, answer)
		if answer.Code != c.status || code != "not-supported" || !strings.Contains(diagnostics, c.says) {
			t.Errorf("%s %s %s: %d %s %q", c.method, c.target, c.header, answer.Code, code, diagnostics)
		}
		if h.got != nil {
			t.Errorf("%s %s %s: carried out nevertheless", c.method, c.target, c.header)
		}
	}
}

func TestContentTypesOfJSONAreTaken(t *testing.T) {
	h := newHarness(t)
	for _, contentType := range []string{
		"application/fhir+json", "application/json", "text/json", "application/json; charset=utf-8",
		`application/fhir+json;charset="UTF-8"; fhirVersion=4.0`, "",
	} {
		h.got = nil
		answer := h.do("POST", "/fhir/Patient", `{"resourceType":"Patient"}`, "Content-Type: "+contentType)
		if answer.Code != http.StatusOK || h.got == nil || string(h.got.Body) != `{"resourceType":"Patient"}` || h.got.ContentType != "" {
			t.Errorf("Content-Type %q: %d %s", contentType, answer.Code, answer.Body)
		}
	}
}

// TestLongHeadersAreCheap holds that headers of the greatest length cost no more
// than their reading.
func TestLongHeadersAreCheap(t *testing.T) {
	started := time.Now()
	for _, header := range []string{
		strings.Repeat("*/*,", 16000), strings.Repeat("application/json;q=0,", 3000), strings.Repeat(",", 64000), strings.Repeat(`"\`, 30000),
	} {
		_, _ = negotiate(header, "") // which it is does not matter here
		takesGzip([]string{header})
		preferences([]string{header})
		parseForwarded([]string{header})
	}
	if took := time.Since(started); took > time.Second {
		t.Errorf("took %v", took)
	}
}

func FuzzAccept(f *testing.F) {
	for _, seed := range []string{"*/*", "application/json;q=0.5, text/html", `a/b;c="d,e";q=1.000`, `"`, `a/b;q=`, "a/b;fhirVersion=4.0,"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, header string) {
		for r := range mediaRanges(header) {
			if r.Type == "" || r.Subtype == "" || r.Quality < 0 || r.Quality > 1000 {
				t.Fatalf("%q gave %+v", header, r)
			}
		}
		got, err := negotiate(header, "")
		if got.ContentType == "" {
			t.Fatal("no format for the error")
		}
		// A wildcard at full quality makes anything acceptable, unless
		// excluded by name.
		if wild, wildErr := negotiate(header+", */*", ""); err == nil && wildErr != nil && !strings.Contains(header, `"`) {
			t.Fatalf("%q acceptable, but not with */*: %v %v", header, wild, wildErr)
		}
		takesGzip([]string{header})
		_, _ = classify(header)
	})
}
