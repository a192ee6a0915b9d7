package postgres

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"starling/internal/fhir"
	"starling/internal/postgres/postgrestest"
)

// kindOf gives the kind of a client's error; other errors fail the test.
func kindOf(t *testing.T, err error) fhir.Kind {
	t.Helper()
	var one *fhir.Error
	if !errors.As(err, &one) {
		t.Errorf("not a client's error: %v", err)
		return 0
	}
	return one.Kind
}

func TestIfMatchHasOneWinner(t *testing.T) {
	url := postgrestest.New(t)
	stores := []*Store{open(t, url), open(t, url)}
	w := patient("a", "")
	do(t, stores[0], w)
	var won, lost atomic.Int32
	var wait sync.WaitGroup
	for i := range 64 {
		wait.Go(func() {
			_, err := stores[i%2].Write(context.Background(), as(w, fhir.OpUpdate, func(w *fhir.Write) { w.IfMatch = 1 }))
			switch {
			case err == nil:
				won.Add(1)
			case kindOf(t, err) == fhir.KindPreconditionFailed:
				lost.Add(1)
			}
		})
	}
	wait.Wait()
	if won.Load() != 1 || lost.Load() != 63 {
		t.Fatalf("%d won, %d lost", won.Load(), lost.Load())
	}
}

// TestOneKeyManyWrites: a batch may hold a key once, and what had to wait is
// neither lost nor reordered (rules 17 and 24 of docs/storage.md).
func TestOneKeyManyWrites(t *testing.T) {
	url := postgrestest.New(t)
	stores := []*Store{open(t, url), open(t, url)}
	const writes = 200
	var wait sync.WaitGroup
	var mu sync.Mutex
	seen := map[int64]bool{}
	created := 0
	for i := range writes {
		wait.Go(func() {
			w := as(patient("same", fmt.Sprintf(`,"n":%d`, i), fmt.Sprint(i)), fhir.OpUpdate, nil)
			result, err := stores[i%2].Write(context.Background(), w)
			if err != nil {
				t.Error(err)
				return
			}
			mu.Lock()
			defer mu.Unlock()
			if seen[result.VersionID] {
				t.Errorf("version %d twice", result.VersionID)
			}
			seen[result.VersionID] = true
			if result.Created {
				created++
			}
		})
	}
	wait.Wait()
	if len(seen) != writes || !seen[writes] || created != 1 {
		t.Fatalf("%d versions, %d created", len(seen), created)
	}
	rows := 0
	if err := stores[0].reserve.QueryRow(t.Context(), `SELECT count(*) FROM search_key`).Scan(&rows); err != nil || rows != 1 {
		t.Fatalf("%d index rows, %v: old ones must go with their version", rows, err)
	}
}

// TestOrderOfOneClient: writes to one resource queued one after the other are
// carried out in that order.
func TestOrderOfOneClient(t *testing.T) {
	s := open(t, postgrestest.New(t))
	w := patient("a", "")
	it := func(n int) *item {
		it, err := s.newItem(as(w, fhir.OpUpdate, func(w *fhir.Write) { w.Body = fmt.Appendf(nil, `,"n":%d`, n) }))
		if err != nil {
			t.Fatal(err)
		}
		return it
	}
	var tickets []*ticket
	s.writer.mu.Lock()
	for n := range 50 {
		tickets = append(tickets, &ticket{item: it(n), done: make(chan struct{})})
	}
	s.writer.waiting = append(s.writer.waiting, tickets...)
	s.writer.mu.Unlock()
	s.writer.wake.Broadcast()
	for n, ticket := range tickets {
		<-ticket.done
		if ticket.item.err != nil || ticket.item.result.VersionID != int64(n+1) {
			t.Fatalf("write %d: %+v %v", n, ticket.item.result, ticket.item.err)
		}
	}
}

// TestOppositeOrders: transactions that write the same resources in opposite
// orders, beside single writes to them, never show a deadlock.
func TestOppositeOrders(t *testing.T) {
	url := postgrestest.New(t)
	stores := []*Store{open(t, url), open(t, url)}
	ids := []string{"a", "B", "c", "D-1", "e.2", "F"}
	var wait sync.WaitGroup
	var done atomic.Int32
	for i := range 200 {
		wait.Go(func() {
			ctx := context.Background()
			order := rand.Perm(len(ids))
			err := stores[i%2].Transact(ctx, nil, func(tx fhir.Tx) error {
				var writes []*fhir.Write
				for _, n := range order[:4] {
					writes = append(writes, as(patient(ids[n], fmt.Sprintf(`,"by":%d`, i), ids[n]), fhir.OpUpdate, nil))
				}
				_, err := tx.Apply(ctx, writes)
				return err
			})
			if err == nil {
				_, err = stores[i%2].Write(ctx, as(patient(ids[order[0]], ""), fhir.OpUpdate, nil))
			}
			if err == nil {
				done.Add(1)
			} else if kind := kindOf(t, err); kind != fhir.KindConflict {
				t.Errorf("kind %d: %v", kind, err)
			}
		})
	}
	wait.Wait()
	if done.Load() != 200 {
		t.Errorf("only %d of 200 succeeded", done.Load())
	}
	versions := 0
	if err := stores[0].reserve.QueryRow(t.Context(), `SELECT sum(version) FROM resource`).Scan(&versions); err != nil || versions != 200*5 {
		t.Fatalf("%d versions, %v", versions, err)
	}
}

// TestOverlappingConditions: criteria that differ in text but share a term, or
// one of which has no equality at all, still run one after the other.
func TestOverlappingConditions(t *testing.T) {
	url := postgrestest.New(t)
	stores := []*Store{open(t, url), open(t, url)}
	criteria := []fhir.Criterion{
		fhir.Token{Param: "identifier", System: ref("urn:s"), Code: ref("1")},
		fhir.Token{Param: "identifier", Code: ref("1")},
		fhir.And{fhir.Token{Param: "identifier", Code: ref("1")}, fhir.Missing{Param: "other", Missing: true}},
		fhir.Missing{Param: "identifier"},
	}
	var wait sync.WaitGroup
	for i := range 24 {
		wait.Go(func() {
			ctx := context.Background()
			c := criteria[i%len(criteria)]
			err := stores[i%2].Transact(ctx, []fhir.Condition{{Type: "Patient", Criteria: c}}, func(tx fhir.Tx) error {
				page, err := tx.Search(ctx, &fhir.SearchQuery{Types: []fhir.ResourceType{"Patient"}, Criteria: c, Count: 2})
				if err != nil || len(page.Matches) > 0 {
					return err
				}
				time.Sleep(2 * time.Millisecond)
				_, err = tx.Apply(ctx, []*fhir.Write{patient(fmt.Sprint("p", i), "", "1")})
				return err
			})
			if err != nil {
				t.Error(err)
			}
		})
	}
	wait.Wait()
	wantIDs(t, stores[0], nil, search(t, stores[0], nil)[0])
}

// TestWithdraw: a client that gives up takes its own queued write back and
// nobody else's.
func TestWithdraw(t *testing.T) {
	s := open(t, postgrestest.New(t))
	do(t, s, patient("a", ""))
	block, err := s.reserve.Begin(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if _, err := block.Exec(t.Context(), `SELECT FROM resource WHERE id = 'a' FOR UPDATE`); err != nil {
		t.Fatal(err)
	}
	first, second := make(chan error, 1), make(chan error, 1)
	go func() {
		_, err := s.Write(context.Background(), as(patient("a", ""), fhir.OpUpdate, nil))
		first <- err
	}()
	waitFor(t, func() bool { s.writer.mu.Lock(); defer s.writer.mu.Unlock(); return len(s.writer.busy) == 1 })
	ctx, cancel := context.WithCancel(t.Context())
	go func() {
		_, err := s.Write(ctx, as(patient("a", ""), fhir.OpUpdate, nil))
		second <- err
	}()
	waitFor(t, func() bool { s.writer.mu.Lock(); defer s.writer.mu.Unlock(); return len(s.writer.waiting) == 1 })
	cancel()
	if kind := kindOf(t, <-second); kind != fhir.KindTimeout {
		t.Fatalf("kind %d", kind)
	}
	if err := block.Rollback(t.Context()); err != nil {
		t.Fatal(err)
	}
	if err := <-first; err != nil {
		t.Fatal(err)
	}
	if got, err := s.Read(t.Context(), fhir.Key{Type: "Patient", ID: "a"}); err != nil || got.VersionID != 2 {
		t.Fatalf("%+v %v", got, err)
	}
}

func waitFor(t *testing.T, condition func() bool) {
	t.Helper()
	for deadline := time.Now().Add(10 * time.Second); !condition(); time.Sleep(time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatal("waited in vain")
		}
	}
}

func TestConcurrentOpen(t *testing.T) {
	url := postgrestest.New(t)
	var wait sync.WaitGroup
	for range 8 {
		wait.Go(func() {
			s, err := Open(context.Background(), Config{URL: url, MaxConns: 6})
			if err != nil {
				t.Error(err)
				return
			}
			s.Close()
		})
	}
	wait.Wait()
}

// TestClose: what is queued is done, what comes later is told.
func TestClose(t *testing.T) {
	url := postgrestest.New(t)
	s, err := Open(t.Context(), Config{URL: url})
	if err != nil {
		t.Fatal(err)
	}
	before := goroutinesOf(t)
	var wait sync.WaitGroup
	var stored atomic.Int32
	for i := range 100 {
		wait.Go(func() {
			_, err := s.Write(context.Background(), patient(fmt.Sprint("p", i), ""))
			if err == nil {
				stored.Add(1)
			} else if kind := kindOf(t, err); kind != fhir.KindUnavailable {
				t.Errorf("kind %d: %v", kind, err)
			}
			_, err = s.Read(context.Background(), fhir.Key{Type: "Patient", ID: fmt.Sprint("p", i)})
			if err != nil {
				kindOf(t, err)
			}
		})
	}
	time.Sleep(3 * time.Millisecond)
	s.Close()
	wait.Wait()
	if after := goroutinesOf(t); after >= before {
		t.Errorf("%d goroutines before, %d after", before, after)
	}
	again := open(t, url)
	if got := len(search(t, again, nil)); got != int(stored.Load()) {
		t.Errorf("%d acknowledged, %d stored", stored.Load(), got)
	}
}

func goroutinesOf(t *testing.T) int {
	t.Helper()
	time.Sleep(20 * time.Millisecond)
	return runtime.NumGoroutine()
}
