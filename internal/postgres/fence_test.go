package postgres

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"starling/internal/fhir"
)

// basisOf is what an instance that has just read the versions rests on.
func basisOf(t *testing.T, s *Store) fhir.Basis {
	t.Helper()
	state, err := s.State(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	b := fhir.Basis{Lineage: state.Lineage}
	for i, domain := range fhir.Domains() {
		b.Versions[i] = state.Versions[domain]
	}
	return b
}

func writeOn(basis fhir.Basis, typ fhir.ResourceType, id string) *fhir.Write {
	return &fhir.Write{
		Op: fhir.OpUpdate, Method: fhir.MethodPut, Key: fhir.Key{Type: typ, ID: id},
		Content: fhir.Content{Body: []byte(`,"status":"active"`)}, Index: &fhir.Index{}, Basis: basis,
	}
}

func TestReplacedBasisIsRefused(t *testing.T) {
	s, other, url := openTwo(t)
	for _, change := range []fhir.ResourceType{"StructureDefinition", "SearchParameter", "Subscription"} {
		for _, written := range []fhir.ResourceType{"Patient", "ValueSet"} {
			before := basisOf(t, s)
			put(t, other, change, "x")
			id := string("by-" + change)
			if _, err := s.Write(t.Context(), writeOn(before, written, id)); !errors.Is(err, fhir.ErrStale) {
				t.Errorf("%s after %s: %v, want ErrStale", written, change, err)
			}
			err := s.Transact(t.Context(), nil, func(tx fhir.Tx) error {
				_, err := tx.Apply(t.Context(), []*fhir.Write{writeOn(before, written, id), writeOn(before, "Basic", id)})
				return err
			})
			if !errors.Is(err, fhir.ErrStale) {
				t.Errorf("%s in a transaction after %s: %v, want ErrStale", written, change, err)
			}
			var known *fhir.Error
			if _, err := s.Read(t.Context(), fhir.Key{Type: written, ID: id}); !errors.As(err, &known) || known.Kind != fhir.KindNotFound {
				t.Errorf("%s after %s was written: %v", written, change, err)
			}
			if _, err := s.Write(t.Context(), writeOn(basisOf(t, s), written, id)); err != nil {
				t.Errorf("%s by what is current: %v", written, err)
			}
		}
	}
	// A restore changes the epoch, and with it what every version means.
	before := basisOf(t, s)
	conn, err := pgx.Connect(t.Context(), url)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = conn.Close(context.WithoutCancel(t.Context())) }()
	if _, err := conn.Exec(t.Context(), `SELECT raise_cache_epoch()`); err != nil {
		t.Fatal(err)
	}
	after := basisOf(t, s)
	if after.Lineage <= before.Lineage {
		t.Errorf("lineage %s after %s", after.Lineage, before.Lineage)
	}
	after.Lineage = before.Lineage
	if _, err := s.Write(t.Context(), writeOn(after, "Patient", "restored")); !errors.Is(err, fhir.ErrStale) {
		t.Errorf("after a restore: %v, want ErrStale", err)
	}
}

// Among writes of one batch only those are refused whose basis was replaced.
func TestOnlyStaleWritesOfABatchAreRefused(t *testing.T) {
	s, _, _ := openTwo(t)
	old := basisOf(t, s)
	put(t, s, "StructureDefinition", "x")
	current := basisOf(t, s)
	var items []*item
	for i := range 20 {
		w := writeOn([]fhir.Basis{current, old, {}}[i%3], "Patient", fmt.Sprint("p", i))
		it, err := s.newItem(w)
		if err != nil {
			t.Fatal(err)
		}
		items = append(items, it)
	}
	sortItems(items)
	s.carryOut(s.coalesced, items, func() {})
	for _, it := range items {
		if want := it.write.Basis == old; errors.Is(it.err, fhir.ErrStale) != want || !want && it.err != nil {
			t.Errorf("%s: %v", it.write.Key, it.err)
		}
	}
}

// While profiles are replaced by one instance, no write of another that rests
// on one is committed after it was replaced: the version rows say so, row by
// row, in commit order.
func TestFenceUnderLoad(t *testing.T) {
	s, other, url := openTwo(t)
	conn, err := pgx.Connect(t.Context(), url)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = conn.Close(context.WithoutCancel(t.Context())) }()
	_, err = conn.Exec(t.Context(), `CREATE TABLE raised (version bigint, seen pg_snapshot);
		CREATE FUNCTION note_raised() RETURNS trigger LANGUAGE plpgsql AS
			$$ BEGIN INSERT INTO raised VALUES (NEW.version, pg_current_snapshot()); RETURN NULL; END $$;
		CREATE TRIGGER note_raised AFTER UPDATE ON cache_version FOR EACH ROW WHEN (NEW.domain = 'validation') EXECUTE FUNCTION note_raised()`)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	var workers sync.WaitGroup
	var written, refused, changed atomic.Int64
	enough := func() bool { return written.Load() >= 50 && refused.Load() > 0 && changed.Load() >= 20 }
	workers.Go(func() {
		for start := time.Now(); ctx.Err() == nil && (time.Since(start) < 3*time.Second || !enough()); {
			time.Sleep(10 * time.Millisecond)
		}
		cancel()
	})
	for n := range 8 {
		workers.Go(func() {
			for i := 0; ctx.Err() == nil; i++ {
				state, err := s.State(ctx)
				if err != nil {
					return
				}
				basis := fhir.Basis{Lineage: state.Lineage}
				for i, domain := range fhir.Domains() {
					basis.Versions[i] = state.Versions[domain]
				}
				// The body says by which version it was checked.
				w := writeOn(basis, "Basic", fmt.Sprintf("b-%d-%d", n, i))
				w.Body = fmt.Appendf(nil, `,"code":{"text":"%d"}`, basis.Versions[0])
				if n%2 == 0 {
					_, err = s.Write(context.WithoutCancel(ctx), w)
				} else {
					err = s.Transact(context.WithoutCancel(ctx), nil, func(tx fhir.Tx) error {
						_, err := tx.Apply(ctx, []*fhir.Write{w})
						return err
					})
				}
				switch {
				case err == nil:
					written.Add(1)
				case errors.Is(err, fhir.ErrStale):
					refused.Add(1)
				case ctx.Err() == nil:
					t.Error(err)
				}
			}
		})
	}
	for n := range 2 {
		workers.Go(func() {
			for ctx.Err() == nil {
				w := writeOn(fhir.Basis{}, "StructureDefinition", fmt.Sprint("profile-", n))
				_, err := other.Write(context.WithoutCancel(ctx), w)
				if n == 1 && err == nil { // both kinds in one transaction
					err = other.Transact(context.WithoutCancel(ctx), nil, func(tx fhir.Tx) error {
						_, err := tx.Apply(ctx, []*fhir.Write{w, writeOn(fhir.Basis{}, "Basic", "beside")})
						return err
					})
				}
				if err != nil && ctx.Err() == nil {
					t.Error(err)
				}
				changed.Add(1)
				time.Sleep(3 * time.Millisecond)
			}
		})
	}
	workers.Wait()
	t.Logf("%d written, %d refused, %d changes", written.Load(), refused.Load(), changed.Load())
	if !enough() {
		t.Error("too little happened to tell")
	}
	// Whatever was let through rests on a version, and the change to the next one
	// saw it committed.
	var judged, overtaken int
	err = conn.QueryRow(t.Context(), `SELECT count(*), count(*) FILTER (WHERE NOT pg_visible_in_snapshot(v.writer, r.seen))
		FROM version v JOIN raised r ON r.version = substring(v.body from '"text":"([0-9]+)"')::bigint + 1`).Scan(&judged, &overtaken)
	if err != nil || overtaken != 0 || judged == 0 {
		t.Errorf("%d of %d writes rest on a replaced profile, %v", overtaken, judged, err)
	}
}
