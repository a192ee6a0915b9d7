package search

import (
	"fmt"
	"math/rand/v2"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"starling/internal/fhir"
	"starling/internal/postgres"
	"starling/internal/postgres/postgrestest"
)

func TestMain(m *testing.M) { postgrestest.Main(m) }

// storedTypes have every type of parameter between them.
var storedTypes = []fhir.ResourceType{
	"Patient", "Observation", "Condition", "Encounter", "ServiceRequest", "RiskAssessment", "MolecularSequence", "ValueSet", "Library", "Invoice",
}

// openStore opens a store on a database of its own. Without one there is
// nothing to compare the matcher with, and -short starts none.
func openStore(t *testing.T) *postgres.Store {
	t.Helper()
	if testing.Short() {
		t.Skip("-short starts no PostgreSQL")
	}
	store, err := postgres.Open(t.Context(), postgres.Config{URL: postgrestest.New(t)})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(store.Close)
	return store
}

// A store answers every query as the matcher does: random resources, and
// queries made of the values of each.
func TestStoreAnswersAsTheMatcher(t *testing.T) {
	store := openStore(t)
	random := rand.New(rand.NewPCG(1, 2))
	queries, matched := 0, 0
	for _, typ := range storedTypes {
		indexes := map[string]*fhir.Index{}
		var asked []string
		maker := rapid.Custom(func(t *rapid.T) string { return (&resourceMaker{t: t}).resource(string(typ)) })
		for n := range 30 {
			id := fmt.Sprintf("r%d", n)
			index, err := r4.Index(typ, parse(t, maker.Example(n)), base)
			if err != nil {
				t.Fatal(err)
			}
			indexes[id] = index
			if _, err := store.Write(t.Context(), &fhir.Write{
				Op: fhir.OpCreate, Method: fhir.MethodPost, Key: fhir.Key{Type: typ, ID: id}, Index: index,
			}); err != nil {
				t.Fatal(err)
			}
			asked = append(asked, queriesFor(index)...)
			asked = append(asked, comparisonsWith(index, random)...)
		}
		slices.Sort(asked)
		asked = slices.Compact(asked)
		random.Shuffle(len(asked), func(i, j int) { asked[i], asked[j] = asked[j], asked[i] })
		for i := range min(len(asked), 150) {
			query := asked[i]
			switch i % 10 {
			case 8:
				query += "&" + asked[random.IntN(len(asked))]
			case 9:
				_, other, _ := strings.Cut(asked[random.IntN(len(asked))], "=")
				query += "," + other
			}
			plan, _, err := r4.Plan([]fhir.ResourceType{typ}, query, true, base)
			if err != nil {
				continue // the value of another parameter may not do
			}
			queries++
			matched += compareAnswers(t, store, plan, query, indexes)
		}
	}
	t.Logf("%d queries, %d matches", queries, matched)
	if queries < 1000 || matched < queries {
		t.Errorf("only %d queries and %d matches", queries, matched)
	}
}

// comparisonsWith gives queries near the values of an index, with each prefix
// and modifier.
func comparisonsWith(i *fhir.Index, random *rand.Rand) []string {
	var out []string
	prefixes := []string{"", "eq", "ne", "gt", "lt", "ge", "le", "sa", "eb", "ap"}
	layouts := []string{"2006", "2006-01", "2006-01-02", "2006-01-02T15:04Z", time.RFC3339}
	for _, v := range i.Dates {
		for _, prefix := range prefixes {
			for _, at := range []time.Time{v.Low, v.High} {
				if !at.IsZero() {
					out = append(out, v.Param+"="+prefix+at.Format(layouts[random.IntN(len(layouts))]))
				}
			}
		}
	}
	amount := func(param, value, low, high string) {
		for _, prefix := range prefixes {
			for _, n := range []string{value, low, high} {
				if n != "" {
					out = append(out, param+"="+prefix+n)
				}
			}
		}
	}
	for _, v := range i.Numbers {
		amount(v.Param, v.Value, v.Low, v.High)
	}
	for _, v := range i.Quantities {
		amount(v.Param, v.Value, v.Low, v.High)
	}
	for _, v := range i.Tokens {
		out = append(out, v.Param+":missing=true", v.Param+":missing=false", v.Param+":not="+url.QueryEscape(escaper.Replace(v.Code)))
	}
	return out
}

func compareAnswers(t *testing.T, store fhir.Store, plan *fhir.SearchQuery, query string, indexes map[string]*fhir.Index) (matched int) {
	t.Helper()
	plan.Count, plan.Total = len(indexes), fhir.TotalAccurate
	page, err := store.Search(t.Context(), plan)
	if err != nil {
		t.Errorf("%s?%s (%s): %v", plan.Types, query, show(plan.Criteria), err)
		return 0
	}
	var got, want []string
	for _, match := range page.Matches {
		got = append(got, match.ID)
	}
	for id, index := range indexes {
		if matches(plan.Criteria, index) {
			want = append(want, id)
		}
	}
	slices.Sort(got)
	slices.Sort(want)
	if !slices.Equal(got, want) || page.Total != int64(len(want)) {
		t.Errorf("%s?%s (%s): %s in all %d, want %s", plan.Types, query, show(plan.Criteria), got, page.Total, want)
	}
	return len(got)
}
