package cache

import (
	"context"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"starling/internal/fhir"
)

// pooled is a transport that cannot work until it is mended.
type pooled struct {
	modelTransport
	mended, asked atomic.Int64
}

func (p *pooled) Listen(ctx context.Context, ready func() error, heard func(fhir.DomainVersions)) error {
	p.asked.Add(1)
	if p.mended.Load() == 0 {
		return fmt.Errorf("%w: a pooler is in between", fhir.ErrUnheard)
	}
	return p.modelTransport.Listen(ctx, ready, heard)
}

// launchPolling starts an instance whose transport is the one given.
func launchPolling(t *testing.T, db *modelDB, name string, transport Transport, store *modelStore) *instance {
	t.Helper()
	i := &instance{store: store}
	var caches []Filled
	for _, domain := range fhir.Domains() {
		caches = append(caches, New(domain, func(read []*fhir.Resource) int64 { return read[0].VersionID }))
	}
	i.cache, _ = caches[0].(*Cache[int64])
	poll := NewPoll(store, 50*time.Millisecond, modelLease)
	config := Config{
		Store: store, Transport: transport, Fallback: poll, Logger: slog.New(slog.DiscardHandler),
		Member: fhir.Member{ID: name, Name: name, Mode: "model", Lease: modelLease},
	}
	if transport == nil {
		config.Transport, config.Fallback = poll, nil
	}
	s := newSynchronizer(config, caches)
	begun := time.Now()
	s.clock = func() time.Duration { return time.Since(begun) + time.Hour }
	started, err := start(t.Context(), s)
	if err != nil {
		t.Fatal(err)
	}
	i.Synchronizer = started
	return i
}

// transport is what the others see of a member.
func (db *modelDB) transport(id string) string {
	db.mu.Lock()
	defer db.mu.Unlock()
	return db.members[id].Transport
}

func openStore(db *modelDB) *modelStore {
	open := make(chan struct{})
	close(open)
	return &modelStore{db: db, rand: rand.New(rand.NewPCG(1, 1)), open: open}
}

// Instances that poll are told to others as such, and apply changes within the
// interval: a change waits no longer for them.
func TestPoll(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		db := newModelDB()
		one, other := launchPolling(t, db, "one", nil, openStore(db)), launchPolling(t, db, "other", nil, openStore(db))
		for range 20 {
			begun := time.Now()
			db.change(one, []*instance{one, other})
			if took := time.Since(begun); took > 150*time.Millisecond {
				t.Errorf("a change took %v", took)
			}
		}
		if got := db.transport("other"); one.Using() != "poll" || got != "poll" {
			t.Errorf("in use is %q, the others see %q", one.Using(), got)
		}
		if gaps := one.caches[0].Status().Gaps; gaps != 0 {
			t.Errorf("%d gaps, though nothing is told one by one", gaps)
		}
		one.Close()
		other.Close()
		for _, fault := range db.faults {
			t.Error(fault)
		}
	})
}

// A transport that cannot work is replaced by poll, tried again later, and used
// once it works.
func TestFallback(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		db := newModelDB()
		store := openStore(db)
		transport := &pooled{modelTransport: modelTransport{store: store}}
		i := launchPolling(t, db, "one", transport, store)
		if i.Using() != "poll" {
			t.Errorf("in use is %q", i.Using())
		}
		begun := time.Now()
		db.change(i, []*instance{i})
		if took := time.Since(begun); took > 150*time.Millisecond {
			t.Errorf("a change took %v", took)
		}
		time.Sleep(10 * retest)
		if asked := transport.asked.Load(); asked < 5 || asked > 12 {
			t.Errorf("tried %d times in ten minutes", asked)
		}
		transport.mended.Store(1)
		time.Sleep(2 * retest)
		if got := db.transport("one"); i.Using() != "model" || got != "model" {
			t.Errorf("mended: in use is %q, the others see %q", i.Using(), got)
		}
		i.Close()
	})
}

// Without a database no transport connects, and Start gives up with its caller.
func TestStartGivesUp(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		db := newModelDB()
		store := openStore(db)
		goOn := store.stop()
		defer goOn()
		ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
		defer cancel()
		caches := make([]Filled, 0, 3)
		for _, domain := range fhir.Domains() {
			caches = append(caches, New(domain, func([]*fhir.Resource) int64 { return 0 }))
		}
		_, err := Start(ctx, Config{
			Store: store, Transport: NewPoll(store, time.Second, modelLease), Logger: slog.New(slog.DiscardHandler),
			Member: fhir.Member{ID: "one", Lease: modelLease},
		}, caches...)
		if err == nil {
			t.Error("started without a database")
		}
	})
}

// An instance does not wait for a transport that is slow to connect: it polls
// until then.
func TestSlowTransport(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		db := newModelDB()
		store := openStore(db)
		begun := time.Now()
		i := launchPolling(t, db, "one", &modelTransport{store: store, late: 20 * time.Second}, store)
		if took := time.Since(begun); took > 2*moment || i.Using() != "poll" {
			t.Errorf("started after %v on %q", took, i.Using())
		}
		time.Sleep(20 * time.Second)
		if i.Using() != "model" {
			t.Errorf("in use is %q", i.Using())
		}
		begun = time.Now()
		db.change(i, []*instance{i})
		if took := time.Since(begun); took > 30*time.Millisecond {
			t.Errorf("a change took %v: the interval of poll is 50 ms", took)
		}
		i.Close()
	})
}

// deafening is a transport that connects, and hears nothing.
type deafening struct {
	modelTransport
	connections atomic.Int64
	mended      atomic.Bool
}

func (d *deafening) Listen(ctx context.Context, ready func() error, heard func(fhir.DomainVersions)) error {
	d.connections.Add(1)
	if d.mended.Load() {
		return d.modelTransport.Listen(ctx, ready, heard)
	}
	if err := ready(); err != nil {
		return err
	}
	<-ctx.Done()
	return ctx.Err()
}

// A transport that lives and tells of nothing is noticed by what is read, and
// only if there was something to tell of.
func TestDeafTransport(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		db := newModelDB()
		store := openStore(db)
		transport := &deafening{modelTransport: modelTransport{store: store}}
		i := launchPolling(t, db, "one", transport, store)
		time.Sleep(time.Hour)
		if n := transport.connections.Load(); n != 1 {
			t.Errorf("%d connections, though nothing has changed", n)
		}
		transport.mended.Store(true)
		db.change(i, []*instance{i})
		time.Sleep(2 * deafAfter)
		if n := transport.connections.Load(); n != 2 {
			t.Errorf("%d connections after a change it did not hear of", n)
		}
		for range 20 {
			db.change(i, []*instance{i})
			time.Sleep(deafAfter)
		}
		if n := transport.connections.Load(); n != 2 || i.Using() != "model" {
			t.Errorf("%d connections, though it hears now; in use is %q", n, i.Using())
		}
		i.Close()
	})
}
