package replicate

import (
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"starling/loadtest/wire"
)

const text = `{"resourceType":"Bundle","type":"transaction","entry":[{"fullUrl":"urn:uuid:0a1b2c3d-0000-4000-8000-000000000001"},{"link":"urn:uuid:0a1b2c3d-0000-4000-8000-000000000001"}]}`

func TestCopiesHaveUUIDsOfTheirOwn(t *testing.T) {
	if got := CopyText(text, 0); got != text {
		t.Errorf("copy 0 is %s", got)
	}
	one, two := CopyText(text, 1), CopyText(text, 2)
	if one == text || one == two || one != CopyText(text, 1) {
		t.Errorf("copies are equal, or not always the same: %s %s", one, two)
	}
	ids := uuid.FindAllString(one, -1)
	if len(ids) != 2 || ids[0] != ids[1] || ids[0][14] != '4' || !strings.ContainsRune("89ab", rune(ids[0][19])) || len(one) != len(text) {
		t.Errorf("links do not follow: %s", one)
	}
}

func TestPostStopsAtItsNumberAndGoesOnFromThere(t *testing.T) {
	folder := t.TempDir()
	for _, name := range []string{"a.json", "b.json"} {
		if err := os.WriteFile(filepath.Join(folder, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	bundles, err := Read(folder)
	if err != nil || len(bundles) != 2 || bundles[0].Resources != 2 {
		t.Fatalf("%v, %+v", err, bundles)
	}
	var mu sync.Mutex
	seen := map[string]int{}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		mu.Lock()
		seen[string(body)]++
		mu.Unlock()
		_, _ = io.WriteString(w, `{"resourceType":"Bundle","type":"transaction-response"}`)
	}))
	defer server.Close()
	target, err := wire.ParseTarget(server.URL + "/fhir")
	if err != nil {
		t.Fatal(err)
	}
	config := Config{Targets: []wire.Target{target}, Bundles: bundles, Resources: 7, Workers: 2, Timeout: time.Minute, Progress: io.Discard}
	n, err := Post(t.Context(), config)
	if err != nil || n != 8 || len(seen) != 2 {
		t.Fatalf("%d posted, %v, %d texts", n, err, len(seen))
	}
	config.Present, config.Resources = n, 10
	if n, err = Post(t.Context(), config); err != nil || n != 10 || seen[CopyText(text, 2)] != 1 || len(seen) != 3 {
		t.Fatalf("%d then, %v, %d texts", n, err, len(seen))
	}
}

func TestAFailedTransactionEndsIt(t *testing.T) {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		http.Error(w, `{"resourceType":"OperationOutcome"}`, http.StatusUnprocessableEntity)
	}))
	defer server.Close()
	target, err := wire.ParseTarget(server.URL + "/fhir")
	if err != nil {
		t.Fatal(err)
	}
	_, err = Post(t.Context(), Config{
		Targets: []wire.Target{target}, Bundles: []Bundle{{Name: "a", Text: []byte(text), Resources: 2}},
		Resources: 1000, Workers: 3, Timeout: time.Minute, Progress: io.Discard,
	})
	if err == nil || !strings.Contains(err.Error(), "422") {
		t.Errorf("error %v", err)
	}
}

// Without a folder what is missing is said, not which call failed.
func TestReadNeedsAFolder(t *testing.T) {
	for _, folder := range []string{"", filepath.Join(t.TempDir(), "none"), "bundle.go"} {
		if _, err := Read(folder); err == nil || !strings.HasPrefix(err.Error(), strconv.Quote(folder)+" is no folder; one of transaction bundles") {
			t.Errorf("%q: %v", folder, err)
		}
	}
}
