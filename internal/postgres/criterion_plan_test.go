package postgres

import (
	"fmt"
	"regexp"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"

	"starling/internal/fhir"
	"starling/internal/postgres/postgrestest"
)

// typeWalk is a walk of all resources of a type.
var typeWalk = regexp.MustCompile(`Index Cond: \(type = '\d+'::smallint\)`)

// TestJoinPlans checks that what goes from one resource to another, and what
// asks for lists of values, walks indexes, with statistics and without.
func TestJoinPlans(t *testing.T) {
	s := open(t, postgrestest.New(t))
	fillFrom(t, s, 0, 300)
	for n := range 200 {
		do(t, s, patient(fmt.Sprint("patient", n), fmt.Sprint("code", n)))
	}
	conn, err := s.requests.Acquire(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Release()
	code := "code0-1"
	token := fhir.Token{Param: "token0", Code: &code}
	criteria := map[string]fhir.Criterion{
		"chain":      fhir.Chain{Param: "ref0", Type: "Patient", Criterion: fhir.Token{Param: "identifier", Code: ref("code7")}},
		"id chain":   fhir.Chain{Param: "ref0", Type: "Patient", Criterion: fhir.IDIn{"patient7"}},
		"chain and":  fhir.And{token, fhir.Chain{Param: "ref0", Type: "Patient", Criterion: fhir.Token{Param: "identifier", Code: ref("code7")}}},
		"has":        fhir.Has{Type: "Observation", Param: "ref0", Criterion: token},
		"chain has":  fhir.Chain{Param: "ref0", Type: "Patient", Criterion: fhir.Has{Type: "Observation", Param: "ref1", Criterion: token}},
		"any type":   fhir.ReferenceTo{Param: "ref0", ID: "patient7"},
		"list":       fhir.TokenIn{Param: "token0", Codes: []fhir.TokenValue{{System: "urn:example:system", Code: code}, {Code: "other"}}},
		"version":    fhir.ReferenceTo{Param: "ref0", Type: "Patient", ID: "patient7", Version: "1"},
		"composite":  fhir.Composite{Param: "pair", Parts: []fhir.Criterion{fhir.Token{Code: &code}, fhir.Token{Code: &code}}},
		"identified": fhir.ReferenceBy{Param: "ref0", Code: "7"},
	}
	check := func(t *testing.T) {
		for name, criterion := range criteria {
			typ := fhir.ResourceType("Observation")
			if name == "has" {
				typ = "Patient"
			}
			var b sqlBuilder
			q := searching{store: s, query: &fhir.SearchQuery{Types: []fhir.ResourceType{typ}, Count: 10, Criteria: criterion}, cursor: &searchCursor{}}
			if err := q.unsortedSQL(&b, (*scan).from); err != nil {
				t.Fatal(err)
			}
			rows, err := conn.Query(t.Context(), `EXPLAIN (COSTS OFF) `+b.String(), b.args...)
			if err != nil {
				t.Fatalf("%s: %v", name, err)
			}
			lines, err := pgx.CollectRows(rows, pgx.RowTo[string])
			if err != nil {
				t.Fatalf("%s: %v", name, err)
			}
			plan := strings.Join(lines, "\n")
			if strings.Contains(plan, "Seq Scan on") || typeWalk.MatchString(plan) || indexScan.FindString(plan) == "" {
				t.Errorf("%s:\n%s", name, plan)
			}
		}
	}
	t.Run("without statistics", check)
	if _, err := s.reserve.Exec(t.Context(), `ANALYZE`); err != nil {
		t.Fatal(err)
	}
	t.Run("with statistics", check)
}
