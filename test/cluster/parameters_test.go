package cluster

import (
	"context"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"starling/test/program"
)

const rooms = `{"resourceType":"SearchParameter","id":"room","url":"http://example.org/SearchParameter/room","name":"Room","status":"active",
	"description":"Room","code":"room","base":["Basic"],"type":"string","expression":"Basic.extension('http://example.org/room').value"}`

// basics stores count resources with the room r, by transactions.
func basics(t *testing.T, base string, count int) {
	t.Helper()
	const each = 500
	for from := 0; from < count; from += each {
		var entries []string
		for i := from; i < min(from+each, count); i++ {
			entries = append(entries, fmt.Sprintf(`{"resource":%s,"request":{"method":"PUT","url":"Basic/b%d"}}`, inRoom(i), i))
		}
		program.Want(t, http.StatusOK, "POST", base, []byte(`{"resourceType":"Bundle","type":"batch","entry":[`+strings.Join(entries, ",")+`]}`))
	}
}

func inRoom(i int) string {
	return fmt.Sprintf(`{"resourceType":"Basic","id":"b%d","code":{"text":"x"},"extension":[{"url":"http://example.org/room","valueString":"r"}]}`, i)
}

// total counts by the new parameter; -1 while it cannot be searched by.
func total(t *testing.T, base string) int {
	t.Helper()
	answer, err := program.Do("GET", base+"/Basic?room=r&_summary=count", nil, "Prefer", "handling=strict")
	if err != nil {
		t.Fatal(err)
	}
	switch {
	case answer.Status == http.StatusServiceUnavailable && strings.Contains(string(answer.Body), `"incomplete"`):
		return -1
	case answer.Status == http.StatusBadRequest && strings.Contains(string(answer.Body), `"not-supported"`):
		return -1 // not heard of yet
	case answer.Status != http.StatusOK:
		t.Fatalf("%d %.300s", answer.Status, answer.Body)
	}
	return int(decode(t, answer.Body)["total"].(float64))
}

// A SearchParameter stored on one instance is known on the other in the next
// request; so are its change and its end. Through nginx, whichever it chooses.
func TestSearchParameterIsKnownAtOnce(t *testing.T) {
	c := start(t)
	bases := [2]string{"http://" + c.servers[0].Address() + "/fhir", "http://" + c.servers[1].Address() + "/fhir"}
	search := func(base string) (status, total int) {
		answer, err := program.Do("GET", base+"/Basic?room=r&_summary=count", nil, "Prefer", "handling=strict")
		if err != nil {
			t.Fatal(err)
		}
		if answer.Status == http.StatusOK {
			total = int(decode(t, answer.Body)["total"].(float64))
		}
		return answer.Status, total
	}
	basics(t, bases[0], 20)
	for round := range 15 {
		one, other := bases[round%2], bases[(round+1)%2]
		if round >= 10 {
			one, other = c.base, c.base
		}
		if status, _ := search(other); status != http.StatusBadRequest {
			t.Fatalf("round %d: before: %d", round, status)
		}
		program.Want(t, http.StatusCreated, "PUT", one+"/SearchParameter/room", []byte(rooms))
		if status, total := search(other); status != http.StatusOK || total != 20 {
			t.Fatalf("round %d: the next request: %d, %d of 20", round, status, total)
		}
		changed := strings.Replace(rooms, "example.org/room", "example.org/hall", 1)
		program.Want(t, http.StatusOK, "PUT", one+"/SearchParameter/room", []byte(changed))
		if status, total := search(other); status != http.StatusOK || total != 0 {
			t.Fatalf("round %d: after a change: %d, %d of 0", round, status, total)
		}
		program.Want(t, http.StatusNoContent, "DELETE", one+"/SearchParameter/room", nil)
	}
}

// A SearchParameter is stored through one instance while both write. No search on
// either is ever answered short of what had been acknowledged before.
func TestNewSearchParameterMissesNothing(t *testing.T) {
	c := start(t)
	bases := []string{"http://" + c.servers[0].Address() + "/fhir", "http://" + c.servers[1].Address() + "/fhir"}
	basics(t, bases[0], 1000)
	var acknowledged atomic.Int64
	acknowledged.Store(1000)
	stop := make(chan struct{})
	var writers sync.WaitGroup
	for w := range 4 {
		writers.Go(func() {
			for i := 0; ; i++ {
				select {
				case <-stop:
					return
				default:
				}
				n := 10000*(w+1) + i
				answer, err := program.Do("PUT", fmt.Sprintf("%s/Basic/b%d", bases[w%2], n), []byte(inRoom(n)))
				if err != nil || answer.Status != http.StatusCreated {
					t.Errorf("%v %d %.300s", err, answer.Status, answer.Body)
					return
				}
				acknowledged.Add(1)
			}
		})
	}
	time.Sleep(100 * time.Millisecond)
	for round := range 5 {
		program.Want(t, map[bool]int{true: http.StatusCreated, false: http.StatusOK}[round == 0], "PUT", bases[round%2]+"/SearchParameter/room", []byte(rooms))
		// The old parameter may be known for as long as its successor is not.
		answered := [2]int{}
		for began := time.Now(); min(answered[0], answered[1]) < 20; {
			for i, base := range bases {
				before := acknowledged.Load()
				got := total(t, base)
				if got >= 0 && int64(got) < before {
					t.Errorf("round %d: %d of %d are found on instance %d", round, got, before, i+1)
				}
				if got >= 0 {
					answered[i]++
				}
			}
			if time.Since(began) > time.Minute {
				t.Fatalf("round %d: answered %v", round, answered)
			}
		}
	}
	close(stop)
	writers.Wait()
	for i, base := range bases {
		if got := total(t, base); int64(got) != acknowledged.Load() {
			t.Errorf("%d of %d are found on instance %d", got, acknowledged.Load(), i+1)
		}
	}
	t.Logf("%d resources", acknowledged.Load())
}

// The instance that indexes is killed in the middle; another goes on from there.
func TestIndexingSurvivesItsInstance(t *testing.T) {
	url := program.Database(t)
	first := program.Start(t, "--database-url", url)
	const count = 6000
	basics(t, "http://"+first.Address()+"/fhir", count)
	program.Want(t, http.StatusCreated, "PUT", "http://"+first.Address()+"/fhir/SearchParameter/room", []byte(rooms))

	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	database, err := pgx.Connect(ctx, url)
	if err != nil {
		t.Fatal(err)
	}
	defer database.Close(ctx)
	state := func() (done int64, complete bool) {
		err := database.QueryRow(ctx, `SELECT coalesce(max(done), 0), coalesce(bool_and(complete), false) FROM search_parameter`).Scan(&done, &complete)
		if err != nil {
			t.Fatal(err)
		}
		return done, complete
	}
	for done, _ := state(); done == 0; done, _ = state() {
	}
	first.Kill()
	killed, complete := state()
	if complete || killed >= count {
		t.Fatalf("%d were done when it was killed, %v: too late", killed, complete)
	}
	second := program.Start(t, "--database-url", url)
	base := "http://" + second.Address() + "/fhir"
	for got := total(t, base); got != count; got = total(t, base) {
		if got >= 0 {
			t.Fatalf("%d of %d are found", got, count)
		}
		if ctx.Err() != nil {
			t.Fatal("it was not finished")
		}
		time.Sleep(10 * time.Millisecond)
	}
	if !strings.Contains(second.Log(), "search parameters are indexed") {
		t.Error(second.Log())
	}
	if done, _ := state(); done != count {
		t.Errorf("%d were looked at, %d of them before", done, killed)
	}
	t.Logf("killed at %d of %d", killed, count)
}
