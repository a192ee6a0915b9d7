package postgres

import (
	"context"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"starling/internal/fhir"
	"starling/internal/postgres/postgrestest"
)

// While more slow searches than there are places ask for theirs, quick ones get
// through, and in the end nothing runs on in the database.
func TestQuickSearchesPassSlowOnes(t *testing.T) {
	const limit = time.Minute
	s, err := Open(t.Context(), Config{URL: postgrestest.New(t), SearchTimeout: limit})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.Close)
	do(t, s, patient("p", `,"active":true`))
	asked, giveUp := context.WithCancel(t.Context())
	defer giveUp()
	slow := func() error {
		return s.limited(asked, func(ctx context.Context) error {
			return s.withConn(ctx, func(conn *pgx.Conn) error {
				_, err := conn.Exec(ctx, `SELECT pg_sleep(61)`)
				return err
			})
		})
	}
	slowOnes := 3 * cap(s.lanes.all)
	results := make(chan error, slowOnes)
	for range slowOnes {
		go func() { results <- slow() }()
	}
	for start := time.Now(); len(s.lanes.slow) < cap(s.lanes.slow) && time.Since(start) < limit/2; {
		time.Sleep(time.Millisecond)
	}
	for n := range 20 {
		query := &fhir.SearchQuery{Types: []fhir.ResourceType{"Patient"}, Count: 1}
		if page, err := s.Search(t.Context(), query); err != nil || len(page.Matches) != 1 {
			t.Fatalf("a quick search after %d: %v", n, err)
		}
	}
	if len(results) > 0 {
		t.Errorf("a slow search had ended: %v", <-results)
	}
	if len(s.lanes.slow) != cap(s.lanes.slow) {
		t.Errorf("%d of %d slow ones run", len(s.lanes.slow), cap(s.lanes.slow))
	}
	giveUp()
	for range slowOnes {
		if err := <-results; err == nil {
			t.Error("a slow search gave an answer")
		}
	}
	waitUntilNoneRuns(t, s, "pg_sleep(61)")
	if len(s.lanes.all)+len(s.lanes.slow) > 0 || s.lanes.waiting.Load() != 0 {
		t.Error("places are still taken")
	}
}

// waitUntilNoneRuns waits until no statement with a text runs in the database. On a
// busy machine that takes long: pgx allows a cancellation 15 s to get through before
// it closes the connection.
func waitUntilNoneRuns(t *testing.T, s *Store, text string) {
	t.Helper()
	for deadline := time.Now().Add(30 * time.Second); ; time.Sleep(20 * time.Millisecond) {
		var running int
		err := s.reserve.QueryRow(t.Context(), `SELECT count(*) FROM pg_stat_activity
			WHERE strpos(query, $1) > 0 AND state = 'active' AND pid <> pg_backend_pid()`, text).Scan(&running)
		if err != nil {
			t.Fatal(err)
		}
		if running == 0 {
			return
		}
		if time.Now().After(deadline) {
			t.Fatalf("%d cancelled searches still run in the database", running)
		}
	}
}

// A search that is pushed out while it looks for contained resources runs again
// as it was asked.
func TestSearchPushedOutRunsAgain(t *testing.T) {
	s, err := Open(t.Context(), Config{URL: postgrestest.New(t), SearchTimeout: time.Minute})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.Close)
	do(t, s, patient("p", `,"active":true`))
	// Others wait, and no slow place is free.
	s.lanes.waiting.Add(1)
	for range cap(s.lanes.slow) {
		s.lanes.slow <- struct{}{}
	}
	again := make(chan struct{})
	s.lanes.again = func() { close(again) }
	lock, err := s.reserve.Begin(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if _, err := lock.Exec(t.Context(), `LOCK TABLE search_key`); err != nil {
		t.Fatal(err)
	}
	answer := make(chan error, 1)
	go func() {
		query := &fhir.SearchQuery{
			Types: []fhir.ResourceType{"Observation"}, Count: 1,
			Criteria: fhir.Chain{Param: "subject", Type: "Patient", Criterion: fhir.IDIn{"p"}},
		}
		_, err := s.Search(t.Context(), query)
		answer <- err
	}()
	for _, running := range []int{1, 0} { // until it was pushed out
		for start := time.Now(); len(s.lanes.all) != running && time.Since(start) < time.Minute; {
			time.Sleep(time.Millisecond)
		}
	}
	<-s.lanes.slow
	select {
	case <-again:
	case err := <-answer:
		t.Fatalf("the search was not pushed out: %v", err)
	case <-time.After(time.Minute):
		t.Fatal("the search does not run again")
	}
	if err := lock.Commit(t.Context()); err != nil {
		t.Fatal(err)
	}
	if err := <-answer; err != nil {
		t.Fatal(err)
	}
}
