package postgres

import (
	"fmt"
	"testing"

	"starling/internal/fhir"
	"starling/internal/postgres/postgrestest"
)

// named is an Observation whose code has a name.
func named(id, code, folded string) *fhir.Write {
	return &fhir.Write{
		Op: fhir.OpUpdate, Method: fhir.MethodPut, Key: fhir.Key{Type: "Observation", ID: id},
		Index: &fhir.Index{
			Tokens: []fhir.TokenValue{{Param: "code", Code: code}},
			Names:  []fhir.NameValue{{Param: "code", Folded: folded, Code: code}, {Param: "code", Folded: "alone " + folded}},
		},
	}
}

func namedIDs(t *testing.T, s *Store, value string) string {
	t.Helper()
	page, err := s.Search(t.Context(), &fhir.SearchQuery{
		Types: []fhir.ResourceType{"Observation"}, Count: 10, Criteria: fhir.Named{Param: "code", Value: value},
	})
	if err != nil {
		t.Fatal(err)
	}
	ids := ""
	for _, match := range page.Matches {
		ids += match.ID
	}
	return ids
}

// A name is written once, whoever has it, and a resource is found by its present
// names alone, also when it was written in a transaction or by an instance that
// had forgotten what it knew.
func TestNames(t *testing.T) {
	s := open(t, postgrestest.New(t))
	do(t, s, named("a", "1", "body weight"))
	do(t, s, named("b", "1", "body mass"))
	s.names = knownNames{}
	do(t, s, named("c", "2", "body weight"))
	if err := s.Transact(t.Context(), nil, func(tx fhir.Tx) error {
		_, err := tx.Apply(t.Context(), []*fhir.Write{named("d", "1", "body height"), named("e", "2", "body weight")})
		return err
	}); err != nil {
		t.Fatal(err)
	}
	for value, want := range map[string]string{
		"body": "abcde", "weig": "ace", "body weight": "ace", "body m": "b", "alone body h": "d", "alone weight": "", "eight": "", "height": "d",
	} {
		if got := namedIDs(t, s, value); got != want {
			t.Errorf("%q: %q, want %q", value, got, want)
		}
	}
	rows := func() (n int) {
		if err := s.reserve.QueryRow(t.Context(), `SELECT count(*) FROM search_name`).Scan(&n); err != nil {
			t.Fatal(err)
		}
		return n
	}
	before := rows()
	do(t, s, named("a", "1", "body mass"))
	if got := namedIDs(t, s, "weight"); got != "ce" {
		t.Errorf("after an update: %q", got)
	}
	if _, err := s.Write(t.Context(), &fhir.Write{Op: fhir.OpDelete, Method: fhir.MethodDelete, Key: fhir.Key{Type: "Observation", ID: "c"}}); err != nil {
		t.Fatal(err)
	}
	if got := namedIDs(t, s, "weight"); got != "e" {
		t.Errorf("after a deletion: %q", got)
	}
	if after := rows(); after != before {
		t.Errorf("%d names, then %d", before, after)
	}
}

// What is remembered is bounded.
func TestKnownNamesAreBounded(t *testing.T) {
	var k knownNames
	for i := range mostNames + 10 {
		k.learn([]name{{term: int64(i), text: fmt.Sprint(i)}})
	}
	if n := len(k.keys); n == 0 || n > mostNames {
		t.Errorf("%d names are remembered", n)
	}
}

// What a restore has lost is not remembered: names are written again, and internal
// ids taken anew.
func TestRestoreIsNotRemembered(t *testing.T) {
	s := open(t, postgrestest.New(t))
	write := func(id string) {
		t.Helper()
		w := writeOn(basisOf(t, s), "Observation", id)
		w.Index.Names = []fhir.NameValue{{Param: "code", Folded: "lost", Code: "c"}}
		if _, err := s.Write(t.Context(), w); err != nil {
			t.Fatal(err)
		}
	}
	names := func() (n int) {
		t.Helper()
		if err := s.reserve.QueryRow(t.Context(), `SELECT count(*) FROM search_name`).Scan(&n); err != nil {
			t.Fatal(err)
		}
		return n
	}
	write("a")
	before, blocks := names(), s.rids.taken.Load()
	if _, err := s.reserve.Exec(t.Context(), `TRUNCATE search_name`); err != nil {
		t.Fatal(err)
	}
	write("b")
	if names() != 0 || s.rids.taken.Load() != blocks {
		t.Errorf("in the same lineage: %d names, %d blocks", names(), s.rids.taken.Load())
	}
	if _, err := s.reserve.Exec(t.Context(), `SELECT raise_cache_epoch()`); err != nil {
		t.Fatal(err)
	}
	write("c")
	if before == 0 || names() != before || s.rids.taken.Load() != blocks+1 {
		t.Errorf("after a restore: %d names, want %d; %d blocks, want %d", names(), before, s.rids.taken.Load(), blocks+1)
	}
}
