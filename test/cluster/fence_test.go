package cluster

import (
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"starling/internal/postgres/postgrestest"
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
// the next request: of thousands that break it none is accepted, of thousands
// that it asks for none is refused. Through PgBouncer as well, where instances
// poll and say so, or listen past it.
func TestProfileIsInForceAtOnce(t *testing.T) {
	t.Run("direct", func(t *testing.T) { inForceAtOnce(t, start(t), 125, 40) })
	for transport, past := range map[string]bool{"poll": false, "notify": true} {
		t.Run("through PgBouncer, on "+transport, func(t *testing.T) {
			direct := program.Database(t)
			var flags []string
			if past {
				flags = []string{"--listen-database-url", direct}
			}
			c := startOn(t, postgrestest.Pooler(t, direct, "transaction"), flags...)
			inForceAtOnce(t, c, 20, 40)
			for i, server := range c.servers {
				if c.metric(t, i, fmt.Sprintf(`starling_cache_transport{transport=%q}`, transport)) != 1 || c.metric(t, i, `starling_cache_transport{`) != 1 {
					t.Errorf("instance %d does not say that its transport is %s", i+1, transport)
				}
				// It polls from the first second on, and listens for a few before it says why.
				said := func() bool {
					return strings.Contains(server.Log(), `msg="cache transport cannot work here" transport=notify instead=poll`)
				}
				for begun := time.Now(); !past && !said() && time.Since(begun) < 10*time.Second; {
					time.Sleep(20 * time.Millisecond)
				}
				if said() == past {
					t.Errorf("instance %d says that it polls: %v", i+1, said())
				}
				status := program.Want(t, http.StatusOK, "GET", "http://"+c.admin[i]+"/fhir/$cache-status", nil)
				if shown := strings.Count(string(status.Body), fmt.Sprintf(`{"name":"transport","valueCode":%q}`, transport)); shown != len(c.servers) {
					t.Errorf("instance %d shows %d instances on %s: %s", i+1, shown, transport, status.Body)
				}
			}
		})
	}
}

// inForceAtOnce changes a profile so many times, and at once sends so many
// resources, half of which break it.
func inForceAtOnce(t *testing.T, c *cluster, rounds, each int) {
	t.Helper()
	client := &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: each}}
	defer client.CloseIdleConnections()
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
	c.bothServed(t)
}

// An instance is stopped for ten seconds under load, while a profile changes, and
// goes on: it serves nothing older than a lease, from its first answer on. Who
// changed the profile waited no longer than the lease.
func TestStoppedInstanceServesNothingOld(t *testing.T) {
	const lease, stopped = time.Second, 10 * time.Second
	c := start(t, "--cache-lease", lease.String())
	if status := ask(t, http.DefaultClient, "PUT", c.base+"/StructureDefinition/strict", profile("created", "author")); status != 201 {
		t.Fatalf("the profile: %d", status)
	}
	load := send(c.base, 4)
	defer load.end()
	other := c.servers[1]
	if err := other.Signal(syscall.SIGSTOP); err != nil {
		t.Fatal(err)
	}
	defer func() { _ = other.Signal(syscall.SIGCONT) }()
	begun := time.Now()
	one := "http://" + c.servers[0].Address() + "/fhir"
	if status := ask(t, http.DefaultClient, "PUT", one+"/StructureDefinition/strict", profile("author", "created")); status != 200 {
		t.Fatalf("the profile: %d", status)
	}
	if took := time.Since(begun); took < lease/2 || took > lease+5*time.Second {
		t.Errorf("the change took %v; the lease of the stopped instance is %v", took, lease)
	}
	// Requests wait at the stopped instance, to be the first it answers.
	asked := make(chan [2]int, 8)
	for range cap(asked) {
		go func() { asked <- broken(t, "http://"+other.Address()+"/fhir") }()
	}
	time.Sleep(stopped - time.Since(begun))
	if err := other.Signal(syscall.SIGCONT); err != nil {
		t.Fatal(err)
	}
	for range cap(asked) {
		if got := <-asked; got != [2]int{400, 201} {
			t.Errorf("asked while it was stopped: what breaks the profile %d, what it asks for %d", got[0], got[1])
		}
	}
	for end := time.Now().Add(time.Second); time.Now().Before(end); {
		if got := broken(t, "http://"+other.Address()+"/fhir"); got != [2]int{400, 201} {
			t.Fatalf("when it goes on: what breaks the profile %d, what it asks for %d", got[0], got[1])
		}
	}
}

// broken sends what breaks the profile that asks for an author, and what it asks
// for, and gives the statuses. A cardinality that is not met is 400.
func broken(t *testing.T, base string) [2]int {
	return [2]int{
		ask(t, http.DefaultClient, "POST", base+"/Basic", kinds[0].body),
		ask(t, http.DefaultClient, "POST", base+"/Basic", kinds[1].body),
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
