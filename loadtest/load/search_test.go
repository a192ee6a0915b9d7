package load

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"starling/loadtest/replicate"
	"starling/loadtest/search"
	"starling/loadtest/wire"
)

const patientBundle = `{"resourceType":"Bundle","type":"transaction","entry":[
{"resource":{"resourceType":"Patient","identifier":[{"system":"urn:s","value":"1"}],"name":[{"family":"Hara","given":["Wren"]}],"birthDate":"1971-04-18"}},
{"resource":{"resourceType":"Encounter","period":{"start":"2012-08-23"}}},
{"resource":{"resourceType":"Condition","code":{"coding":[{"system":"urn:c","code":"1"}]}}},
{"resource":{"resourceType":"Observation","code":{"coding":[{"system":"urn:c","code":"2"}]},"valueQuantity":{"value":1,"system":"urn:u","code":"u"}}}]}`

// Searches follow as many pages as their kind says, and next pages are recorded apart.
func TestSearchFollowsPages(t *testing.T) {
	values, err := search.Learn([]replicate.Bundle{{Name: "a", Text: []byte(patientBundle), Resources: 4}})
	if err != nil {
		t.Fatal(err)
	}
	var first, next atomic.Int64
	var server *httptest.Server
	server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		n := &first
		if strings.HasPrefix(r.URL.Path, "/fhir/page") {
			n = &next
		}
		fmt.Fprintf(w, `{"resourceType":"Bundle","type":"searchset","link":[{"relation":"next","url":"%s/fhir/page/%d"}],"entry":[{"fullUrl":"a","search":{"mode":"match"}}]}`, server.URL, n.Add(1))
	}))
	defer server.Close()
	target, err := wire.ParseTarget(server.URL + "/fhir")
	if err != nil {
		t.Fatal(err)
	}
	kinds, err := search.Select([]string{"token", "sorted pages"})
	if err != nil {
		t.Fatal(err)
	}
	config := Config{Targets: []wire.Target{target}, Users: 2, Iterations: 40, Timeout: time.Minute, Progress: io.Discard}
	result, err := Search(t.Context(), config, Searches{Kinds: kinds, Values: values, People: []search.Person{{ID: "p"}}, Seed: 3})
	if err != nil {
		t.Fatal(err)
	}
	counts := map[string]int64{}
	for _, g := range result.Interactions {
		counts[g.Interaction] = g.Requests
		if g.Requests > 0 && g.Resources != 1 {
			t.Errorf("%s: %v resources a page, want 1", g.Interaction, g.Resources)
		}
	}
	sorted := counts["sorted pages"]
	if result.Total.Errors != 0 || sorted == 0 || counts["token"]+sorted != 40 || counts["sorted pages"+search.Next] != 2*sorted {
		t.Errorf("%v, errors %+v", counts, result.Errors)
	}
	if first.Load() != 40 || next.Load() != 2*sorted {
		t.Errorf("the server saw %d first pages and %d others", first.Load(), next.Load())
	}
}
