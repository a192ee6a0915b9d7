package postgres

import (
	"testing"
	"time"

	"starling/internal/fhir"
	"starling/internal/postgres/postgrestest"
)

// Of instances that are to index for the same parameters one does, also behind a
// pooler that gives each transaction another connection. When it is gone without a
// word, another takes its place.
func TestOneInstanceIndexes(t *testing.T) {
	for _, mode := range []string{"direct", "transaction"} {
		t.Run(mode, func(t *testing.T) {
			url := postgrestest.New(t)
			if mode != "direct" {
				url = postgrestest.Pooler(t, url, mode)
			}
			s, other := open(t, url), open(t, url)
			do(t, s, &fhir.Write{Op: fhir.OpUpdate, Method: fhir.MethodPut, Key: fhir.Key{Type: "Patient", ID: "a"}, Index: &fhir.Index{}})
			const param = "shoes#shoes.1"
			if err := s.KeepParameters(t.Context(), []fhir.ParameterState{{Param: param, Types: []fhir.ResourceType{"Patient"}}}); err != nil {
				t.Fatal(err)
			}
			index := func(store *Store, begun chan<- struct{}, goOn <-chan struct{}) (first bool) {
				first, err := store.IndexParameters(t.Context(), []string{param}, func(*fhir.Resource) (*fhir.Index, error) {
					begun <- struct{}{}
					<-goOn
					return &fhir.Index{}, nil
				})
				if err != nil {
					t.Error(err)
				}
				return first
			}
			begun, goOn, done := make(chan struct{}, 9), make(chan struct{}), make(chan bool, 1)
			go func() { done <- index(s, begun, goOn) }()
			<-begun
			time.AfterFunc(500*time.Millisecond, func() { close(goOn) })
			if index(other, begun, goOn) {
				t.Error("both index")
			}
			if !<-done {
				t.Error("the first did not index")
			}
			if !index(other, begun, goOn) {
				t.Error("nobody indexes after the first has ended")
			}
			// One that was killed in the middle has left its row.
			if _, err := s.reserve.Exec(t.Context(), `INSERT INTO index_job (holder, until) VALUES (gen_random_uuid(), clock_timestamp() + interval '300 ms')`); err != nil {
				t.Fatal(err)
			}
			if index(other, begun, goOn) {
				t.Error("it does not wait for one that may live")
			}
			time.Sleep(400 * time.Millisecond)
			if !index(other, begun, goOn) {
				t.Error("nobody indexes in the place of one that is gone")
			}
		})
	}
}
