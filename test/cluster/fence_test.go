package cluster

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"starling/test/program"
)

// profile demands of a Basic either its created or its author, and forbids the
// other.
func profile(required, forbidden string) string {
	return fmt.Sprintf(`{"resourceType":"StructureDefinition","id":"strict","url":"http://example.org/strict","name":"Strict","status":"active",
		"kind":"resource","abstract":false,"type":"Basic","baseDefinition":"http://hl7.org/fhir/StructureDefinition/Basic","derivation":"constraint",
		"differential":{"element":[{"id":"Basic","path":"Basic"},{"id":"Basic.%s","path":"Basic.%s","min":1},
		{"id":"Basic.%s","path":"Basic.%s","max":"0"}]}}`, required, required, forbidden, forbidden)
}

const basic = `{"resourceType":"Basic","meta":{"profile":["http://example.org/strict"]},"code":{"text":"x"},%s}`

var kinds = [2]struct{ has, body string }{
	{"created", fmt.Sprintf(basic, `"created":"2026-01-01"`)},
	{"author", fmt.Sprintf(basic, `"author":{"display":"someone"}`)},
}

// ask sends a request and gives its status.
func ask(t *testing.T, client *http.Client, method, url, body string, header ...string) int {
	t.Helper()
	request, err := http.NewRequestWithContext(t.Context(), method, url, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	request.Header.Set("Content-Type", "application/fhir+json")
	for i := 0; i+1 < len(header); i += 2 {
		request.Header.Set(header[i], header[i+1])
	}
	response, err := client.Do(request)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = response.Body.Close() }()
	_, _ = io.Copy(io.Discard, response.Body)
	return response.StatusCode
}

// A profile posted through the load balancer is in force on both instances with
// the next request: what breaks it is never accepted, what it asks for never
// refused.
func TestProfileIsInForceAtOnce(t *testing.T) {
	c := start(t)
	client := &http.Client{Transport: &http.Transport{DisableKeepAlives: false, MaxIdleConnsPerHost: 16}}
	const rounds, each = 60, 12
	for round := range rounds {
		wanted, broken := kinds[round%2], kinds[(round+1)%2]
		if status := ask(t, client, "PUT", c.base+"/StructureDefinition/strict", profile(wanted.has, broken.has)); status != 200 && status != 201 {
			t.Fatalf("the profile: %d", status)
		}
		var requests sync.WaitGroup
		for n := range each {
			requests.Go(func() {
				if n%2 == 0 {
					if status := ask(t, client, "POST", c.base+"/Basic", wanted.body); status != 201 {
						t.Errorf("round %d: what the profile asks for: %d", round, status)
					}
				} else if status := ask(t, client, "POST", c.base+"/Basic", broken.body); status != 400 { // a cardinality
					t.Errorf("round %d: what breaks the profile: %d", round, status)
				}
			})
		}
		requests.Wait()
	}
}

// An instance that was stopped for longer than the lease serves nothing old when
// it goes on, and whoever changed a profile meanwhile waited no longer than the
// lease.
func TestStoppedInstanceServesNothingOld(t *testing.T) {
	const lease = time.Second
	c := start(t, "--cache-lease", lease.String())
	client := http.DefaultClient
	if status := ask(t, client, "PUT", c.base+"/StructureDefinition/strict", profile("created", "author")); status != 201 {
		t.Fatalf("the profile: %d", status)
	}
	stopped := c.servers[1]
	if err := stopped.Signal(syscall.SIGSTOP); err != nil {
		t.Fatal(err)
	}
	defer func() { _ = stopped.Signal(syscall.SIGCONT) }()
	begun := time.Now()
	one := "http://" + c.servers[0].Address() + "/fhir"
	if status := ask(t, client, "PUT", one+"/StructureDefinition/strict", profile("author", "created")); status != 200 {
		t.Fatalf("the profile: %d", status)
	}
	if took := time.Since(begun); took < lease/2 || took > lease+5*time.Second {
		t.Errorf("the change took %v; the lease of the stopped instance is %v", took, lease)
	}
	// From now on it is safe to say that the change is acknowledged and old.
	if rest := 2*lease - time.Since(begun); rest > 0 {
		timer := time.NewTimer(rest)
		<-timer.C
	}
	if err := stopped.Signal(syscall.SIGCONT); err != nil {
		t.Fatal(err)
	}
	other := "http://" + stopped.Address() + "/fhir"
	ctx, cancel := context.WithTimeout(t.Context(), time.Second)
	defer cancel()
	for ctx.Err() == nil {
		if status := ask(t, client, "POST", other+"/Basic", kinds[0].body); status != 400 { // a cardinality
			t.Fatalf("what breaks the profile, on the instance that was stopped: %d", status)
		}
		if status := ask(t, client, "POST", other+"/Basic", kinds[1].body); status != 201 {
			t.Fatalf("what the profile asks for, on the instance that was stopped: %d", status)
		}
	}
}

// Instances that share a database agree on lease and mode.
func TestOtherLeaseIsRefused(t *testing.T) {
	c := start(t)
	for _, flag := range []string{"--cache-lease=3s", "--cache-sync=off"} {
		text := program.Refused(t, "--database-url", c.database, "--admin-listen", "", flag)
		if !strings.Contains(text, "all that share a database have to agree") {
			t.Errorf("%s: %s", flag, text)
		}
	}
}
