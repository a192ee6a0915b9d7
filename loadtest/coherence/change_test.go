package coherence

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"starling/loadtest/deploy"
	"starling/loadtest/register"
)

// servers hold registers together. The last learns of a change late, and who
// waits for it is answered after wait.
type servers struct {
	mu     sync.Mutex
	values map[string][]told
	late   time.Duration
	wait   time.Duration
}

type told struct {
	text string
	at   time.Time
}

func (s *servers) handler(last bool) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		if r.Method == http.MethodPut {
			var profile struct {
				URL          string
				Differential struct {
					Element []struct{ FixedString string }
				}
			}
			_ = json.Unmarshal(body, &profile)
			s.mu.Lock()
			created := s.values[profile.URL] == nil
			s.values[profile.URL] = append(s.values[profile.URL], told{profile.Differential.Element[1].FixedString, time.Now()})
			s.mu.Unlock()
			if !strings.Contains(r.Header.Get("Prefer"), "respond-async") {
				time.Sleep(s.wait)
			}
			if created {
				w.WriteHeader(http.StatusCreated)
			}
			return
		}
		var probe struct{ Meta struct{ Profile []string } }
		_ = json.Unmarshal(body, &probe)
		s.mu.Lock()
		defer s.mu.Unlock()
		shown := ""
		for _, v := range s.values[probe.Meta.Profile[0]] {
			if !last || shown == "" || time.Since(v.at) >= s.late {
				shown = v.text
			}
		}
		fmt.Fprintf(w, `{"issue":[{"diagnostics":"Basic.code.text must be \"%s\", found \"v0\""}]}`, shown)
	}
}

// run changes resources of three such servers for a while.
func (s *servers) run(t *testing.T, lease time.Duration) Changes {
	t.Helper()
	s.values = map[string][]told{}
	d := &deployment{client: register.NewClient(5 * time.Second)}
	defer d.client.Close()
	for i := range 3 {
		server := httptest.NewServer(s.handler(i == 2))
		defer server.Close()
		d.instances = append(d.instances, &deploy.Instance{Address: strings.TrimPrefix(server.URL, "http://")})
	}
	free, err := d.newLanes(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	from := time.Now()
	c := &changer{deployment: d, free: free, rate: 20, lease: lease, from: from, to: from.Add(time.Second)}
	c.run(t.Context())
	changes := c.result()
	if changes.Failed > 0 || changes.Acknowledged == 0 || changes.Waiting.Count == 0 || changes.Applied.Count == 0 || changes.Looked == 0 {
		t.Fatalf("%+v", changes)
	}
	return changes
}

func TestChangesAreSeenApplied(t *testing.T) {
	const late = 150 * time.Millisecond
	s := servers{late: late, wait: 2 * late}
	changes := s.run(t, 30*time.Second)
	// The change is answered a little after its time.
	if shortest := millis(late) - 100; changes.Applied.P50 < shortest {
		t.Errorf("applied after %v ms, which takes %v", changes.Applied.P50, late)
	}
	if changes.Late > 0 || changes.Stale > 0 {
		t.Errorf("%+v", changes)
	}
}

func TestBrokenPromisesAreCounted(t *testing.T) {
	s := servers{late: 400 * time.Millisecond}
	changes := s.run(t, 100*time.Millisecond)
	if changes.Stale == 0 || changes.Late == 0 {
		t.Errorf("a server that is behind for longer than the lease, and not waited for: %+v", changes)
	}
}
