package main

import (
	"bytes"
	"compress/gzip"
	"net/http"
	"strings"
	"testing"

	"starling/internal/postgres/postgrestest"
)

// TestHTTP holds the server to what is below FHIR: protocols, encodings, limits.
func TestHTTP(t *testing.T) {
	r := serve(t, postgrestest.New(t), "--max-body=5000", "--log-format=json", "--access-log")
	r.put("Patient/h1", `{"resourceType":"Patient","id":"h1","name":[{"family":"`+strings.Repeat("long ", 400)+`end"}]}`)
	t.Run("HTTP/2 without TLS", func(t *testing.T) {
		transport := &http.Transport{Protocols: new(http.Protocols)}
		transport.Protocols.SetUnencryptedHTTP2(true)
		defer transport.CloseIdleConnections()
		response, err := (&http.Client{Transport: transport}).Get(r.base + "/Patient/h1")
		if err != nil {
			t.Fatal(err)
		}
		response.Body.Close()
		if response.ProtoMajor != 2 || response.StatusCode != 200 {
			t.Errorf("%s %d", response.Proto, response.StatusCode)
		}
	})
	t.Run("gzip both ways", func(t *testing.T) {
		var packed bytes.Buffer
		writer := gzip.NewWriter(&packed)
		_, _ = writer.Write([]byte(`{"resourceType":"Patient","id":"h2","active":true}`)) // a buffer takes everything
		_ = writer.Close()
		if a := r.do("PUT", "Patient/h2", packed.String(), "Content-Encoding: gzip"); a.StatusCode != 201 {
			t.Errorf("sent: %d %s", a.StatusCode, a.body)
		}
		plain := r.do("GET", "Patient/h1", "", "Accept-Encoding: identity")
		zipped := r.do("GET", "Patient/h1", "", "Accept-Encoding: gzip")
		unzipped, err := gzip.NewReader(bytes.NewReader(zipped.body))
		if err != nil {
			t.Fatal(err)
		}
		var text bytes.Buffer
		if _, err := text.ReadFrom(unzipped); err != nil || text.String() != string(plain.body) || len(zipped.body) > len(plain.body)/2 {
			t.Errorf("received: %v, %d bytes of %d", err, len(zipped.body), len(plain.body))
		}
	})
	t.Run("limit", func(t *testing.T) {
		body := `{"resourceType":"Patient","id":"h3","name":[{"family":"` + strings.Repeat("x", 5000) + `"}]}`
		if a := r.do("PUT", "Patient/h3", body); a.StatusCode != 413 || a.code() != "too-long" {
			t.Errorf("%d %s", a.StatusCode, a.body)
		}
		if a := r.do("GET", "Patient/h3", ""); a.StatusCode != 404 {
			t.Errorf("stored nevertheless: %d", a.StatusCode)
		}
	})
	t.Run("pretty", func(t *testing.T) {
		r.put("Observation/h4", `{"resourceType":"Observation","id":"h4","status":"final","code":{"text":"x"},"valueQuantity":{"value":107.10}}`)
		if a := r.do("GET", "Observation/h4?_pretty=true", ""); !strings.Contains(string(a.body), "\n") || !strings.Contains(string(a.body), "107.10") {
			t.Errorf("%s", a.body)
		}
	})
	t.Run("log", func(t *testing.T) {
		r.do("GET", "Patient?identifier=secret|number", "", "X-Request-Id: find-me")
		log := r.log.String()
		if !strings.Contains(log, `"requestId":"find-me"`) || strings.Contains(log, "secret") {
			t.Errorf("%s", log)
		}
	})
	t.Run("metrics", func(t *testing.T) {
		text := metrics(t, r)
		for _, want := range []string{`starling_requests_total{interaction="read",status="2xx",type="Patient"}`, "go_goroutines", "process_resident_memory_bytes", "starling_store_"} {
			if !strings.Contains(text, want) {
				t.Errorf("no %s", want)
			}
		}
	})
}

func TestForwardedBehindTrustedProxy(t *testing.T) {
	url := postgrestest.New(t)
	proxied := []string{"X-Forwarded-Proto: https", "X-Forwarded-Host: fhir.example.org"}
	for want, flags := range map[string][]string{
		"https://fhir.example.org/fhir/":   nil, // loopback is trusted
		"http://127.0.0.1":                 {"--trusted-proxies=none"},
		"https://set.example/base/Patient": {"--base-url=https://set.example/base/"},
	} {
		r := serve(t, url, flags...)
		a := r.do("POST", "Patient", `{"resourceType":"Patient"}`, proxied...)
		if location := a.Header.Get("Location"); a.StatusCode != 201 || !strings.HasPrefix(location, want) {
			t.Errorf("%v: %d %q", flags, a.StatusCode, location)
		}
		r.stop()
		<-r.ended
	}
}
