package postgres

import (
	"bytes"
	"context"
	"encoding/base64"
	"fmt"
	"testing"
	"time"

	"starling/internal/fhir"
	"starling/internal/postgres/postgrestest"
)

func history(t *testing.T, s *Store, query fhir.HistoryQuery) (texts []string, page *fhir.HistoryPage) {
	t.Helper()
	if query.Count == 0 {
		query.Count = 100
	}
	page, err := s.History(t.Context(), &query)
	if err != nil {
		t.Fatal(err)
	}
	for _, v := range page.Versions {
		texts = append(texts, fmt.Sprintf("%s/%d", v.ID, v.VersionID))
	}
	return texts, page
}

func want(t *testing.T, got any, text string) {
	t.Helper()
	if fmt.Sprint(got) != text {
		t.Errorf("got %v, want %s", got, text)
	}
}

// TestHistoryPollingMissesNothing: a transaction that began before a poll and
// commits after it is in the next poll from the horizon (rules 30 and 31).
func TestHistoryPollingMissesNothing(t *testing.T) {
	url := postgrestest.New(t)
	s, other := open(t, url), open(t, url)
	written, commit, done := make(chan struct{}), make(chan struct{}), make(chan error)
	go func() {
		done <- s.Transact(context.Background(), nil, func(tx fhir.Tx) error {
			_, err := tx.Apply(context.Background(), []*fhir.Write{patient("slow", "")})
			close(written)
			<-commit
			return err
		})
	}()
	<-written
	time.Sleep(5 * time.Millisecond)
	quick := do(t, other, patient("quick", ""))
	first, page := history(t, other, fhir.HistoryQuery{Type: "Patient"})
	want(t, first, "[quick/1]")
	if !page.Horizon.Before(quick.LastUpdated) {
		t.Errorf("horizon %v is not before %v, though an older transaction is open", page.Horizon, quick.LastUpdated)
	}
	close(commit)
	if err := <-done; err != nil {
		t.Fatal(err)
	}
	second, _ := history(t, other, fhir.HistoryQuery{Type: "Patient", Since: page.Horizon})
	want(t, second, "[quick/1 slow/1]")
}

// TestHistoryWalk: what is committed during a walk neither appears in it nor
// shifts it, on whichever instance the pages are served (rule 32).
func TestHistoryWalk(t *testing.T) {
	url := postgrestest.New(t)
	stores := []*Store{open(t, url), open(t, url)}
	for i := range 7 {
		do(t, stores[0], patient(fmt.Sprint("p", i), ""))
	}
	for _, typ := range []fhir.ResourceType{"Patient", ""} {
		before, _ := history(t, stores[0], fhir.HistoryQuery{Type: typ})
		var walked []string
		cursor := ""
		for n := 0; ; n++ {
			texts, page := history(t, stores[n%2], fhir.HistoryQuery{Type: typ, Count: 2, Cursor: cursor})
			walked = append(walked, texts...)
			if cursor = page.Next; cursor == "" {
				break
			}
			do(t, stores[0], as(patient(fmt.Sprint("p", n), ""), fhir.OpUpdate, nil))
			do(t, stores[0], patient(fmt.Sprintf("new%s%d", typ, n), ""))
		}
		want(t, walked, fmt.Sprint(before))
	}
}

func TestHistoryAt(t *testing.T) {
	s := open(t, postgrestest.New(t))
	w := patient("a", "")
	first := do(t, s, w)
	time.Sleep(5 * time.Millisecond)
	second := do(t, s, as(w, fhir.OpUpdate, nil))
	time.Sleep(5 * time.Millisecond)
	third := do(t, s, as(w, fhir.OpDelete, nil))
	at := func(low, high time.Time) string {
		texts, _ := history(t, s, fhir.HistoryQuery{Type: "Patient", ID: "a", At: fhir.TimeRange{Low: low, High: high}})
		return fmt.Sprint(texts)
	}
	ms := time.Millisecond
	want(t, at(first.LastUpdated.Add(-2*ms), first.LastUpdated.Add(-ms)), "[]")
	want(t, at(first.LastUpdated, first.LastUpdated.Add(ms)), "[a/1]")
	want(t, at(second.LastUpdated.Add(-ms), second.LastUpdated.Add(ms)), "[a/2 a/1]")
	want(t, at(second.LastUpdated.Add(ms), third.LastUpdated), "[a/2]")
	want(t, at(third.LastUpdated.Add(ms), third.LastUpdated.Add(2*ms)), "[a/3]")
}

func TestHistoryErrors(t *testing.T) {
	s := open(t, postgrestest.New(t))
	_, err := s.History(t.Context(), &fhir.HistoryQuery{Type: "Patient", ID: "never", Count: 1})
	wantKind(t, err, fhir.KindNotFound)
	for _, cursor := range []string{"x", s.hash.encodeCursor(walkOf(&fhir.HistoryQuery{}), historyCursor{Snapshot: "1; DROP TABLE version"}), s.hash.encodeCursor(walkOf(&fhir.HistoryQuery{}), historyCursor{Snapshot: "9:1:"})} {
		_, err := s.History(t.Context(), &fhir.HistoryQuery{Count: 1, Cursor: cursor})
		wantKind(t, err, fhir.KindInvalid)
	}
	_, err = s.Search(t.Context(), &fhir.SearchQuery{Types: []fhir.ResourceType{"Patient"}, Count: 1, Cursor: "?"})
	wantKind(t, err, fhir.KindInvalid)
}

// TestHistoryCursorIsSigned: neither its total nor its place can be made up, nor
// can it be taken to another history.
func TestHistoryCursorIsSigned(t *testing.T) {
	s := open(t, postgrestest.New(t))
	for _, id := range []string{"a", "b"} {
		w := patient(id, "")
		do(t, s, w)
		do(t, s, as(w, fhir.OpUpdate, nil))
	}
	query := &fhir.HistoryQuery{Type: "Patient", ID: "a", Count: 1}
	first, err := s.History(t.Context(), query)
	if err != nil || first.Total != 2 || first.Next == "" {
		t.Fatalf("%+v, %v", first, err)
	}
	text, _ := base64.RawURLEncoding.DecodeString(first.Next)
	forged := bytes.Replace(text, []byte(`"t":2`), []byte(`"t":9`), 1)
	if bytes.Equal(forged, text) {
		t.Fatalf("no total in %q", text)
	}
	for id, cursor := range map[string]string{"a": base64.RawURLEncoding.EncodeToString(forged), "b": first.Next} {
		_, err := s.History(t.Context(), &fhir.HistoryQuery{Type: "Patient", ID: id, Count: 1, Cursor: cursor})
		wantKind(t, err, fhir.KindInvalid)
	}
	query.Cursor = first.Next
	if second, err := s.History(t.Context(), query); err != nil || second.Total != 2 || len(second.Versions) != 1 {
		t.Errorf("%+v, %v", second, err)
	}
}

// TestLastUpdatedNeverGoesBack: not when the clock does (rule 31).
func TestLastUpdatedNeverGoesBack(t *testing.T) {
	s := open(t, postgrestest.New(t))
	w := patient("a", "")
	do(t, s, w)
	ahead := time.Now().Add(time.Hour).UTC().Truncate(time.Millisecond)
	if _, err := s.reserve.Exec(t.Context(), `UPDATE resource SET updated = $1`, ahead); err != nil {
		t.Fatal(err)
	}
	if _, err := s.reserve.Exec(t.Context(), `UPDATE version SET updated = $1`, ahead); err != nil {
		t.Fatal(err)
	}
	result := do(t, s, as(w, fhir.OpUpdate, nil))
	got, err := s.Read(t.Context(), w.Key)
	if err != nil || !result.LastUpdated.Equal(ahead) || !got.LastUpdated.Equal(ahead) {
		t.Fatalf("%v, stored %v, want %v: %v", result.LastUpdated, got.LastUpdated, ahead, err)
	}
	texts, _ := history(t, s, fhir.HistoryQuery{Type: "Patient"})
	want(t, texts, "[a/2 a/1]")
}
