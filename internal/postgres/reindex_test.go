package postgres

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"testing"

	"starling/internal/fhir"
	"starling/internal/postgres/postgrestest"
)

// foundBy gives the ids of the patients that a criterion finds, sorted.
func foundBy(t *testing.T, s *Store, c fhir.Criterion) []string {
	t.Helper()
	page, err := s.Search(t.Context(), &fhir.SearchQuery{Types: []fhir.ResourceType{"Patient"}, Count: 1000, Criteria: c})
	if err != nil {
		t.Fatal(err)
	}
	var ids []string
	for _, m := range page.Matches {
		ids = append(ids, m.ID)
	}
	slices.Sort(ids)
	return ids
}

func wantFound(t *testing.T, s *Store, when string, c fhir.Criterion, want ...string) {
	t.Helper()
	if got := foundBy(t, s, c); !slices.Equal(got, want) {
		t.Errorf("%s: %+v finds %v, want %v", when, c, got, want)
	}
}

func wordRowsOf(t *testing.T, s *Store) (n int) {
	t.Helper()
	if err := s.reserve.QueryRow(t.Context(), `SELECT count(*) FROM search_text`).Scan(&n); err != nil {
		t.Fatal(err)
	}
	return n
}

// The job of a new parameter adds its values, and leaves all else that a resource
// is found by, its words too. A full reindex replaces all, words too.
func TestReindexAndWords(t *testing.T) {
	s := open(t, postgrestest.New(t))
	code := func(param, code string) fhir.TokenValue { return fhir.TokenValue{Param: param, Code: code} }
	put := func(id string, index *fhir.Index) {
		t.Helper()
		do(t, s, &fhir.Write{Op: fhir.OpUpdate, Method: fhir.MethodPut, Key: fhir.Key{Type: "Patient", ID: id}, Index: index})
	}
	put("a", &fhir.Index{Text: &fhir.TextValue{Narrative: "bone liver", Content: "skin"}, Tokens: []fhir.TokenValue{code("gender", "x")}})
	put("b", &fhir.Index{Text: &fhir.TextValue{Narrative: "bone"}, Tokens: []fhir.TokenValue{code("gender", "x")}})
	put("c", &fhir.Index{Tokens: []fhir.TokenValue{code("gender", "x")}})
	put("d", &fhir.Index{Text: &fhir.TextValue{Narrative: "bone"}})
	put("e", &fhir.Index{Text: &fhir.TextValue{Narrative: "bone"}})
	if _, err := s.Write(t.Context(), &fhir.Write{Op: fhir.OpDelete, Method: fhir.MethodDelete, Key: fhir.Key{Type: "Patient", ID: "e"}}); err != nil {
		t.Fatal(err)
	}
	bone, liver, skin, toe := fhir.Text{Narrative: true, Words: "bone"}, fhir.Text{Narrative: true, Words: "liver"}, fhir.Text{Words: "skin"}, fhir.Text{Words: "toe"}
	token := func(param, code string) fhir.Criterion { return fhir.Token{Param: param, Code: &code} }

	const param = "shoes#shoes.1"
	if err := s.KeepParameters(t.Context(), []fhir.ParameterState{{Param: param, Types: []fhir.ResourceType{"Patient"}}}); err != nil {
		t.Fatal(err)
	}
	first, err := s.IndexParameters(t.Context(), []string{param}, func(r *fhir.Resource) (*fhir.Index, error) {
		return &fhir.Index{Tokens: []fhir.TokenValue{code(param, "of "+r.ID)}}, nil
	})
	if err != nil || !first {
		t.Fatal(first, err)
	}
	wantFound(t, s, "after the job", bone, "a", "b", "d")
	wantFound(t, s, "after the job", liver, "a")
	wantFound(t, s, "after the job", skin, "a")
	wantFound(t, s, "after the job", token("gender", "x"), "a", "b", "c")
	wantFound(t, s, "after the job", token(param, "of c"), "c")
	if n := wordRowsOf(t, s); n != 3 {
		t.Errorf("after the job: %d rows of words", n)
	}
	// What writes compare with is still right.
	put("b", &fhir.Index{Text: &fhir.TextValue{Narrative: "bone toe"}, Tokens: []fhir.TokenValue{code("gender", "x")}})
	put("d", &fhir.Index{})
	wantFound(t, s, "after writes", toe, "b")
	wantFound(t, s, "after writes", bone, "a", "b")

	err = s.Reindex(t.Context(), []fhir.ResourceType{"Patient"}, fhir.Basis{}, func(r *fhir.Resource) (*fhir.Index, error) {
		return map[string]*fhir.Index{
			"a": {Text: &fhir.TextValue{Narrative: "bone toe"}},                                                                      // other words
			"b": {Text: &fhir.TextValue{Narrative: "bone toe"}, Tokens: []fhir.TokenValue{code("gender", "y"), code(param, "of b")}}, // the same
			"c": {Text: &fhir.TextValue{Narrative: "toe"}},                                                                           // words for the first time
			"d": {},
		}[r.ID], nil
	}, func(int64, int64) {})
	if err != nil {
		t.Fatal(err)
	}
	wantFound(t, s, "after the reindex", bone, "a", "b")
	wantFound(t, s, "after the reindex", toe, "a", "b", "c")
	wantFound(t, s, "after the reindex", liver)
	wantFound(t, s, "after the reindex", skin)
	wantFound(t, s, "after the reindex", token("gender", "x"))
	wantFound(t, s, "after the reindex", token("gender", "y"), "b")
	err = s.Reindex(t.Context(), []fhir.ResourceType{"Patient"}, fhir.Basis{}, func(*fhir.Resource) (*fhir.Index, error) { return &fhir.Index{}, nil }, func(int64, int64) {})
	if err != nil {
		t.Fatal(err)
	}
	if n := wordRowsOf(t, s); n != 0 {
		t.Errorf("after the reindex without words: %d rows of words", n)
	}
}

// A reindex that is ended goes on where it was, and the one after that begins anew.
func TestReindexGoesOn(t *testing.T) {
	s := open(t, postgrestest.New(t))
	const count = 3*reindexBatch + 7
	writes := make([]*fhir.Write, count)
	for i := range writes {
		writes[i] = &fhir.Write{Op: fhir.OpUpdate, Method: fhir.MethodPut, Key: fhir.Key{Type: "Patient", ID: fmt.Sprint("p", i)}, Index: &fhir.Index{}}
	}
	err := s.Transact(t.Context(), nil, func(tx fhir.Tx) error {
		_, err := tx.Apply(t.Context(), writes)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	seen := map[string]int{}
	run := func(ctx context.Context, progress func(done, total int64)) error {
		return s.Reindex(ctx, []fhir.ResourceType{"Patient"}, fhir.Basis{}, func(r *fhir.Resource) (*fhir.Index, error) {
			seen[r.ID]++
			return &fhir.Index{Tokens: []fhir.TokenValue{{Param: "gender", Code: "x"}}}, nil
		}, progress)
	}
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	err = run(ctx, func(done, total int64) {
		if done != reindexBatch || total != count {
			t.Errorf("%d of %d", done, total)
		}
		stop()
	})
	if !errors.Is(err, context.Canceled) {
		var known *fhir.Error
		if !errors.As(err, &known) || known.Kind != fhir.KindTimeout {
			t.Fatal(err)
		}
	}
	x := "x"
	if got := len(foundBy(t, s, fhir.Token{Param: "gender", Code: &x})); got != reindexBatch || len(seen) != reindexBatch {
		t.Errorf("%d are indexed, %d were seen", got, len(seen))
	}
	var all []int64
	if err := run(t.Context(), func(done, _ int64) { all = append(all, done) }); err != nil {
		t.Fatal(err)
	}
	if want := []int64{2 * reindexBatch, 3 * reindexBatch, count}; !slices.Equal(all, want) {
		t.Errorf("the second went %v, want %v", all, want)
	}
	if got := len(foundBy(t, s, fhir.Token{Param: "gender", Code: &x})); got != count {
		t.Errorf("%d are indexed", got)
	}
	for id, times := range seen {
		if times != 1 {
			t.Errorf("%s was indexed %d times", id, times)
		}
	}
	if err := run(t.Context(), func(int64, int64) {}); err != nil || seen["p0"] != 2 || seen[fmt.Sprint("p", count-1)] != 2 {
		t.Error("the third did not begin anew", err)
	}
}
