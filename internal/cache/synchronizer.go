package cache

import (
	"context"
	"errors"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	"starling/internal/fhir"
)

const (
	retryFill = 200 * time.Millisecond
	// Beats is how often in a lease an instance reads the versions at least.
	Beats = 4
)

// Filled is a Cache, whatever it holds.
type Filled interface {
	Domain() fhir.Domain
	Status() Status
	held() *label
	hear(version int64)
	learn(lineage string, version int64)
	behind() bool
	fill(ctx context.Context, store fhir.DomainStore, begun func() time.Duration) error
	catchUp(ctx context.Context, s *Synchronizer) error
	keep(ctx context.Context, s *Synchronizer)
}

// Config says how to keep caches in step.
type Config struct {
	Store     fhir.MemberStore
	Transport Transport
	// Fallback is held while Transport does not work; nil for none.
	Fallback Transport
	// Member is the instance: its ID, Name and Mode, and the Lease, the longest
	// time an answer may rest on a system resource since changed.
	Member fhir.Member
	Logger *slog.Logger
}

// Synchronizer keeps caches in step with a store.
type Synchronizer struct {
	store     fhir.MemberStore
	transport Transport
	fallback  Transport
	member    fhir.Member
	lease     time.Duration
	caches    []Filled // by fhir.Domain.Number
	logger    *slog.Logger
	clock     func() time.Duration
	without   guards

	using     atomic.Value  // string: the name of the transport in use
	connected atomic.Bool   // a transport has been, once
	joined    chan struct{} // closed when the instance is a member
	ears      ears

	told       chan struct{}
	fresh      fresh
	beginnings beginnings
	metrics    tallies
	stop       context.CancelFunc
	done       sync.WaitGroup
}

// tallies are for the metrics.
type tallies struct {
	heard, reconnects, reads, expired, barriers, barrierTimeouts atomic.Int64
	barrierWait                                                  atomic.Int64 // nanoseconds
	stale                                                        atomic.Int64 // requests made again
}

// Start fills every cache, one for each domain, and keeps them in step until
// Close. When it returns the instance is a member that others wait for, the
// caches are filled, and changes committed from then on are heard of: it listens
// and registers before it reads. It fails if other members do not agree on lease
// and mode.
func Start(ctx context.Context, config Config, caches ...Filled) (*Synchronizer, error) {
	return start(ctx, newSynchronizer(config, caches))
}

func newSynchronizer(config Config, caches []Filled) *Synchronizer {
	s := &Synchronizer{
		store: config.Store, transport: config.Transport, fallback: config.Fallback, member: config.Member, lease: config.Member.Lease,
		caches: make([]Filled, len(fhir.Domains())), logger: config.Logger, clock: sinceBoot,
		joined: make(chan struct{}), told: make(chan struct{}, 1),
	}
	for _, c := range caches {
		s.caches[c.Domain().Number()] = c
	}
	return s
}

func start(ctx context.Context, s *Synchronizer) (*Synchronizer, error) {
	running, stop := context.WithCancel(context.WithoutCancel(ctx))
	s.stop = stop
	ready := make(chan struct{})
	s.done.Go(func() { s.listen(running, sync.OnceFunc(func() { close(ready) })) })
	if !s.without.listenFirst {
		select {
		case <-ready:
		case <-ctx.Done():
			s.Close()
			return nil, ctx.Err()
		}
	}
	member := s.asMember()
	if err := s.store.Join(ctx, &member); err != nil {
		s.Close()
		return nil, err
	}
	close(s.joined)
	if err := fillAll(ctx, s.store, s.clock, s.caches); err != nil {
		s.Close()
		return nil, err
	}
	if err := s.Probe(ctx); err != nil {
		s.Close()
		return nil, err
	}
	for _, c := range s.caches {
		s.done.Go(func() { c.keep(running, s) })
	}
	s.done.Go(func() { s.beat(running) })
	return s, nil
}

// FillOnce fills the caches without keeping them in step: all that a
// deployment with --cache-sync=off does.
func FillOnce(ctx context.Context, store fhir.DomainStore, caches ...Filled) error {
	return fillAll(ctx, store, sinceBoot, caches)
}

func fillAll(ctx context.Context, store fhir.DomainStore, clock func() time.Duration, caches []Filled) error {
	for _, c := range caches {
		if err := c.fill(ctx, store, clock); err != nil {
			return err
		}
	}
	return nil
}

// leaveWithin bounds the goodbye: a member that says none is not waited for
// after two leases.
const leaveWithin = 2 * time.Second

// Close ends the membership and stops all that Start has started. Requests must
// have ended before.
func (s *Synchronizer) Close() {
	s.stop()
	s.done.Wait()
	ctx, cancel := context.WithTimeout(context.Background(), leaveWithin)
	defer cancel()
	if err := s.store.Leave(ctx, s.member.ID); err != nil {
		s.logger.Warn("the others will wait for this instance until its lease is out", "error", err)
	}
}

// tell has the others told what is applied, soon.
func (s *Synchronizer) tell() {
	select {
	case s.told <- struct{}{}:
	default:
	}
}

// beat renews the lease until ctx ends.
func (s *Synchronizer) beat(ctx context.Context) {
	for ctx.Err() == nil {
		timer := time.NewTimer(s.lease / Beats)
		select {
		case <-ctx.Done():
		case <-timer.C:
		case <-s.told:
		}
		timer.Stop()
		beating, cancel := context.WithTimeout(ctx, s.lease)
		if err := s.Probe(beating); err != nil && ctx.Err() == nil {
			s.logger.Warn("cache lease not renewed; trying again", "error", err)
			pause(ctx, min(retryFill, s.lease/Beats))
		}
		cancel()
	}
}

// errLapsed is what the second of two heartbeats found, if the first had not
// been heard of by then.
var errLapsed = errors.New("cache: the database took longer than the lease to answer")

// Probe tells the others what is applied and reads the versions. It proves
// those snapshots current whose versions it finds.
func (s *Synchronizer) Probe(ctx context.Context) error {
	for range 2 {
		at := s.clock()
		member := s.asMember()
		member.Applied = appliedBy(s.caches)
		s.metrics.reads.Add(1)
		state, lapsed, err := s.store.Beat(ctx, &member)
		if err != nil {
			return err
		}
		if !lapsed {
			s.learn(state, at)
			s.ears.compare(state.Versions, s.clock())
			return nil
		}
	}
	return errLapsed
}

// asMember is the instance as the others are to see it.
func (s *Synchronizer) asMember() fhir.Member {
	member := s.member
	if member.Transport = s.Using(); member.Transport == "" {
		member.Transport = s.transport.Name() // it has not connected yet
	}
	return member
}

// learn takes up the versions found by a reading begun at a time.
func (s *Synchronizer) learn(state fhir.DomainState, at time.Duration) {
	for i, domain := range fhir.Domains() {
		c, version := s.caches[i], state.Versions[domain]
		if !s.without.gaps {
			c.learn(state.Lineage, version)
		}
		if l := c.held(); l.covers(state.Lineage, version) {
			l.prove(at)
		}
	}
}

// appliedBy is what the snapshots hold, all of the lineage of the oldest.
func appliedBy(caches []Filled) fhir.DomainState {
	state := fhir.DomainState{Versions: fhir.DomainVersions{}}
	for _, c := range caches {
		l := c.held()
		if l == nil {
			continue
		}
		state.Versions[c.Domain()] = l.Version
		if state.Lineage == "" || l.Lineage < state.Lineage {
			state.Lineage = l.Lineage
		}
	}
	return state
}

func pause(ctx context.Context, d time.Duration) {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-ctx.Done():
	case <-timer.C:
	}
}
