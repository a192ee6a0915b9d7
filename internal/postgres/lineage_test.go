package postgres

import (
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"

	"starling/internal/fhir"
	"starling/internal/postgres/postgrestest"
)

// Each batch of writes compares lineages: the function has to be a part of its
// statement, and not one of its own that is called for each row.
func TestLineageIsPartOfItsStatement(t *testing.T) {
	url := postgrestest.New(t)
	open(t, url)
	conn, err := pgx.Connect(t.Context(), url)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = conn.Close(t.Context()) }()
	rows, err := conn.Query(t.Context(), `EXPLAIN (VERBOSE) SELECT cache_lineage(epoch) FROM cache_version`)
	if err != nil {
		t.Fatal(err)
	}
	lines, err := pgx.CollectRows(rows, pgx.RowTo[string])
	if err != nil {
		t.Fatal(err)
	}
	if plan := strings.Join(lines, "\n"); strings.Contains(plan, "cache_lineage") || !strings.Contains(plan, "pg_walfile_name") {
		t.Errorf("it is called:\n%s", plan)
	}
}

// What a lineage began with is what it has kept of those before it.
func TestLineagesBeginWithWhatTheyKept(t *testing.T) {
	s := open(t, postgrestest.New(t))
	began := func() map[string]int64 {
		states, err := s.Beginnings(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		validation := map[string]int64{}
		for _, state := range states {
			if version, ok := state.Versions[fhir.DomainValidation]; ok {
				validation[state.Lineage] = version
			}
		}
		return validation
	}
	first := basisOf(t, s).Lineage
	if got := began(); len(got) != 1 || got[first] != 1 {
		t.Errorf("before any change: %v", got)
	}
	put(t, s, "ValueSet", "a")
	put(t, s, "ValueSet", "b")
	if got := began(); len(got) != 1 || got[first] != 1 {
		t.Errorf("after two changes: %v", got)
	}
	if _, err := s.reserve.Exec(t.Context(), `SELECT raise_cache_epoch()`); err != nil {
		t.Fatal(err)
	}
	put(t, s, "ValueSet", "c")
	second := basisOf(t, s)
	if got := began(); len(got) != 2 || got[first] != 1 || got[second.Lineage] != 3 || second.Versions[fhir.DomainValidation.Number()] != 5 {
		t.Errorf("after a restore and a change: %v, now %v", got, second)
	}
}
