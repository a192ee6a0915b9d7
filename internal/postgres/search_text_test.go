package postgres

import (
	"go/ast"
	"go/parser"
	"go/token"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"

	"starling/internal/fhir"
	"starling/internal/postgres/postgrestest"
)

// values are what a client may write into a query.
type values struct {
	text, number string
	float        float64
	time         time.Time
}

// criteria has each kind of criterion, of these values wherever a text of the
// query comes in.
func (v values) criteria() []fhir.Criterion {
	span := fhir.TimeRange{Low: v.time, High: v.time.Add(time.Hour)}
	token := fhir.Token{Param: v.text, System: &v.text, Code: &v.text}
	list := []fhir.Criterion{
		fhir.IDIn{v.text, v.text + "2"},
		token,
		fhir.Token{Param: v.text, Code: &v.text, FoldCase: true},
		fhir.Token{Param: v.text, System: &v.text},
		fhir.Or{token, fhir.Token{Param: v.text, Code: &v.text}},
		fhir.And{token, fhir.URI{Param: v.text, URI: v.text}},
		fhir.Not{Criterion: token},
		fhir.TypeIs("Observation"),
		fhir.Missing{Param: v.text, Missing: true},
		fhir.ReferenceTo{Param: v.text, Type: "Patient", ID: v.text},
		fhir.ReferenceTo{Param: v.text, ID: v.text},
		fhir.ReferenceTo{Param: v.text, URL: v.text, Version: v.text},
		fhir.ReferenceBy{Param: v.text, System: &v.text, Code: v.text},
		fhir.OfType{Param: v.text, System: v.text, Code: v.text, Value: v.text},
		fhir.URI{Param: v.text, URI: v.text},
		fhir.TokenIn{Param: v.text, Codes: []fhir.TokenValue{{System: v.text, Code: v.text}}},
		fhir.URIBelow{Param: v.text, URI: v.text},
		fhir.URIBelow{Param: "_profile", URI: v.text},
		fhir.Named{Param: v.text, Value: v.text},
		fhir.Text{Words: v.text, Begins: true},
		fhir.Text{Narrative: true, Words: v.text},
		fhir.Chain{Param: v.text, Type: "Patient", Canonical: true, Criterion: fhir.IDIn{v.text}},
		fhir.Has{Param: v.text, Type: "Patient", Canonical: true, Criterion: fhir.IDIn{v.text}},
		fhir.Near{Param: v.text, Latitude: v.float, Longitude: v.float, Distance: v.float},
		fhir.Composite{Param: v.text, Parts: []fhir.Criterion{token, fhir.Quantity{Value: v.number, Low: v.number, High: v.number}}},
		fhir.Composite{Param: v.text, Parts: []fhir.Criterion{token, token}},
		fhir.Chain{Param: v.text, Type: "Patient", Criterion: token},
		fhir.Chain{Param: v.text, Type: "Patient", Criterion: token, Canonical: true},
		fhir.Has{Type: "Patient", Param: v.text, Criterion: token},
		fhir.Has{Type: "Patient", Param: v.text, Criterion: token, Canonical: true},
		fhir.Contained{Type: "Patient", Criterion: token, Itself: true},
	}
	for _, match := range []fhir.StringMatch{fhir.StringStarts, fhir.StringContains, fhir.StringExact, fhir.StringEnds} {
		list = append(list, fhir.String{Param: v.text, Match: match, Value: v.text})
	}
	for _, prefix := range []fhir.Prefix{
		fhir.PrefixEqual, fhir.PrefixNotEqual, fhir.PrefixGreater, fhir.PrefixLess, fhir.PrefixGreaterOrEqual, fhir.PrefixLessOrEqual,
		fhir.PrefixStartsAfter, fhir.PrefixEndsBefore, fhir.PrefixApproximate, fhir.Prefix(v.text),
	} {
		quantity := fhir.Quantity{Param: v.text, Prefix: prefix, Value: v.number, Low: v.number, High: v.number, Code: v.text}
		canonical := quantity
		canonical.Canonical = &fhir.CanonicalQuantity{Value: v.number, Low: v.number, High: v.number, Unit: v.text}
		list = append(list, fhir.Updated{Prefix: prefix, Range: span}, fhir.Date{Param: v.text, Prefix: prefix, Range: span},
			fhir.Number{Param: v.text, Prefix: prefix, Value: v.number, Low: v.number, High: v.number}, quantity, canonical)
	}
	return list
}

// The statements of a search are the same whatever a client asks for: its values
// are parameters, and no text of the query is part of the SQL.
func TestStatementsHaveNoValues(t *testing.T) {
	s := open(t, postgrestest.New(t))
	tracer := &traced{}
	s.requests.Close()
	var err error
	url := s.reserve.Config().ConnString()
	if s.requests, err = openPool(t.Context(), url, 4, searchSettings, func(config *pgxpool.Config) { config.ConnConfig.Tracer = tracer }); err != nil {
		t.Fatal(err)
	}
	sorts := [][]fhir.SortKey{nil}
	for _, kind := range []fhir.SortKind{fhir.SortID, fhir.SortUpdated, fhir.SortDate, fhir.SortNumber, fhir.SortString} {
		sorts = append(sorts, []fhir.SortKey{{Kind: kind, Param: "marker';--", Descending: kind == fhir.SortDate}})
	}
	statements := func(v values) (texts []string) {
		tracer.statements = nil
		for i, criteria := range append(v.criteria(), nil) {
			for _, total := range []fhir.TotalMode{fhir.TotalNone, fhir.TotalAccurate, fhir.TotalEstimate} {
				query := &fhir.SearchQuery{Types: []fhir.ResourceType{"Observation"}, Count: 5, Criteria: criteria, Total: total, Sort: sorts[i%len(sorts)]}
				if _, err := s.Search(t.Context(), query); err != nil {
					t.Fatalf("%T: %v", criteria, err)
				}
			}
		}
		for _, key := range sorts[1:] {
			for _, large := range []bool{false, true} {
				query := &fhir.SearchQuery{Types: []fhir.ResourceType{"Observation"}, Count: 5, Criteria: v.criteria()[1], Sort: key}
				q := searching{store: s, query: query, sizes: sizes{}, cursor: &searchCursor{RID: v.time.Unix(), values: []sortValue{{present: true, text: v.text, number: v.time.Unix()}}}}
				if large {
					q.sizes["Observation"] = []int{few}
				}
				for _, first := range []int{0, few} {
					var b sqlBuilder
					if err := q.segmentWalk(0).write(&b, "Observation", 5, first); err != nil {
						t.Fatal(err)
					}
					texts = append(texts, b.String())
				}
			}
		}
		for _, statement := range tracer.statements {
			texts = append(texts, statement.SQL)
		}
		return texts
	}
	one := statements(values{"marker'; DROP TABLE resource; --", "1234567.25", 12.345678, time.Unix(1234567890, 0)})
	other := statements(values{`another marker" $1 \ %s 漢`, "-0.000000987", -76.54321, time.Unix(-987654321, 0)})
	if len(one) < 200 || len(one) != len(other) {
		t.Fatalf("%d statements and %d", len(one), len(other))
	}
	for i, text := range one {
		if text != other[i] {
			t.Fatalf("other values, another statement:\n%s\n%s", text, other[i])
		}
		for _, part := range []string{"marker", "DROP", "12345", "12.345"} {
			if strings.Contains(text, part) {
				t.Fatalf("%s is in %s", part, text)
			}
		}
	}
}

// The test above has each type of criterion there is.
func TestAllCriteriaAreTried(t *testing.T) {
	file, err := parser.ParseFile(token.NewFileSet(), "../fhir/query.go", nil, 0)
	if err != nil {
		t.Fatal(err)
	}
	var tried []string
	for _, criterion := range (values{}).criteria() {
		tried = append(tried, reflect.TypeOf(criterion).Name())
	}
	found := 0
	for _, declaration := range file.Decls {
		method, ok := declaration.(*ast.FuncDecl)
		if !ok || method.Name.Name != "criterion" {
			continue
		}
		found++
		if name := method.Recv.List[0].Type.(*ast.Ident).Name; !slices.Contains(tried, name) {
			t.Errorf("%s is not tried", name)
		}
	}
	if found < 20 {
		t.Errorf("only %d types of criteria found", found)
	}
}
