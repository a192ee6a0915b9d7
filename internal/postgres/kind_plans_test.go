package postgres

import (
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
)

// traced records the statements of searches.
type traced struct{ statements []pgx.TraceQueryStartData }

func (r *traced) TraceQueryStart(ctx context.Context, _ *pgx.Conn, data pgx.TraceQueryStartData) context.Context {
	r.statements = append(r.statements, data)
	return ctx
}

func (*traced) TraceQueryEnd(context.Context, *pgx.Conn, pgx.TraceQueryEndData) {}

// planNode is a node of a plan that was carried out.
type planNode struct {
	Type     string  `json:"Node Type"`
	Relation string  `json:"Relation Name"`
	Index    string  `json:"Index Name"`
	Rows     float64 `json:"Actual Rows"`
	Loops    float64 `json:"Actual Loops"`
	Filtered float64 `json:"Rows Removed by Filter"`
	Joined   float64 `json:"Rows Removed by Join Filter"`
	Plans    []*planNode
}

// check fails on a sequential scan, and gives the rows that the plan looked at.
func (n *planNode) check(t *testing.T) (rows float64) {
	t.Helper()
	if n.Type == "Seq Scan" {
		t.Errorf("a sequential scan of %s", n.Relation)
	}
	if n.Relation != "" || n.Joined > 0 || n.Type == "Materialize" {
		rows = n.Loops * (n.Rows + n.Filtered + n.Joined)
	}
	for _, below := range n.Plans {
		rows += below.check(t)
	}
	return rows
}

const (
	// mostSelective is how many rows a search may look at that has a criterion
	// which holds for few resources: a few of each of its sets, to find that one,
	// and what is looked up for it.
	mostSelective = 5 * few
	// mostPasses is how often any other may look at each row there is.
	mostPasses = 6
)

// TestKindPlans carries out every statement of every kind of query on a large
// database, planned for any values, as searches are, and for its own (a pooler may
// drop the setting), with statistics and without:
// none scans a table, a selective one looks at few rows however large the
// database, and none looks at the rows of one set for each of another.
func TestKindPlans(t *testing.T) {
	const resources = 30_000
	s := openClinic(t, resources)
	tracer := &traced{}
	s.requests.Close()
	var err error
	url := s.reserve.Config().ConnString()
	if s.requests, err = openPool(t.Context(), url, 4, searchSettings, func(config *pgxpool.Config) { config.ConnConfig.Tracer = tracer }); err != nil {
		t.Fatal(err)
	}
	explainer, err := openPool(t.Context(), url, 1, searchSettings)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(explainer.Close)
	conn, err := explainer.Acquire(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Release()
	all := func(t *testing.T, modes ...string) {
		for _, kind := range searchKinds {
			t.Run(kind.name, func(t *testing.T) {
				tracer.statements = nil
				if _, err := kind.run(t.Context(), s, kind.query(rand.New(rand.NewPCG(7, 8)), resources/clinicOfPatient)); err != nil {
					t.Fatal(err)
				}
				if len(tracer.statements) == 0 {
					t.Fatal("no statement")
				}
				for _, mode := range modes {
					rows, texts := 0.0, ""
					for _, statement := range tracer.statements {
						plan, text := carryOut(t, conn.Conn(), mode, statement)
						looked := plan.check(t)
						rows, texts = rows+looked, fmt.Sprintf("%s%s\n%v\n%.0f rows:\n%s\n", texts, statement.SQL, statement.Args, looked, text)
					}
					if kind.selective && rows > mostSelective || rows > mostPasses*resources || t.Failed() {
						t.Fatalf("%s looks at %.0f rows\n%s", mode, rows, texts)
					}
				}
			})
		}
	}
	t.Run("with statistics", func(t *testing.T) { all(t, "force_custom_plan", "force_generic_plan") })
	if _, err := s.reserve.Exec(t.Context(), `DELETE FROM pg_statistic`); err != nil {
		t.Skipf("the statistics stay: %v", err)
	}
	t.Run("without statistics", func(t *testing.T) { all(t, "force_generic_plan") })
}

// TestWordsAreWalked checks how the function of the database finds words, which the
// plan of a search does not show.
func TestWordsAreWalked(t *testing.T) {
	s := openClinic(t, 3000)
	conn, err := s.requests.Acquire(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Release()
	var settings []string
	if err := conn.QueryRow(t.Context(), `SELECT proconfig FROM pg_proc WHERE proname = 'text_matches'`).Scan(&settings); err != nil || len(settings) == 0 {
		t.Fatal(settings, err)
	}
	for _, setting := range settings {
		name, value, _ := strings.Cut(setting, "=")
		if _, err := conn.Exec(t.Context(), `SELECT set_config($1, $2, false)`, name, value); err != nil {
			t.Fatal(err)
		}
	}
	plan, text := carryOut(t, conn.Conn(), "force_generic_plan", pgx.TraceQueryStartData{
		SQL: `SELECT t.rid FROM search_text t WHERE t.words @@ $1::text::tsquery`, Args: []any{"'patient7':A"},
	})
	if rows := plan.check(t); rows > 5 || t.Failed() {
		t.Errorf("looks at %.0f rows:\n%s", rows, text)
	}
}

// carryOut prepares a statement and gives the plan that was carried out.
func carryOut(t *testing.T, conn *pgx.Conn, mode string, statement pgx.TraceQueryStartData) (*planNode, string) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
	defer cancel()
	for _, sql := range []string{`DEALLOCATE ALL`, `SET plan_cache_mode = ` + mode, `PREPARE kind AS ` + statement.SQL} {
		if _, err := conn.Exec(ctx, sql, pgx.QueryExecModeSimpleProtocol); err != nil {
			t.Fatalf("%s: %v", sql, err)
		}
	}
	values := make([]string, len(statement.Args))
	for i := range values {
		values[i] = fmt.Sprint("$", i+1)
	}
	list := ""
	if len(values) > 0 {
		list = `(` + strings.Join(values, `, `) + `)`
	}
	var text string
	args := append([]any{pgx.QueryExecModeSimpleProtocol}, statement.Args...)
	if err := conn.QueryRow(ctx, `EXPLAIN (ANALYZE, COSTS OFF, TIMING OFF, FORMAT JSON) EXECUTE kind`+list, args...).Scan(&text); err != nil {
		t.Fatalf("%s: %v", statement.SQL, err)
	}
	var plans []struct{ Plan *planNode }
	if err := json.Unmarshal([]byte(text), &plans); err != nil || len(plans) != 1 {
		t.Fatalf("%s: %v", text, err)
	}
	return plans[0].Plan, plans[0].Plan.text(0)
}

// text draws a plan with the rows looked at.
func (n *planNode) text(depth int) string {
	text := fmt.Sprintf("%s%s %s %s: %.0f × (%.0f, %.0f filtered, %.0f not joined)\n", strings.Repeat("  ", depth), n.Type, n.Relation, n.Index, n.Loops, n.Rows, n.Filtered, n.Joined)
	for _, below := range n.Plans {
		text += below.text(depth + 1)
	}
	return text
}
