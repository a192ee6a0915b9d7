package postgres

import (
	"context"
	"regexp"
	"strings"
	"sync"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"starling/internal/fhir"
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
			stmtDropKeys: "search_key_pkey", stmtDropDates: "search_date_high", stmtDropTexts: "search_string_pkey",
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

// TestSearchPlans checks that a search by a value walks that value's index
// rows, whether the database has statistics or not, and for a rare value as for
// a common one.
func TestSearchPlans(t *testing.T) {
	s := open(t, postgrestest.New(t))
	for first := 0; first < 2000; first += 200 {
		fillFrom(t, s, first, 200)
	}
	conn, err := s.requests.Acquire(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Release()
	check := func(t *testing.T) {
		for _, mode := range []string{"force_custom_plan", "force_generic_plan"} {
			if _, err := conn.Exec(t.Context(), `SET plan_cache_mode = `+mode); err != nil {
				t.Fatal(err)
			}
			for _, code := range []string{"code0-1", "code6-7"} {
				query := &fhir.SearchQuery{
					Types: []fhir.ResourceType{"Observation"}, Count: 10,
					Criteria: fhir.Token{Param: "token" + code[4:5], System: ref("urn:example:system"), Code: &code},
				}
				var b sqlBuilder
				q := searching{store: s, query: query, cursor: &searchCursor{RID: 5}}
				if err := q.unsortedSQL(&b, (*scan).from); err != nil {
					t.Fatal(err)
				}
				rows, err := conn.Query(t.Context(), `EXPLAIN (COSTS OFF) `+b.String(), b.args...)
				if err != nil {
					t.Fatal(err)
				}
				lines, err := pgx.CollectRows(rows, pgx.RowTo[string])
				if err != nil {
					t.Fatal(err)
				}
				plan := strings.Join(lines, "\n")
				driver := indexScan.FindStringSubmatch(plan)
				_, below, _ := strings.Cut(plan, "Limit") // above it a page is sorted at most
				if slowNode.MatchString(plan) || strings.Contains(below, "Sort") || driver == nil || driver[1] != "search_key_pkey" {
					t.Errorf("%s, %s:\n%s", mode, code, plan)
				}
			}
		}
	}
	t.Run("without statistics", check)
	if _, err := s.reserve.Exec(t.Context(), `ANALYZE`); err != nil {
		t.Fatal(err)
	}
	t.Run("with statistics", check)
}

func fillFrom(t *testing.T, s *Store, first, n int) {
	var wait sync.WaitGroup
	for i := first; i < first+n; i++ {
		wait.Go(func() {
			if _, err := s.Write(context.Background(), sample(i)); err != nil {
				t.Error(err)
			}
		})
	}
	wait.Wait()
}
