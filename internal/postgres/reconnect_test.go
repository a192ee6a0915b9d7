package postgres

import (
	"log/slog"
	"os"
	"runtime"
	"strconv"
	"testing"
	"time"
	"uuid"

	"starling/internal/cache"
	"starling/internal/fhir"
	"starling/internal/postgres/postgrestest"
)

// instance keeps caches of a store in step by a transport.
func instance(t *testing.T, s *Store, transport cache.Transport) *cache.Synchronizer {
	t.Helper()
	var caches []cache.Filled
	for _, domain := range fhir.Domains() {
		caches = append(caches, cache.New(domain, func(read []*fhir.Resource) int { return len(read) }))
	}
	synchronizer, err := cache.Start(t.Context(), cache.Config{
		Store: s, Transport: transport, Fallback: cache.NewPoll(s, 20*time.Millisecond, 2*time.Second), Logger: slog.New(slog.DiscardHandler),
		Member: fhir.Member{ID: uuid.NewV7().String(), Name: transport.Name(), Mode: transport.Name(), Lease: 2 * time.Second},
	}, caches...)
	if err != nil {
		t.Fatal(err)
	}
	return synchronizer
}

// footprint is what reconnections could leave behind.
type footprint struct{ goroutines, connections, listeners, slots, walMiB int }

func footprintOf(t *testing.T, s *Store) (f footprint) {
	t.Helper()
	f.goroutines = runtime.NumGoroutine()
	err := s.reserve.QueryRow(t.Context(), `SELECT (SELECT count(*) FROM pg_stat_activity WHERE datname = current_database()),
		(SELECT count(*) `+listeners+`), (SELECT count(*) FROM pg_replication_slots WHERE database = current_database()),
		(SELECT sum(size) / 1048576 FROM pg_ls_waldir())::int`).Scan(&f.connections, &f.listeners, &f.slots, &f.walMiB)
	if err != nil {
		t.Fatal(err)
	}
	return f
}

// Reconnections leave nothing behind: no connection, no goroutine, no LISTEN, no
// slot, no WAL. TEST_RECONNECTS says how often each transport loses its
// connection.
func TestReconnections(t *testing.T) {
	rounds := 100
	if text := os.Getenv("TEST_RECONNECTS"); text != "" {
		var err error
		if rounds, err = strconv.Atoi(text); err != nil {
			t.Fatal(err)
		}
	}
	url := postgrestest.New(t)
	s, other := open(t, url), open(t, url)
	notify, logical := instance(t, s, s.Notify()), instance(t, other, other.Logical())
	ended := []int32{0}
	connected := func() bool {
		var fresh int
		if err := s.reserve.QueryRow(t.Context(), `SELECT count(*) `+listeners+` AND pid <> ALL ($1)`, ended).Scan(&fresh); err != nil {
			t.Fatal(err)
		}
		return notify.Using() == "notify" && logical.Using() == "logical" && fresh == 2
	}
	eventually(t, "both listen", connected)
	warm := min(10, rounds/2)
	var before footprint
	begun := time.Now()
	for round := range rounds {
		if ended = terminate(t, s); len(ended) != 2 {
			t.Fatalf("round %d: %d connections of transports", round, len(ended))
		}
		eventually(t, "both listen again", connected)
		if round == warm {
			before = footprintOf(t, s)
		}
	}
	after := footprintOf(t, s)
	t.Logf("%d rounds in %v: %+v before, %+v after", rounds, time.Since(begun).Round(time.Millisecond), before, after)
	if after.goroutines > before.goroutines+8 || after.connections > before.connections+4 || after.listeners != 2 || after.slots != 1 ||
		after.walMiB > before.walMiB+64 {
		t.Errorf("left behind: %+v, then %+v", before, after)
	}
	put(t, s, "ValueSet", "x")
	notify.Close()
	logical.Close()
	leavesNothing(t, s)
}
