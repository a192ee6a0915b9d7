package postgres

import (
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"

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
