package postgres

import (
	"context"
	"errors"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"starling/internal/cache"
	"starling/internal/fhir"
	"starling/internal/postgres/postgrestest"
)

// transports are all of a store.
func transports(s *Store) []cache.Transport {
	return []cache.Transport{s.Notify(), s.Logical(), cache.NewPoll(s, 20*time.Millisecond, time.Minute)}
}

// testPatience is how long a test waits for what has to come.
const testPatience = 30 * time.Second

// hearing is a transport at work.
type hearing struct {
	t     *testing.T
	stop  context.CancelFunc
	ready chan struct{}
	ended chan error

	mu    sync.Mutex
	heard map[fhir.Domain]int64 // the highest version
}

// hear starts a transport. It is stopped at the end of the test.
func hear(t *testing.T, transport cache.Transport) *hearing {
	t.Helper()
	ctx, stop := context.WithCancel(context.Background())
	h := &hearing{t: t, stop: stop, ready: make(chan struct{}), ended: make(chan error, 1), heard: map[fhir.Domain]int64{}}
	go func() {
		h.ended <- transport.Listen(ctx, func() error {
			close(h.ready)
			return nil
		}, func(versions fhir.DomainVersions) {
			h.mu.Lock()
			defer h.mu.Unlock()
			for domain, version := range versions {
				h.heard[domain] = max(h.heard[domain], version)
			}
		})
		close(h.ended)
	}()
	t.Cleanup(func() {
		stop()
		<-h.ended
	})
	return h
}

func (h *hearing) await() {
	h.t.Helper()
	select {
	case <-h.ready:
	case err := <-h.ended:
		h.t.Fatalf("ended before it was ready: %v", err)
	case <-time.After(testPatience):
		h.t.Fatal("is not ready")
	}
}

func (h *hearing) has(domain fhir.Domain, version int64) {
	h.t.Helper()
	eventually(h.t, "the version is heard of", func() bool {
		h.mu.Lock()
		defer h.mu.Unlock()
		return h.heard[domain] >= version
	})
}

func (h *hearing) lost() error {
	h.t.Helper()
	select {
	case err := <-h.ended:
		return err
	case <-time.After(testPatience):
		h.t.Fatal("the loss is not noticed")
		return nil
	}
}

func eventually(t *testing.T, what string, is func() bool) {
	t.Helper()
	for start := time.Now(); !is(); time.Sleep(5 * time.Millisecond) {
		if time.Since(start) > testPatience {
			t.Fatalf("not after %v: %s", testPatience, what)
		}
	}
}

func version(t *testing.T, s *Store, domain fhir.Domain) int64 {
	t.Helper()
	state, err := s.State(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return state.Versions[domain]
}

// The conformance suite: what cache.Transport asks, of each on PostgreSQL.
func TestTransports(t *testing.T) {
	s, other, _ := openTwo(t)
	for _, transport := range transports(s) {
		t.Run(transport.Name(), func(t *testing.T) {
			t.Run("hears changes", func(t *testing.T) {
				h := hear(t, transport)
				h.await()
				for _, change := range []fhir.ResourceType{"StructureDefinition", "SearchParameter", "Subscription"} {
					domain, _ := fhir.DomainOf(change)
					put(t, other, change, "x")
					h.has(domain, version(t, other, domain))
				}
			})
			t.Run("misses nothing once ready", func(t *testing.T) {
				for range 10 {
					h := hear(t, transport)
					h.await()
					put(t, other, "ValueSet", "x") // at the first moment
					h.has(fhir.DomainValidation, version(t, other, fhir.DomainValidation))
					h.stop()
					<-h.ended
				}
			})
			t.Run("hears no ordinary write", func(t *testing.T) {
				h := hear(t, transport)
				h.await()
				put(t, other, "Basic", "x")
				put(t, other, "ValueSet", "x")
				h.has(fhir.DomainValidation, version(t, other, fhir.DomainValidation))
				h.mu.Lock()
				defer h.mu.Unlock()
				if len(h.heard) != 1 && transport.Name() != "poll" {
					t.Errorf("%v", h.heard)
				}
			})
			t.Run("ends with its context", func(t *testing.T) {
				h := hear(t, transport)
				h.await()
				h.stop()
				if err := h.lost(); err == nil {
					t.Error("no error")
				}
			})
			t.Run("gives up if it is not ready", func(t *testing.T) {
				broken := errors.New("not ready")
				err := transport.Listen(t.Context(), func() error { return broken }, func(fhir.DomainVersions) {})
				if !errors.Is(err, broken) {
					t.Errorf("%v", err)
				}
			})
		})
	}
	leavesNothing(t, s)
}

// listeners are the connections of transports.
const listeners = `FROM pg_stat_activity WHERE datname = current_database() AND application_name LIKE '% listener'`

// leavesNothing: no connection, no slot and no LISTEN outlive the transports.
func leavesNothing(t *testing.T, s *Store) {
	t.Helper()
	eventually(t, "no connection and no slot is left", func() bool {
		var left int
		err := s.reserve.QueryRow(t.Context(), `SELECT (SELECT count(*) `+listeners+`)
			+ (SELECT count(*) FROM pg_replication_slots WHERE database = current_database())`).Scan(&left)
		if err != nil {
			t.Fatal(err)
		}
		return left == 0
	})
	for _, conn := range s.reserve.AcquireAllIdle(t.Context()) {
		var channels int
		if err := conn.QueryRow(t.Context(), `SELECT count(*) FROM pg_listening_channels()`).Scan(&channels); err != nil || channels > 0 {
			t.Errorf("a pooled connection listens on %d channels, %v", channels, err)
		}
		conn.Release()
	}
}

// A connection that the server ends is an error, and so is one that goes silent
// without a word.
func TestTransportLost(t *testing.T) {
	url := postgrestest.New(t)
	open(t, url) // the tables
	proxy := postgrestest.NewProxy(t, url)
	s, err := Open(t.Context(), Config{URL: url, ListenURL: proxy.URL})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.Close)
	for _, transport := range transports(s)[:2] {
		t.Run(transport.Name(), func(t *testing.T) {
			h := hear(t, transport)
			h.await()
			terminate(t, s)
			if err := h.lost(); errors.Is(err, fhir.ErrUnheard) {
				t.Errorf("terminated: %v", err)
			}
			h = hear(t, transport)
			h.await()
			put(t, s, "ValueSet", "x")
			h.has(fhir.DomainValidation, version(t, s, fhir.DomainValidation))
			proxy.Hold()
			begun := time.Now()
			err := h.lost()
			if took := time.Since(begun); took > 2*(listenSilence+listenPatience) || errors.Is(err, fhir.ErrUnheard) {
				t.Errorf("the silence is noticed after %v: %v", took, err)
			}
			proxy.Release()
		})
	}
	poll := cache.NewPoll(s, 20*time.Millisecond, time.Minute)
	t.Run("poll", func(t *testing.T) {
		behind, err := Open(t.Context(), Config{URL: proxy.URL})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(behind.Close)
		poll.Store = behind
		h := hear(t, poll)
		h.await()
		proxy.Hold()
		if err := h.lost(); err == nil {
			t.Error("no error")
		}
		proxy.Release()
	})
	leavesNothing(t, s)
}

// terminate ends the connections of transports, and gives which there were.
func terminate(t *testing.T, s *Store) (backends []int32) {
	t.Helper()
	if err := s.reserve.QueryRow(t.Context(), `SELECT array_agg(pid) FILTER (WHERE pg_terminate_backend(pid)) `+listeners).Scan(&backends); err != nil {
		t.Fatal(err)
	}
	return backends
}

// A database that listens elsewhere than it notifies is found out.
func TestListenURLOfAnotherDatabase(t *testing.T) {
	s, err := Open(t.Context(), Config{URL: postgrestest.New(t)})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.Close)
	s.listenURL = postgrestest.New(t)
	open(t, s.listenURL)
	err = s.Notify().Listen(t.Context(), func() error { return nil }, func(fhir.DomainVersions) {})
	if !errors.Is(err, fhir.ErrUnheard) || !strings.Contains(err.Error(), "another database") {
		t.Errorf("notify: %v", err)
	}
}

// Nothing is made in a database that only the URL for listening leads to.
func TestListenURLOfAnotherDatabaseIsLeftAlone(t *testing.T) {
	url, other := postgrestest.New(t), postgrestest.New(t)
	if s, err := Open(t.Context(), Config{URL: url, ListenURL: other}); err == nil {
		s.Close()
		t.Error("opened")
	} else if !strings.Contains(err.Error(), "another database") {
		t.Error(err)
	}
	conn, err := pgx.Connect(t.Context(), other)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = conn.Close(t.Context()) }()
	var tables int
	if err := conn.QueryRow(t.Context(), `SELECT count(*) FROM pg_tables WHERE schemaname = 'public'`).Scan(&tables); err != nil || tables != 0 {
		t.Errorf("%d tables, %v", tables, err)
	}
}
