package postgres

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"starling/internal/fhir"
	"starling/internal/postgres/postgrestest"
)

func open(t testing.TB, url string) *Store {
	t.Helper()
	s, err := Open(t.Context(), Config{URL: url})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.Close)
	return s
}

func patient(id, body string, tokens ...string) *fhir.Write {
	index := &fhir.Index{}
	for _, code := range tokens {
		index.Tokens = append(index.Tokens, fhir.TokenValue{Param: "identifier", System: "urn:s", Code: code})
	}
	return &fhir.Write{
		Op: fhir.OpCreate, Method: fhir.MethodPost, Key: fhir.Key{Type: "Patient", ID: id},
		Content: fhir.Content{Body: []byte(body)}, Index: index,
	}
}

func as(w *fhir.Write, op fhir.WriteOp, change func(*fhir.Write)) *fhir.Write {
	c := *w
	c.Op, c.Method = op, fhir.MethodPut
	if op == fhir.OpDelete {
		c.Method, c.Content, c.Index = fhir.MethodDelete, fhir.Content{}, nil
	}
	if change != nil {
		change(&c)
	}
	return &c
}

func do(t *testing.T, s *Store, w *fhir.Write) fhir.WriteResult {
	t.Helper()
	result, err := s.Write(t.Context(), w)
	if err != nil {
		t.Fatalf("%v of %v: %v", w.Op, w.Key, err)
	}
	return result
}

func wantKind(t *testing.T, err error, kind fhir.Kind) {
	t.Helper()
	var one *fhir.Error
	if !errors.As(err, &one) || one.Kind != kind {
		t.Fatalf("got %v, want an error of kind %d", err, kind)
	}
}

func TestLifeOfAResource(t *testing.T) {
	s := open(t, postgrestest.New(t))
	w := patient("a", `,"active":true`, "1")
	start := time.Now().Add(-time.Second)
	created := do(t, s, w)
	if created.VersionID != 1 || !created.Created || created.LastUpdated.Before(start) {
		t.Fatalf("create: %+v", created)
	}
	got, err := s.Read(t.Context(), w.Key)
	if err != nil || string(got.Body) != `,"active":true` || got.VersionID != 1 || !got.LastUpdated.Equal(created.LastUpdated) || got.Method != fhir.MethodPost {
		t.Fatalf("read: %+v %v", got, err)
	}
	updated := do(t, s, as(w, fhir.OpUpdate, func(w *fhir.Write) { w.IfMatch = 1; w.Body = []byte(`,"active":false`) }))
	if updated.VersionID != 2 || updated.Created || updated.LastUpdated.Before(created.LastUpdated) {
		t.Fatalf("update: %+v", updated)
	}
	_, err = s.Write(t.Context(), as(w, fhir.OpUpdate, func(w *fhir.Write) { w.IfMatch = 1 }))
	wantKind(t, err, fhir.KindPreconditionFailed)
	_, err = s.Write(t.Context(), as(w, fhir.OpUpdate, func(w *fhir.Write) { w.IfNoneMatch = true }))
	wantKind(t, err, fhir.KindPreconditionFailed)
	deleted := do(t, s, as(w, fhir.OpDelete, nil))
	if deleted.VersionID != 3 || deleted.NoChange {
		t.Fatalf("delete: %+v", deleted)
	}
	again := do(t, s, as(w, fhir.OpDelete, nil))
	if again.VersionID != 3 || !again.NoChange || !again.LastUpdated.Equal(deleted.LastUpdated) {
		t.Fatalf("second delete: %+v", again)
	}
	never := do(t, s, as(patient("never", ""), fhir.OpDelete, nil))
	if never.VersionID != 0 || !never.NoChange {
		t.Fatalf("delete of nothing: %+v", never)
	}
	if got, err := s.Read(t.Context(), w.Key); err != nil || !got.Deleted() {
		t.Fatalf("read of a deletion: %+v %v", got, err)
	}
	back := do(t, s, as(w, fhir.OpUpdate, nil))
	if back.VersionID != 4 || !back.Created {
		t.Fatalf("back: %+v", back)
	}
	if got, err := s.ReadVersion(t.Context(), w.Key, 2); err != nil || string(got.Body) != `,"active":false` {
		t.Fatalf("version 2: %+v %v", got, err)
	}
	_, err = s.ReadVersion(t.Context(), w.Key, 9)
	wantKind(t, err, fhir.KindNotFound)
	_, err = s.Read(t.Context(), fhir.Key{Type: "Patient", ID: "b"})
	wantKind(t, err, fhir.KindNotFound)

	page, err := s.History(t.Context(), &fhir.HistoryQuery{Type: "Patient", ID: "a", Count: 3})
	if err != nil || len(page.Versions) != 3 || page.Total != 4 || page.Next == "" || page.Versions[0].VersionID != 4 || !page.Versions[1].Deleted() {
		t.Fatalf("history: %+v %v", page, err)
	}
	page, err = s.History(t.Context(), &fhir.HistoryQuery{Type: "Patient", ID: "a", Count: 3, Cursor: page.Next})
	if err != nil || len(page.Versions) != 1 || page.Next != "" || page.Versions[0].VersionID != 1 {
		t.Fatalf("history, second page: %+v %v", page, err)
	}
	for _, typ := range []fhir.ResourceType{"Patient", ""} {
		page, err = s.History(t.Context(), &fhir.HistoryQuery{Type: typ, Count: 10})
		if err != nil || len(page.Versions) != 4 {
			t.Fatalf("history of %q: %+v %v", typ, page, err)
		}
	}
}

func ids(page *fhir.SearchPage) (ids []string) {
	for _, r := range page.Matches {
		ids = append(ids, r.ID)
	}
	return ids
}

func search(t *testing.T, s *Store, criteria fhir.Criterion) []string {
	t.Helper()
	page, err := s.Search(t.Context(), &fhir.SearchQuery{Types: []fhir.ResourceType{"Patient"}, Criteria: criteria, Count: 100, Total: fhir.TotalAccurate})
	if err != nil {
		t.Fatalf("%#v: %v", criteria, err)
	}
	if int(page.Total) != len(page.Matches) {
		t.Fatalf("%#v: total %d of %d", criteria, page.Total, len(page.Matches))
	}
	return ids(page)
}

func wantIDs(t *testing.T, s *Store, criteria fhir.Criterion, want ...string) {
	t.Helper()
	if got := search(t, s, criteria); fmt.Sprint(got) != fmt.Sprint(want) {
		t.Errorf("%#v: got %v, want %v", criteria, got, want)
	}
}

func ref[T any](v T) *T { return &v }

func TestSearchByToken(t *testing.T) {
	s := open(t, postgrestest.New(t))
	do(t, s, patient("a", "", "1", "2"))
	do(t, s, patient("b", "", "2"))
	do(t, s, patient("c", ""))
	code := func(system *string, code string) fhir.Token {
		return fhir.Token{Param: "identifier", System: system, Code: &code}
	}
	wantIDs(t, s, nil, "a", "b", "c")
	wantIDs(t, s, code(nil, "2"), "a", "b")
	wantIDs(t, s, code(ref("urn:s"), "2"), "a", "b")
	wantIDs(t, s, code(ref("urn:other"), "2"))
	wantIDs(t, s, code(ref(""), "2"))
	wantIDs(t, s, fhir.Token{Param: "identifier", System: ref("urn:s")}, "a", "b")
	wantIDs(t, s, fhir.And{code(nil, "1"), code(nil, "2")}, "a")
	wantIDs(t, s, fhir.Or{code(nil, "1"), fhir.IDIn{"c", "x"}}, "a", "c")
	wantIDs(t, s, fhir.IDIn{"c", "b"}, "b", "c")
	wantIDs(t, s, fhir.Not{Criterion: code(ref("urn:s"), "1")}, "b", "c")
	wantIDs(t, s, fhir.Missing{Param: "identifier", Missing: true}, "c")
	wantIDs(t, s, fhir.Missing{Param: "identifier"}, "a", "b")
	wantIDs(t, s, fhir.And{}, "a", "b", "c")
	wantIDs(t, s, fhir.Or{})
	wantIDs(t, s, fhir.Updated{Prefix: fhir.PrefixGreater, Range: fhir.TimeRange{Low: time.Now().Add(-time.Hour), High: time.Now().Add(-time.Hour)}}, "a", "b", "c")
	do(t, s, as(patient("a", "", "3"), fhir.OpUpdate, nil))
	do(t, s, as(patient("b", ""), fhir.OpDelete, nil))
	wantIDs(t, s, code(nil, "2"))
	wantIDs(t, s, code(nil, "3"), "a")
	wantIDs(t, s, nil, "a", "c")
}

func TestConditionalCreateOnce(t *testing.T) {
	url := postgrestest.New(t)
	stores := []*Store{open(t, url), open(t, url)}
	criteria := fhir.Token{Param: "identifier", System: ref("urn:s"), Code: ref("1")}
	conditions := []fhir.Condition{{Type: "Patient", Criteria: criteria}}
	errs := make(chan error)
	for i := range 20 {
		go func() {
			errs <- stores[i%2].Transact(context.Background(), conditions, func(tx fhir.Tx) error {
				page, err := tx.Search(context.Background(), &fhir.SearchQuery{Types: []fhir.ResourceType{"Patient"}, Criteria: criteria, Count: 2})
				if err != nil || len(page.Matches) > 0 {
					return err
				}
				_, err = tx.Apply(context.Background(), []*fhir.Write{patient(fmt.Sprint("p", i), "", "1")})
				return err
			})
		}()
	}
	for range 20 {
		if err := <-errs; err != nil {
			t.Error(err)
		}
	}
	if got := search(t, stores[0], criteria); len(got) != 1 {
		t.Fatalf("%d resources", len(got))
	}
}
