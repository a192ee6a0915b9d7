package postgres

import (
	"context"
	"fmt"
	"math/rand/v2"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"starling/internal/fhir"
	"starling/internal/postgres/postgrestest"
)

// within fails the test, with the stacks of all goroutines, if f takes longer
// than limit.
func within(t *testing.T, limit time.Duration, f func()) {
	t.Helper()
	done := make(chan struct{})
	go func() { defer close(done); f() }()
	select {
	case <-done:
	case <-time.After(limit):
		stacks := make([]byte, 1<<20)
		t.Fatalf("not done after %v\n%s", limit, stacks[:runtime.Stack(stacks, true)])
	}
}

// storm is clients that write at random to one store: new resources and a few
// that all of them update, some for which another session has a lock, some
// withdrawn while they wait.
type storm struct {
	t     *testing.T
	store *Store
	name  string // what the identifiers of new resources begin with

	created, updated atomic.Int64 // acknowledged
}

const contended = 4

func contendedID(n int) string { return fmt.Sprint("all", n) }

// client writes until it has written enough or the store is closed.
func (s *storm) client(n int, random *rand.Rand) {
	for i := range 2 + random.IntN(20) {
		ctx, cancel := context.WithCancel(context.Background())
		if random.IntN(4) == 0 {
			ctx, cancel = context.WithTimeout(ctx, time.Duration(random.IntN(20))*time.Millisecond)
		}
		write, acknowledged := patient(fmt.Sprintf("%s-%d-%d", s.name, n, i), ""), &s.created
		if random.IntN(3) == 0 {
			write, acknowledged = as(patient(contendedID(random.IntN(contended)), ""), fhir.OpUpdate, nil), &s.updated
		}
		_, err := s.store.Write(ctx, write)
		cancel()
		if err == nil {
			acknowledged.Add(1)
		} else if kind := kindOf(s.t, err); kind == fhir.KindUnavailable {
			return
		} else if kind != fhir.KindTimeout {
			s.t.Errorf("kind %d: %v", kind, err)
		}
		if random.IntN(3) == 0 {
			time.Sleep(time.Duration(random.IntN(3000)) * time.Microsecond)
		}
	}
}

// lock holds one of the contended resources after another, for less time than a
// batch is slow and for more, until stop is closed.
func (s *storm) lock(conn *pgx.Conn, random *rand.Rand, stop <-chan struct{}) {
	for {
		tx, err := conn.Begin(context.Background())
		if err == nil {
			_, err = tx.Exec(context.Background(), `SELECT FROM resource WHERE id = $1 FOR UPDATE`, contendedID(random.IntN(contended)))
		}
		if err != nil {
			s.t.Error(err)
			return
		}
		stopped := false
		select {
		case <-stop:
			stopped = true
		case <-time.After(time.Duration(random.Int64N(int64(slow * 3 / 2)))):
		}
		if err := tx.Rollback(context.Background()); err != nil {
			s.t.Error(err)
			return
		}
		if stopped {
			return
		}
		time.Sleep(time.Duration(random.IntN(30)) * time.Millisecond)
	}
}

// TestNoWriteIsForgotten: whatever comes together, each write ends, what is
// acknowledged and nothing else is stored, and the store closes, on one
// processor as on several.
func TestNoWriteIsForgotten(t *testing.T) {
	url := postgrestest.New(t)
	conn, err := pgx.Connect(t.Context(), url)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = conn.Close(context.Background()) }()
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(0))
	processors := runtime.GOMAXPROCS(0)
	var updated int64
	for round := range 4 {
		seed := rand.Uint64()
		random := rand.New(rand.NewPCG(seed, 0))
		runtime.GOMAXPROCS([]int{processors, 1}[round%2])
		store, err := Open(t.Context(), Config{URL: url})
		if err != nil {
			t.Fatal(err)
		}
		s := &storm{t: t, store: store, name: fmt.Sprint("r", round)}
		clients, early := 1+random.IntN(4<<random.IntN(6)), random.IntN(2) == 0
		within(t, 2*time.Minute, func() { s.run(conn, random, clients, early) })
		updated += s.updated.Load()
		var created, versions int64
		const count = `SELECT count(*) FILTER (WHERE id LIKE $1), coalesce(sum(version) FILTER (WHERE id LIKE 'all%'), 0) FROM resource`
		if err := conn.QueryRow(t.Context(), count, s.name+"-%").Scan(&created, &versions); err != nil {
			t.Fatal(err)
		}
		if created != s.created.Load() || versions != updated {
			t.Errorf("seed %d: %d created and %d updated, %d and %d acknowledged", seed, created, versions, s.created.Load(), updated)
		}
		t.Logf("seed %d: %d clients, closed early %v: %d created, %d updated", seed, clients, early, s.created.Load(), s.updated.Load())
	}
}

func (s *storm) run(conn *pgx.Conn, random *rand.Rand, clients int, early bool) {
	// What the writer learnt before this round, of which it must rid itself.
	s.store.writer.mu.Lock()
	s.store.writer.patience = patience{atOnce: 64 * random.Float64(), writing: time.Duration(random.Int64N(int64(longest)))}
	s.store.writer.mu.Unlock()
	stop := make(chan struct{})
	var others, all sync.WaitGroup
	locks := rand.New(rand.NewPCG(random.Uint64(), 1))
	others.Go(func() { s.lock(conn, locks, stop) })
	for n := range clients {
		own := rand.New(rand.NewPCG(random.Uint64(), 2))
		all.Go(func() { s.client(n, own) })
	}
	if early {
		time.Sleep(time.Duration(random.IntN(200)) * time.Millisecond)
		s.store.Close()
	}
	all.Wait()
	if !early {
		s.store.Close()
	}
	close(stop)
	others.Wait()
}

// TestClosingAfterTheLastWithdrawal: loops that wait for a slow batch before
// they take the last write end when that write is withdrawn.
func TestClosingAfterTheLastWithdrawal(t *testing.T) {
	s := open(t, postgrestest.New(t))
	w := s.writer
	w.mu.Lock()
	w.running++ // a batch that has ended, and whose timer has not yet said so
	w.mu.Unlock()
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	outcome := make(chan error, 1)
	go func() {
		_, err := s.Write(ctx, patient("gone", ""))
		outcome <- err
	}()
	waitFor(t, func() bool { w.mu.Lock(); defer w.mu.Unlock(); return len(w.waiting) == 1 })
	within(t, time.Minute, func() {
		var closing sync.WaitGroup
		closing.Go(w.close)
		waitFor(t, func() bool { w.mu.Lock(); defer w.mu.Unlock(); return w.closed })
		time.Sleep(20 * time.Millisecond) // lets the loops see it and wait again
		cancel()
		wantKind(t, <-outcome, fhir.KindTimeout)
		w.done()
		closing.Wait()
	})
}
