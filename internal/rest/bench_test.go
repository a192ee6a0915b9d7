package rest

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
)

// discard is a ResponseWriter that costs next to nothing.
type discard struct{ header http.Header }

func (d *discard) Header() http.Header         { return d.header }
func (d *discard) Write(p []byte) (int, error) { return len(p), nil }
func (d *discard) WriteHeader(int)             {}

// BenchmarkHandler is what this package adds to an interaction, without
// net/http's own work.
func BenchmarkHandler(b *testing.B) {
	body := `{"resourceType":"Patient","id":"1","name":[{"family":"` + strings.Repeat("x", 700) + `"}]}`
	for _, c := range []struct{ name, method, body string }{{"read", "GET", ""}, {"update", "PUT", body}} {
		b.Run(c.name, func(b *testing.B) {
			h := newHarness(b)
			request := httptest.NewRequest(c.method, "http://example.org/fhir/Patient/1", nil)
			request.Header.Set("Accept", "application/json")
			if c.body != "" {
				request.Header.Set("Content-Type", "application/json")
				request.ContentLength = int64(len(c.body))
			}
			w := &discard{http.Header{}}
			reader := strings.NewReader(c.body)
			b.ReportAllocs()
			for b.Loop() {
				clear(w.header)
				reader.Reset(c.body)
				request.Body = http.NoBody
				if c.body != "" {
					request.Body = readCloser{reader}
				}
				h.handler.ServeHTTP(w, request)
			}
		})
	}
}

type readCloser struct{ *strings.Reader }

func (readCloser) Close() error { return nil }
