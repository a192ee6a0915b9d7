package postgres

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"starling/internal/fhir"
	"starling/internal/postgres/postgrestest"
)

// A search over its limit is cancelled in the database and answered as too
// costly, and while as many as may are under way a read is served.
func TestSearchTimeLimit(t *testing.T) {
	s, err := Open(t.Context(), Config{URL: postgrestest.New(t), SearchTimeout: 300 * time.Millisecond})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.Close)
	do(t, s, patient("p", `,"active":true`))
	slow := func() error {
		return s.limited(t.Context(), func(ctx context.Context) error {
			return s.withConn(ctx, func(conn *pgx.Conn) error {
				_, err := conn.Exec(ctx, `SELECT pg_sleep(60)`)
				return err
			})
		})
	}
	results := make(chan error)
	for range cap(s.lanes.all) {
		go func() { results <- slow() }()
	}
	start := time.Now()
	// On a busy machine the first may be over before the last begins.
	for len(s.lanes.all) < cap(s.lanes.all) && time.Since(start) < 5*time.Second {
		time.Sleep(time.Millisecond)
	}
	if _, err := s.History(t.Context(), &fhir.HistoryQuery{Type: "Patient", Count: 1}); err != nil {
		t.Errorf("a history beside the searches: %v", err)
	}
	for range cap(s.lanes.all) {
		var failure *fhir.Error
		if err := <-results; !errors.As(err, &failure) || failure.Kind != fhir.KindTimeout || failure.Issues[0].Code != fhir.IssueTooCostly {
			t.Errorf("a slow search: %v", err)
		}
	}
	if took := time.Since(start); took > 20*time.Second {
		t.Errorf("cancelled after %s", took)
	}
	waitUntilNoneRuns(t, s, "pg_sleep(60)")
	if page, err := s.Search(t.Context(), &fhir.SearchQuery{Types: []fhir.ResourceType{"Patient"}, Count: 1}); err != nil || len(page.Matches) != 1 {
		t.Errorf("a search after them: %v", err)
	}
}

// The database's own limit leaves a search its time.
func TestSearchTimeLimitOfTheDatabase(t *testing.T) {
	url := postgrestest.New(t)
	for limit, want := range map[time.Duration]string{0: "30s", 90 * time.Second: "95s"} {
		s, err := Open(t.Context(), Config{URL: url, SearchTimeout: limit})
		if err != nil {
			t.Fatal(err)
		}
		var got string
		if err := s.requests.QueryRow(t.Context(), `SHOW statement_timeout`).Scan(&got); err != nil || got != want {
			t.Errorf("%s: %q, %v, want %q", limit, got, err, want)
		}
		s.Close()
	}
}

// An estimate comes from the planner where counting would not be cheap, and is
// the count where it is.
func TestEstimate(t *testing.T) {
	s := open(t, postgrestest.New(t))
	for first := 0; first < 400; first += 200 {
		fillFrom(t, s, first, 200)
	}
	if _, err := s.reserve.Exec(t.Context(), `ANALYZE`); err != nil {
		t.Fatal(err)
	}
	query := &fhir.SearchQuery{Types: []fhir.ResourceType{"Observation"}, Total: fhir.TotalEstimate}
	page, err := s.Search(t.Context(), query)
	if err != nil || page.Total != 400 || page.Estimated {
		t.Errorf("%+v, %v", page, err)
	}
	conn, err := s.requests.Acquire(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Release()
	for code, most := range map[string]int64{"": 800, "code0-1": 400} {
		query.Criteria = nil
		if code != "" {
			query.Criteria = fhir.Token{Param: "token0", System: ref("urn:example:system"), Code: &code}
		}
		estimate, err := s.estimate(t.Context(), conn.Conn(), query)
		if err != nil || !estimate.estimated || estimate.matches < 1 || estimate.matches > most {
			t.Errorf("%q: %+v, %v", code, estimate, err)
		}
	}
}

func TestDecimalOrder(t *testing.T) {
	ascending := []string{"-Infinity", "-1e3", "-12.50", "-12.5", "-0.001", "0", "-0", "0.000", "1e-7", "0.0999", "1E-1", "0.10", "2", "10", "1.0e1", "99.9", "100", "Infinity"}
	equal := map[string]string{"-12.50": "-12.5", "0": "-0", "-0": "0.000", "1E-1": "0.10", "10": "1.0e1"}
	for i := range ascending[1:] {
		a, b := ascending[i], ascending[i+1]
		want := -1
		if equal[a] == b {
			want = 0
		}
		if got := compareDecimals(a, b); got != want || compareDecimals(b, a) != -want {
			t.Errorf("%s against %s: %d, want %d", a, b, got, want)
		}
	}
}

// Each way to find a sorted page, what refers to resources, and the total of a
// type, walks indexes whether the database has statistics or not.
func TestResultPlans(t *testing.T) {
	s := open(t, postgrestest.New(t))
	for first := 0; first < 2000; first += 200 {
		fillFrom(t, s, first, 200)
	}
	conn, err := s.requests.Acquire(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Release()
	check := func(t *testing.T, name, index, sql string, args ...any) {
		t.Helper()
		rows, err := conn.Query(t.Context(), `EXPLAIN (COSTS OFF) `+sql, args...)
		if err != nil {
			t.Fatal(err)
		}
		lines, err := pgx.CollectRows(rows, pgx.RowTo[string])
		if err != nil {
			t.Fatal(err)
		}
		plan := strings.Join(lines, "\n")
		if strings.Contains(plan, "Seq Scan") || !strings.Contains(plan, index) {
			t.Errorf("%s does not walk %s:\n%s", name, index, plan)
		}
	}
	all := func(t *testing.T) {
		for name, walked := range map[string]struct {
			key   fhir.SortKey
			index string
		}{
			"id":         {fhir.SortKey{Kind: fhir.SortID}, "resource_type_id_key"},
			"updated":    {fhir.SortKey{Kind: fhir.SortUpdated, Descending: true}, "version_time"},
			"date":       {fhir.SortKey{Kind: fhir.SortDate, Param: "date"}, "search_date_pkey"},
			"date, down": {fhir.SortKey{Kind: fhir.SortDate, Param: "date", Descending: true}, "search_date_high"},
			"number":     {fhir.SortKey{Kind: fhir.SortNumber, Param: "quantity", Descending: true}, "search_number_low"},
			"string":     {fhir.SortKey{Kind: fhir.SortString, Param: "name"}, "search_string_pkey"},
		} {
			query := &fhir.SearchQuery{Types: []fhir.ResourceType{"Observation"}, Count: 10, Sort: []fhir.SortKey{walked.key}}
			q := searching{store: s, query: query}
			var b sqlBuilder
			if err := q.segmentWalk(0).write(&b, "Observation", 11, 0); err != nil {
				t.Fatal(err)
			}
			check(t, name, walked.index, b.String(), b.args...)
		}
		check(t, "referring", "search_key_pkey", referringSQL, []int64{1, 2, 3}, int64(10))
	}
	t.Run("without statistics", all)
	if _, err := s.reserve.Exec(t.Context(), `ANALYZE`); err != nil {
		t.Fatal(err)
	}
	t.Run("with statistics", all)
}
