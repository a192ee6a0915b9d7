package conformance

import (
	"net/http"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"starling/test/program"
)

var location = regexp.MustCompile(`(?:^|/)([A-Z][A-Za-z]+/[A-Za-z0-9.-]{1,64})/_history/[^/]+$`)

// Every bundle of the Synthea sample posts as a transaction, and every resource
// reads back as it was sent, links between entries pointing at what they became.
func TestSyntheaBundles(t *testing.T) {
	bundles := archive(t, "synthea/synthea-r4-smart.sample60.tar.xz")
	server := program.Start(t, "--data-dir", t.TempDir())
	names := make([]string, 0, len(bundles))
	for name := range bundles {
		names = append(names, name)
	}
	slices.Sort(names)
	resources, spent, posted := 0, time.Duration(0), 0
	for _, name := range names {
		t.Run(name, func(t *testing.T) {
			begun := time.Now()
			answer := program.Want(t, http.StatusOK, "POST", server.URL, bundles[name])
			spent += time.Since(begun)
			sent, response := entries(t, bundles[name]), entries(t, answer.Body)
			if len(sent) != len(response) {
				t.Fatalf("%d entries sent, %d answered", len(sent), len(response))
			}
			posted += len(sent)
			identities, given := map[string]string{}, make([]string, len(sent))
			for i, entry := range response {
				result, _ := entry["response"].(map[string]any)
				at, _ := result["location"].(string)
				status, _ := result["status"].(string)
				match := location.FindStringSubmatch(at)
				if !strings.HasPrefix(status, "201") || match == nil {
					t.Fatalf("entry %d: status %q, location %q", i, status, at)
				}
				given[i] = match[1]
				identities[sent[i]["fullUrl"].(string)] = match[1]
			}
			for i, entry := range sent {
				want := rewrite(entry["resource"], identities).(map[string]any)
				read := program.Want(t, http.StatusOK, "GET", server.URL+"/"+given[i], nil)
				if d := difference(want, decode(t, read.Body), false); d != "" {
					t.Errorf("entry %d, %s: %s", i, given[i], d)
				}
				resources++
			}
		})
	}
	if len(bundles) == 0 || resources < 10_000 {
		t.Errorf("%d bundles with %d resources: not the whole sample", len(bundles), resources)
	}
	t.Logf("%d resources read back equal to what was sent; posted at %.0f resources a second, one bundle at a time",
		resources, float64(posted)/spent.Seconds())
}

func entries(t *testing.T, bundle []byte) []map[string]any {
	t.Helper()
	list, _ := decode(t, bundle)["entry"].([]any)
	found := make([]map[string]any, 0, len(list))
	for _, entry := range list {
		found = append(found, entry.(map[string]any))
	}
	return found
}
