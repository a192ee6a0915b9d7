package postgres

import (
	"slices"
	"testing"

	"github.com/jackc/pgx/v5"

	"starling/internal/fhir"
)

// What is held and has not changed is given as it is held; all else is read: what
// is new, changed, back after a deletion, or replaced behind the server's back.
func TestLoadReadsWhatHasChanged(t *testing.T) {
	s, other, url := openTwo(t)
	for _, id := range []string{"a", "b", "c", "d"} {
		put(t, s, "ValueSet", id)
	}
	load := func(held fhir.DomainSnapshot) fhir.DomainSnapshot {
		t.Helper()
		read, err := other.Load(t.Context(), fhir.DomainValidation, held)
		if err != nil {
			t.Fatal(err)
		}
		return read
	}
	first := load(fhir.DomainSnapshot{})
	held := map[*fhir.Resource]bool{}
	for _, r := range first.Resources {
		held[r] = true
	}
	// same compares with what is read without anything held, and gives those that
	// were read anew.
	same := func(read fhir.DomainSnapshot) (anew []string) {
		t.Helper()
		fresh := load(fhir.DomainSnapshot{})
		if fresh.Version != read.Version || fresh.Lineage != read.Lineage || len(fresh.Resources) != len(read.Resources) {
			t.Fatalf("%+v, want %+v", read, fresh)
		}
		for i, r := range read.Resources {
			if want := fresh.Resources[i]; string(r.AppendJSON(nil)) != string(want.AppendJSON(nil)) {
				t.Errorf("%s, want %s", r.AppendJSON(nil), want.AppendJSON(nil))
			}
			if !held[r] {
				anew = append(anew, r.ID)
			}
		}
		return anew
	}
	put(t, s, "ValueSet", "b")
	put(t, s, "CodeSystem", "e")
	if _, err := s.Write(t.Context(), &fhir.Write{Op: fhir.OpDelete, Method: fhir.MethodDelete, Key: fhir.Key{Type: "ValueSet", ID: "c"}}); err != nil {
		t.Fatal(err)
	}
	second := load(first)
	if anew := same(second); !slices.Equal(anew, []string{"b", "e"}) || len(second.Resources) != 4 {
		t.Errorf("read anew: %v of %d", anew, len(second.Resources))
	}
	put(t, s, "ValueSet", "c")
	if anew := same(load(second)); !slices.Equal(anew, []string{"b", "c", "e"}) {
		t.Errorf("read anew since the first: %v", anew)
	}
	if anew := same(load(first)); !slices.Equal(anew, []string{"b", "c", "e"}) {
		t.Errorf("read anew by one that is two behind: %v", anew)
	}

	conn, err := pgx.Connect(t.Context(), url)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = conn.Close(t.Context()) }()
	if _, err := conn.Exec(t.Context(), `UPDATE version SET body = ',"status":"draft"', updated = updated + interval '1 second'
		WHERE rid = (SELECT rid FROM resource WHERE id = 'd')`); err != nil {
		t.Fatal(err)
	}
	put(t, s, "ValueSet", "f")
	if anew := same(load(first)); !slices.Contains(anew, "d") {
		t.Errorf("read anew after a change by SQL: %v", anew)
	}
	// The versions of another lineage say nothing.
	if _, err := conn.Exec(t.Context(), `SELECT raise_cache_epoch()`); err != nil {
		t.Fatal(err)
	}
	if read := load(first); len(same(read)) != len(read.Resources) {
		t.Error("something held was taken over from another lineage")
	}
}
