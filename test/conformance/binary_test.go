package conformance

import (
	"bytes"
	"encoding/base64"
	"math/rand/v2"
	"net/http"
	"strings"
	"testing"

	"starling/test/program"
)

// A Binary goes in and out both as its raw content and as a FHIR resource, in
// any combination.
// https://hl7.org/fhir/R4/binary.html#rest
func TestBinaryRawAndFHIR(t *testing.T) {
	server := program.Start(t, "--data-dir", t.TempDir())
	content := make([]byte, 100_000)
	random := rand.NewChaCha8([32]byte{1})
	_, _ = random.Read(content)
	resource := []byte(`{"resourceType":"Binary","contentType":"image/png","data":"` + base64.StdEncoding.EncodeToString(content) + `"}`)

	raw := program.Want(t, http.StatusCreated, "POST", server.URL+"/Binary", content, "Content-Type", "image/png", "Prefer", "return=minimal")
	asFHIR := program.Want(t, http.StatusCreated, "POST", server.URL+"/Binary", resource)
	for name, created := range map[string]program.Answer{"sent raw": raw, "sent as FHIR": asFHIR} {
		url, _, ok := strings.Cut(created.Header.Get("Location"), "/_history/")
		if !ok {
			t.Fatalf("%s: Location %q", name, created.Header.Get("Location"))
		}
		read := program.Want(t, http.StatusOK, "GET", url, nil, "Accept", "image/png")
		if !bytes.Equal(read.Body, content) || read.Header.Get("Content-Type") != "image/png" {
			t.Errorf("%s, read raw: %d bytes of %q", name, len(read.Body), read.Header.Get("Content-Type"))
		}
		read = program.Want(t, http.StatusOK, "GET", url, nil, "Accept", "*/*")
		if !bytes.Equal(read.Body, content) {
			t.Errorf("%s, read with Accept */*: %d bytes of %q", name, len(read.Body), read.Header.Get("Content-Type"))
		}
		read = program.Want(t, http.StatusOK, "GET", url, nil, "Accept", "application/fhir+json")
		if d := difference(decode(t, resource), decode(t, read.Body), false); d != "" {
			t.Errorf("%s, read as FHIR: %s", name, d)
		}
	}
}
