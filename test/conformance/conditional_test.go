package conformance

import (
	"fmt"
	"net/http"
	"sync"
	"testing"

	"starling/test/program"
)

// Twenty equal conditional creates at once make one resource, over one server
// process and over two on one database: one answers 201, the others 200, and all
// name the same resource.
func TestEqualConditionalCreatesMakeOneResource(t *testing.T) {
	database := program.Database(t)
	first := program.Start(t, "--database-url", database)
	second := program.Start(t, "--database-url", database)
	for name, servers := range map[string][]*program.Server{"one server": {first}, "two servers": {first, second}} {
		t.Run(name, func(t *testing.T) {
			for round := range 10 {
				conditionalCreates(t, servers, fmt.Sprintf("%d-%d", len(servers), round))
			}
		})
	}
}

func conditionalCreates(t *testing.T, servers []*program.Server, value string) {
	t.Helper()
	const creates = 20
	criteria := "identifier=urn:starling:conditional|" + value
	body := fmt.Appendf(nil, `{"resourceType":"Patient","identifier":[{"system":"urn:starling:conditional","value":%q}]}`, value)
	var answers [creates]program.Answer
	var errs [creates]error
	var group sync.WaitGroup
	start := make(chan struct{})
	for i := range creates {
		group.Go(func() {
			<-start
			answers[i], errs[i] = program.Do("POST", servers[i%len(servers)].URL+"/Patient", body, "If-None-Exist", criteria)
		})
	}
	close(start)
	group.Wait()
	created, identities := 0, map[string]bool{}
	for i, answer := range answers {
		switch {
		case errs[i] != nil:
			t.Fatal(errs[i])
		case answer.Status == http.StatusCreated:
			created++
		case answer.Status != http.StatusOK:
			t.Fatalf("status %d: %.600s", answer.Status, answer.Body)
		}
		match := location.FindStringSubmatch(answer.Header.Get("Location"))
		if match == nil {
			t.Fatalf("status %d with Location %q", answer.Status, answer.Header.Get("Location"))
		}
		identities[match[1]] = true
	}
	if created != 1 || len(identities) != 1 {
		t.Errorf("round %s: %d created, %d different resources named", value, created, len(identities))
	}
	for _, server := range servers {
		found := program.Want(t, http.StatusOK, "GET", server.URL+"/Patient?"+"identifier=urn:starling:conditional%7C"+value, nil)
		if n := len(entries(t, found.Body)); n != 1 {
			t.Errorf("round %s: a search finds %d", value, n)
		}
	}
}
