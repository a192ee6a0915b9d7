package postgres

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"starling/internal/fhir"
	"starling/internal/postgres/postgrestest"
)

// While more slow searches than there are places ask for theirs, quick ones get
// through, and in the end nothing runs on in the database.
func TestQuickSearchesPassSlowOnes(t *testing.T) {
	const limit = 3 * time.Second
	s, err := Open(t.Context(), Config{URL: postgrestest.New(t), SearchTimeout: limit})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.Close)
	do(t, s, patient("p", `,"active":true`))
	slow := func() error {
		return s.limited(t.Context(), func(ctx context.Context) error {
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
	start := time.Now()
	for len(s.lanes.slow) < cap(s.lanes.slow) {
		time.Sleep(time.Millisecond)
	}
	served := 0
	for time.Since(start) < limit/2 {
		query := &fhir.SearchQuery{Types: []fhir.ResourceType{"Patient"}, Count: 1}
		if page, err := s.Search(t.Context(), query); err != nil || len(page.Matches) != 1 {
			t.Fatalf("a quick search after %d: %v", served, err)
		}
		served++
	}
	if len(results) > 0 {
		t.Errorf("a slow search had ended: %v", <-results)
	}
	if len(s.lanes.slow) != cap(s.lanes.slow) {
		t.Errorf("%d of %d slow ones run", len(s.lanes.slow), cap(s.lanes.slow))
	}
	if served < 20 {
		t.Errorf("only %d quick searches were served", served)
	}
	cancelled := 0
	for range slowOnes {
		var failure *fhir.Error
		switch err := <-results; {
		case !errors.As(err, &failure):
			t.Errorf("a slow search: %v", err)
		case failure.Kind == fhir.KindTimeout && failure.Issues[0].Code == fhir.IssueTooCostly:
			cancelled++
		case failure.Kind != fhir.KindThrottled:
			t.Errorf("a slow search: %v", err)
		}
	}
	if cancelled < cap(s.lanes.slow) {
		t.Errorf("only %d were cancelled", cancelled)
	}
	waitUntilNoneRuns(t, s, "pg_sleep(61)")
	if len(s.lanes.all)+len(s.lanes.slow) > 0 || s.lanes.waiting.Load() != 0 {
		t.Error("places are still taken")
	}
}

// waitUntilNoneRuns waits until no statement with a text runs in the database.
func waitUntilNoneRuns(t *testing.T, s *Store, text string) {
	t.Helper()
	for deadline := time.Now().Add(10 * time.Second); ; time.Sleep(20 * time.Millisecond) {
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
