package postgres

import (
	"context"
	"regexp"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"starling/internal/postgres/postgrestest"
)

// explain gives the plan of a prepared statement of the hot paths on one of
// the loops' connections, with empty arrays as parameters.
func explain(t *testing.T, conn *pgx.Conn, name string) string {
	t.Helper()
	descriptions := conn.PgConn().CustomData()[prepared].(map[string]*pgconn.StatementDescription)
	parameters := make([]string, len(descriptions[name].ParamOIDs))
	for i := range parameters {
		parameters[i] = `'{}'`
	}
	list := ""
	if len(parameters) > 0 {
		list = `(` + strings.Join(parameters, `, `) + `)`
	}
	rows, err := conn.Query(t.Context(), `EXPLAIN (COSTS OFF) EXECUTE `+name+list, pgx.QueryExecModeSimpleProtocol)
	if err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	lines, err := pgx.CollectRows(rows, pgx.RowTo[string])
	if err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	return strings.Join(lines, "\n")
}

var (
	slowNode  = regexp.MustCompile(`Seq Scan on|Hash Join|Merge Join|Hash Semi|Bitmap`)
	indexScan = regexp.MustCompile(`Index (?:Only )?Scan using (\w+)`)
)

// TestPlans checks that the statements of the hot paths walk indexes, whether
// planned on an empty table or on one with statistics.
func TestPlans(t *testing.T) {
	s := open(t, postgrestest.New(t))
	check := func(t *testing.T) {
		conn, err := s.coalesced.Acquire(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		defer conn.Release()
		if _, err := conn.Exec(t.Context(), `DISCARD PLANS`); err != nil {
			t.Fatal(err)
		}
		for name, indexes := range map[string]string{
			stmtRead: "resource_type_id_key version_pkey", stmtReadVer: "resource_type_id_key version_pkey",
			stmtLock: "resource_type_id_key", stmtUpdate: "resource_pkey", stmtAmend: "version_pkey",
			stmtDropKeys: "search_key_pkey", stmtDropDates: "search_date_pkey", stmtDropTexts: "search_string_pkey",
			stmtDropNumber: "search_number_low",
		} {
			plan := explain(t, conn.Conn(), name)
			if slowNode.MatchString(plan) {
				t.Errorf("%s:\n%s", name, plan)
			}
			var used []string
			for _, match := range indexScan.FindAllStringSubmatch(plan, -1) {
				used = append(used, match[1])
			}
			if got := strings.Join(used, " "); got != indexes {
				t.Errorf("%s uses %q, want %q:\n%s", name, got, indexes, plan)
			}
		}
	}
	t.Run("empty", check)
	for i := range 300 {
		do(t, s, sample(i))
	}
	if _, err := s.reserve.Exec(context.Background(), `ANALYZE`); err != nil {
		t.Fatal(err)
	}
	t.Run("filled", check)
}
