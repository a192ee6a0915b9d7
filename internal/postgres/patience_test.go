package postgres

import (
	"context"
	"fmt"
	"sync"
	"testing"
	"time"

	"starling/internal/postgres/postgrestest"
)

func TestALoneClientWaitsForNobody(t *testing.T) {
	var p patience
	for range 100 {
		p.saw(1)
		p.wrote(longest)
	}
	if p.wanted() != 1 {
		t.Errorf("one client waits for %d writes", p.wanted())
	}
}

func TestPatienceFollowsTheWritesAtOnce(t *testing.T) {
	var p patience
	p.saw(20)
	p.saw(2) // a batch has just been taken
	if n := p.wanted(); n < 15 || n > 20 {
		t.Errorf("of 20 writes at once %d are waited for", n)
	}
	p.saw(500)
	if p.wanted() != company {
		t.Errorf("of 500 writes at once %d are waited for, want %d", p.wanted(), company)
	}
	for range 100 {
		p.saw(1)
	}
	if p.wanted() != 1 {
		t.Errorf("%d writes are waited for long after the others went", p.wanted())
	}
}

func TestPatienceIsAsLongAsABatch(t *testing.T) {
	var p patience
	if p.limit() != 0 {
		t.Errorf("the first batch waits %v", p.limit())
	}
	for range 100 {
		p.wrote(2 * time.Millisecond)
	}
	if limit := p.limit(); limit < 1900*time.Microsecond || limit > 2*time.Millisecond {
		t.Errorf("after batches of 2 ms one waits %v", limit)
	}
	for range 100 {
		p.wrote(time.Minute)
	}
	if p.limit() > longest {
		t.Errorf("after slow batches one waits %v, want at most %v", p.limit(), longest)
	}
}

// whenGathering writes one resource to a store whose writer believes that six
// writes come at once and that batches take a minute, and gives the write's
// outcome once a loop waits for company. It waits for five writes, the first
// among them, however late the loops start.
func whenGathering(t *testing.T, s *Store) <-chan error {
	t.Helper()
	w := s.writer
	w.mu.Lock()
	w.patience = patience{atOnce: 6, writing: time.Minute}
	w.mu.Unlock()
	outcome := make(chan error, 1)
	go func() {
		_, err := s.Write(context.Background(), patient("first", ""))
		outcome <- err
	}()
	for deadline := time.Now().Add(time.Minute); ; time.Sleep(time.Millisecond) {
		w.mu.Lock()
		gathering := w.gathering
		w.mu.Unlock()
		if gathering {
			return outcome
		}
		if time.Now().After(deadline) {
			t.Fatal("no loop waits for company")
		}
	}
}

func TestABatchWaitsForCompany(t *testing.T) {
	s := open(t, postgrestest.New(t))
	first := whenGathering(t, s)
	var wait sync.WaitGroup
	for i := range 4 {
		wait.Go(func() {
			if _, err := s.Write(context.Background(), patient(fmt.Sprint("p", i), "")); err != nil {
				t.Error(err)
			}
		})
	}
	wait.Wait()
	if err := <-first; err != nil {
		t.Error(err)
	}
	var stored, transactions int
	if err := s.reserve.QueryRow(t.Context(), `SELECT count(*), count(DISTINCT writer) FROM version`).Scan(&stored, &transactions); err != nil {
		t.Fatal(err)
	}
	if stored != 5 || transactions != 1 {
		t.Errorf("%d versions of %d transactions, want 5 of one", stored, transactions)
	}
}

func TestClosingEndsTheWaitForCompany(t *testing.T) {
	s, err := Open(t.Context(), Config{URL: postgrestest.New(t)})
	if err != nil {
		t.Fatal(err)
	}
	first := whenGathering(t, s)
	s.Close()
	if err := <-first; err != nil {
		t.Error(err)
	}
}

func TestAWriteWithdrawnIsNoCompany(t *testing.T) {
	s := open(t, postgrestest.New(t))
	first := whenGathering(t, s)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := s.Write(ctx, patient("gone", "")); err == nil {
		t.Error("a write that was cancelled while it waited was carried out")
	}
	select {
	case err := <-first:
		t.Errorf("the batch went without company: %v", err)
	default:
	}
}
