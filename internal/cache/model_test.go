package cache

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"pgregory.net/rapid"

	"starling/internal/fhir"
)

// The model: a database in memory, instances that are real Synchronizers, and a
// transport that drops, repeats, reorders and delays. Time is synctest's.
const (
	modelLease = 2 * time.Second
	modelRound = 2 * time.Millisecond // of the database
)

// modelDB is what the instances share. Version v of every domain holds one
// resource whose version is v.
type modelDB struct {
	mu      sync.Mutex
	version int64
	members map[string]*fhir.Member
	seen    map[string]time.Time
	hearing map[*modelTransport]func(fhir.DomainVersions)
	// acknowledged is when each version was, by the writer of it; index is version.
	acknowledged map[int64]time.Time
	faults       []string
}

func newModelDB() *modelDB {
	return &modelDB{
		version: 1, members: map[string]*fhir.Member{}, seen: map[string]time.Time{},
		hearing: map[*modelTransport]func(fhir.DomainVersions){}, acknowledged: map[int64]time.Time{},
	}
}

func (db *modelDB) fault(format string, args ...any) {
	db.mu.Lock()
	defer db.mu.Unlock()
	if len(db.faults) < 20 {
		db.faults = append(db.faults, fmt.Sprintf(format, args...))
	}
}

func (db *modelDB) state() fhir.DomainState {
	s := fhir.DomainState{Lineage: "1", Versions: fhir.DomainVersions{}}
	for _, domain := range fhir.Domains() {
		s.Versions[domain] = db.version
	}
	return s
}

// modelStore is one instance's connection to the database. While it is cut off
// or stopped every call waits.
type modelStore struct {
	fhir.Store
	db   *modelDB
	rand *rand.Rand
	slow bool // a reading of a domain may take a lease
	mu   sync.Mutex
	open chan struct{} // closed: calls go through
}

var errCut = errors.New("cut off")

func (s *modelStore) round(ctx context.Context) error {
	s.mu.Lock()
	open, most := s.open, time.Duration(1+s.rand.IntN(int(modelRound)))
	s.mu.Unlock()
	select {
	case <-open:
	case <-ctx.Done():
		return errCut
	}
	time.Sleep(most)
	return ctx.Err()
}

func (s *modelStore) stop() (goOn func()) {
	closed := make(chan struct{})
	s.mu.Lock()
	s.open = closed
	s.mu.Unlock()
	return func() { close(closed) }
}

func (s *modelStore) Load(ctx context.Context, _ fhir.Domain, _ fhir.DomainSnapshot) (fhir.DomainSnapshot, error) {
	if err := s.round(ctx); err != nil {
		return fhir.DomainSnapshot{}, err
	}
	s.db.mu.Lock()
	version := s.db.version
	s.db.mu.Unlock()
	read := fhir.DomainSnapshot{Lineage: "1", Version: version, Resources: []*fhir.Resource{{VersionID: version}}}
	s.mu.Lock()
	slow := time.Duration(0)
	if s.slow && s.rand.IntN(4) == 0 {
		slow = time.Duration(s.rand.IntN(int(modelLease)))
	}
	s.mu.Unlock()
	time.Sleep(slow)
	return read, s.round(ctx)
}

func (s *modelStore) State(ctx context.Context) (fhir.DomainState, error) {
	if err := s.round(ctx); err != nil {
		return fhir.DomainState{}, err
	}
	s.db.mu.Lock()
	state := s.db.state()
	s.db.mu.Unlock()
	return state, s.round(ctx)
}

func (s *modelStore) Beginnings(ctx context.Context) ([]fhir.DomainState, error) {
	return nil, s.round(ctx)
}

func (s *modelStore) Join(ctx context.Context, m *fhir.Member) error {
	_, _, err := s.Beat(ctx, m)
	return err
}

func (s *modelStore) Beat(ctx context.Context, m *fhir.Member) (fhir.DomainState, bool, error) {
	if err := s.round(ctx); err != nil {
		return fhir.DomainState{}, false, err
	}
	s.db.mu.Lock()
	seen, known := s.db.seen[m.ID]
	lapsed := !known || time.Since(seen) > m.Lease
	state := s.db.state()
	kept := *m
	s.db.members[m.ID], s.db.seen[m.ID] = &kept, time.Now()
	s.db.mu.Unlock()
	return state, lapsed, s.round(ctx)
}

func (s *modelStore) Members(ctx context.Context) ([]*fhir.Member, error) {
	if err := s.round(ctx); err != nil {
		return nil, err
	}
	s.db.mu.Lock()
	defer s.db.mu.Unlock()
	var all []*fhir.Member
	for id, m := range s.db.members {
		shown := *m
		shown.Live = time.Since(s.db.seen[id]) < 2*m.Lease
		all = append(all, &shown)
	}
	return all, nil
}

func (s *modelStore) Leave(_ context.Context, id string) error {
	s.db.mu.Lock()
	defer s.db.mu.Unlock()
	delete(s.db.members, id)
	return nil
}

// Write commits a change of a profile, or a resource that says by which one it
// was checked.
func (s *modelStore) Write(ctx context.Context, w *fhir.Write) (fhir.WriteResult, error) {
	if err := s.round(ctx); err != nil {
		return fhir.WriteResult{}, err
	}
	s.db.mu.Lock()
	if used := w.Basis.Versions[0]; w.Basis.Lineage != "" && used != s.db.version {
		s.db.mu.Unlock()
		return fhir.WriteResult{}, fhir.ErrStale
	}
	version := s.db.version
	if w.Type == "StructureDefinition" {
		s.db.version++
		version = s.db.version
		for _, hear := range s.db.hearing {
			hear(s.db.state().Versions)
		}
	}
	s.db.mu.Unlock()
	return fhir.WriteResult{VersionID: version}, s.round(ctx)
}

// modelTransport loses, repeats and delays what it brings.
type modelTransport struct {
	store  *modelStore
	faulty bool
	late   time.Duration // before it listens
}

func (*modelTransport) Name() string { return "model" }

func (m *modelTransport) Listen(ctx context.Context, ready func() error, heard func(fhir.DomainVersions)) error {
	time.Sleep(m.late)
	m.store.db.mu.Lock()
	m.store.db.hearing[m] = func(versions fhir.DomainVersions) {
		times := 1
		if m.faulty {
			times = rand.IntN(3) // lost, once, twice
		}
		for range times {
			delay := time.Millisecond
			if m.faulty {
				delay = time.Duration(rand.IntN(int(3 * time.Second)))
			}
			go func() {
				select {
				case <-time.After(delay):
					heard(versions)
				case <-ctx.Done():
				}
			}()
		}
	}
	m.store.db.mu.Unlock()
	defer func() {
		m.store.db.mu.Lock()
		delete(m.store.db.hearing, m)
		m.store.db.mu.Unlock()
	}()
	if err := ready(); err != nil {
		return err
	}
	life := time.Hour
	if m.faulty {
		life = time.Duration(1 + rand.IntN(int(4*time.Second)))
	}
	select {
	case <-time.After(life):
	case <-ctx.Done():
	}
	return errCut
}

// instance is a Synchronizer with what stands around it.
type instance struct {
	*Synchronizer
	store *modelStore
	cache *Cache[int64]
}

func (db *modelDB) launch(t interface {
	Helper()
	Fatal(args ...any)
}, name string, source *rand.Rand, faulty bool, late time.Duration, without guards,
) *instance {
	t.Helper()
	open := make(chan struct{})
	close(open)
	i := &instance{store: &modelStore{db: db, rand: source, slow: faulty, open: open}}
	value := func(read []*fhir.Resource) int64 { return read[0].VersionID }
	var caches []Filled
	for _, domain := range fhir.Domains() {
		c := New(domain, value)
		c.without = without
		caches = append(caches, c)
	}
	i.cache, _ = caches[0].(*Cache[int64])
	begun := time.Now()
	s := newSynchronizer(Config{
		Store: i.store, Transport: &modelTransport{i.store, faulty, late}, Logger: slog.New(slog.DiscardHandler),
		Member: fhir.Member{ID: name, Name: name, Mode: "model", Lease: modelLease},
	}, caches)
	s.clock, s.without = func() time.Duration { return time.Since(begun) + time.Hour }, without
	started, err := start(context.Background(), s)
	if err != nil {
		t.Fatal(err)
	}
	i.Synchronizer = started
	return i
}

// change replaces a profile through an instance, and looks at all when it is
// acknowledged.
func (db *modelDB) change(i *instance, all []*instance) {
	ctx, cancel := context.WithTimeout(context.Background(), 20*time.Second)
	defer cancel()
	using, err := i.Begin(ctx, "", false)
	if err != nil {
		return
	}
	result, err := i.Follow(i.store).Write(using, &fhir.Write{Key: fhir.Key{Type: "StructureDefinition", ID: "p"}})
	if err != nil {
		return
	}
	db.mu.Lock()
	db.acknowledged[result.VersionID] = time.Now()
	db.mu.Unlock()
	for n, other := range all {
		if held := other.holds(); other.valid(&held, other.clock()) && held[0].Version < result.VersionID {
			db.fault("barrier: instance %d serves %d when %d is acknowledged", n, held[0].Version, result.VersionID)
		}
	}
}

// ask makes a request: an answer, or a write checked by what is held.
func (db *modelDB) ask(i *instance, work time.Duration, writes bool, least *int64) {
	ctx, cancel := context.WithTimeout(context.Background(), 20*time.Second)
	defer cancel()
	using, err := i.Begin(ctx, "", false)
	if err != nil {
		return
	}
	value := i.cache.Current().Value
	if value < *least {
		db.fault("fill fence: %d after %d", value, *least)
	}
	*least = value
	time.Sleep(work)
	if writes {
		result, err := i.Follow(i.store).Write(using, &fhir.Write{Key: fhir.Key{Type: "Basic", ID: "b"}})
		if err == nil && result.VersionID != value {
			db.fault("write fence: checked by %d, committed at %d", value, result.VersionID)
		}
		return
	}
	if i.Confirm(using) != nil {
		return
	}
	db.mu.Lock()
	newest := int64(0)
	for version, at := range db.acknowledged {
		if time.Since(at) >= modelLease {
			newest = max(newest, version)
		}
	}
	db.mu.Unlock()
	if value < newest {
		db.fault("lease: %d answered, though %d was acknowledged a lease ago", value, newest)
	}
}

// runModel lets three instances work for a minute of the model's time, with
// faults, and gives what was broken.
func runModel(t *testing.T, seed uint64, without guards) (faults []string) {
	synctest.Test(t, func(t *testing.T) {
		db := newModelDB()
		var all []*instance
		for n := range 3 {
			all = append(all, db.launch(t, fmt.Sprint(n), rand.New(rand.NewPCG(seed, uint64(n))), true, 0, without))
		}
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		var work sync.WaitGroup
		each := func(n uint64, do func(r *rand.Rand)) {
			r := rand.New(rand.NewPCG(seed, 100+n))
			work.Go(func() {
				for ctx.Err() == nil {
					do(r)
				}
			})
		}
		for n := range uint64(2) {
			each(n, func(r *rand.Rand) {
				time.Sleep(time.Duration(r.IntN(int(time.Second))))
				db.change(all[r.IntN(len(all))], all)
			})
		}
		for n, i := range all {
			for m := range uint64(3) {
				least := int64(0)
				each(10+10*uint64(n)+m, func(r *rand.Rand) {
					time.Sleep(time.Duration(r.IntN(int(100 * time.Millisecond))))
					pause := time.Duration(r.IntN(int(200 * time.Millisecond)))
					if r.IntN(20) == 0 {
						pause = time.Duration(r.IntN(int(3 * modelLease))) // stopped meanwhile
					}
					db.ask(i, pause, r.IntN(2) == 0, &least)
				})
			}
		}
		each(50, func(r *rand.Rand) {
			time.Sleep(time.Duration(r.IntN(int(5 * time.Second))))
			goOn := all[r.IntN(len(all))].store.stop()
			time.Sleep(time.Duration(r.IntN(int(6 * time.Second))))
			goOn()
		})
		work.Wait()
		time.Sleep(3 * modelLease)
		for n, i := range all {
			if value := i.cache.Current().Value; value != db.version {
				db.fault("instance %d ends at %d of %d", n, value, db.version)
			}
			i.Close()
		}
		if db.version < 10 {
			db.fault("only %d changes were made", db.version)
		}
		faults = db.faults
	})
	return faults
}

// startUnderChange has an instance start while profiles are replaced, with a
// transport that is slow to listen and loses nothing, and gives the longest time
// a change then took to reach all.
func startUnderChange(t *testing.T, without guards) (longest time.Duration) {
	synctest.Test(t, func(t *testing.T) {
		db := newModelDB()
		source := func(n uint64) *rand.Rand { return rand.New(rand.NewPCG(1, n)) }
		one := db.launch(t, "one", source(1), false, 0, guards{})
		other := db.launch(t, "other", source(2), false, 300*time.Millisecond, without)
		for range 20 {
			begun := time.Now()
			db.change(one, []*instance{one, other})
			longest = max(longest, time.Since(begun))
		}
		one.Close()
		other.Close()
		for _, fault := range db.faults {
			t.Error(fault)
		}
	})
	return longest
}

func TestModel(t *testing.T) {
	rapid.Check(t, func(r *rapid.T) {
		for _, fault := range runModel(t, rapid.Uint64().Draw(r, "seed"), guards{}) {
			r.Error(fault)
		}
	})
	if took := startUnderChange(t, guards{}); took > 100*time.Millisecond {
		t.Errorf("a change took %v to reach an instance just started", took)
	}
}

// Without any one of its guards the protocol is broken, and the model sees it.
func TestModelWithoutAGuard(t *testing.T) {
	for name, without := range map[string]guards{
		"fill fence": {fillFence: true}, "write fence": {writeFence: true}, "lease": {lease: true}, "gap check": {gaps: true}, "barrier": {barrier: true},
	} {
		t.Run(name, func(t *testing.T) {
			for seed := range uint64(30) {
				if faults := runModel(t, seed, without); len(faults) > 0 {
					t.Logf("seed %d: %s", seed, faults[0])
					return
				}
			}
			t.Error("the model does not notice")
		})
	}
	t.Run("listen first", func(t *testing.T) {
		if took := startUnderChange(t, guards{listenFirst: true}); took < 100*time.Millisecond {
			t.Errorf("the model does not notice: %v", took)
		}
	})
}
