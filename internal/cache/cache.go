package cache

import (
	"context"
	"fmt"
	"sync/atomic"
	"time"

	"starling/internal/fhir"
)

// Snapshot is what a domain looked like at a version. It is immutable.
type Snapshot[T any] struct {
	*label
	Value T
}

// read is what the snapshot was built from; nothing for none.
func (s *Snapshot[T]) read() fhir.DomainSnapshot {
	if s == nil {
		return fhir.DomainSnapshot{}
	}
	return fhir.DomainSnapshot{Lineage: s.Lineage, Version: s.Version, Resources: s.Resources}
}

// label says of what a snapshot was made, and until when it may be used.
type label struct {
	Lineage   string
	Version   int64
	Resources []*fhir.Resource // that it was built from
	// proved is the last time, on the clock of the synchronizer, before a reading
	// of the versions that found this one current. It belongs to the snapshot: a
	// reading that finds a newer version proves nothing of this one.
	proved atomic.Int64
}

// prove notes a reading begun at a time that found the snapshot current.
func (l *label) prove(at time.Duration) {
	for proved := l.proved.Load(); int64(at) > proved; proved = l.proved.Load() {
		if l.proved.CompareAndSwap(proved, int64(at)) {
			return
		}
	}
}

// covers reports whether the snapshot holds what a version of a lineage holds.
func (l *label) covers(lineage string, version int64) bool {
	return l != nil && l.Lineage == lineage && l.Version >= version
}

// Cache holds the newest snapshot of one domain.
type Cache[T any] struct {
	domain  fhir.Domain
	build   func([]*fhir.Resource) T
	current atomic.Pointer[Snapshot[T]]
	// known is the newest version heard of. A snapshot that does not cover it is
	// being replaced.
	known atomic.Pointer[known]
	wake  chan struct{}

	counts  counts
	without guards
}

// How long is waited before a version that could not be read yet is read again.
const (
	minEarly = time.Millisecond
	maxEarly = 100 * time.Millisecond
)

// known is a version heard of.
type known struct {
	lineage string // empty: that of the snapshot
	version int64
}

// counts are for the metrics.
type counts struct {
	fills, gaps atomic.Int64
	filling     atomic.Int64 // nanoseconds, all fills together
	last        atomic.Int64 // nanoseconds of the last
}

// New makes a cache whose snapshots build derives from a domain's resources.
// It holds nothing until its first fill; give it to Start or FillOnce.
func New[T any](domain fhir.Domain, build func([]*fhir.Resource) T) *Cache[T] {
	c := &Cache[T]{domain: domain, build: build, wake: make(chan struct{}, 1)}
	c.known.Store(&known{})
	return c
}

// Current is the newest snapshot; nil before the first fill.
func (c *Cache[T]) Current() *Snapshot[T] { return c.current.Load() }

// Domain says which domain this is.
func (c *Cache[T]) Domain() fhir.Domain { return c.domain }

// held is the label of the newest snapshot; nil before the first fill.
func (c *Cache[T]) held() *label {
	if s := c.current.Load(); s != nil {
		return s.label
	}
	return nil
}

// Status is the state of one cache, for people and metrics.
type Status struct {
	Domain    fhir.Domain
	Version   int64 // of the snapshot served
	Known     int64 // newest version heard of
	Resources int   // in the snapshot
	Fills     int64
	Gaps      int64         // notifications that came after one was lost
	Filling   time.Duration // spent in all fills
	LastFill  time.Duration // of the last one
}

// Status says how far the cache is.
func (c *Cache[T]) Status() Status {
	status := Status{
		Domain: c.domain, Known: c.known.Load().version, Fills: c.counts.fills.Load(), Gaps: c.counts.gaps.Load(),
		Filling: time.Duration(c.counts.filling.Load()), LastFill: time.Duration(c.counts.last.Load()),
	}
	if l := c.held(); l != nil {
		status.Version, status.Resources = l.Version, len(l.Resources)
	}
	return status
}

// hear notes a version that a transport told of. It is a hint: of which
// lineage it is, is not known.
func (c *Cache[T]) hear(version int64) {
	k := c.known.Load()
	if version > k.version+1 && k.version > 0 {
		c.counts.gaps.Add(1)
	}
	c.learn("", version)
}

// learn notes that a version exists and wakes the filler if the snapshot does
// not hold it. What is no news is ignored.
func (c *Cache[T]) learn(lineage string, version int64) {
	for {
		k := c.known.Load()
		if lineage == "" {
			lineage = k.lineage
		}
		if lineage < k.lineage || lineage == k.lineage && version <= k.version || c.known.CompareAndSwap(k, &known{lineage, version}) {
			break
		}
	}
	if c.behind() {
		select {
		case c.wake <- struct{}{}:
		default:
		}
	}
}

func (c *Cache[T]) behind() bool {
	k := c.known.Load()
	l := c.held()
	return l == nil || l.Lineage < k.lineage || l.Lineage == k.lineage && l.Version < k.version
}

// fill reads the domain, begun at a time, and stores the snapshot unless a newer
// one is held, so a late fill never undoes an invalidation. What it read is
// stored even if something newer is known by then: else a storm of changes would
// starve the cache.
func (c *Cache[T]) fill(ctx context.Context, store fhir.DomainStore, begun func() time.Duration) error {
	at, start := begun(), time.Now()
	held := c.current.Load()
	read, err := store.Load(ctx, c.domain, held.read())
	if err != nil {
		return fmt.Errorf("fill %s: %w", c.domain, err)
	}
	held = c.current.Load()
	if held != nil && held.Lineage == read.Lineage && held.Version == read.Version {
		held.prove(at)
	} else {
		c.keepNewer(&Snapshot[T]{&label{Lineage: read.Lineage, Version: read.Version, Resources: read.Resources}, c.build(read.Resources)}, at)
	}
	took := time.Since(start)
	c.counts.fills.Add(1)
	c.counts.filling.Add(int64(took))
	c.counts.last.Store(int64(took))
	c.learn(read.Lineage, read.Version)
	return nil
}

func (c *Cache[T]) keepNewer(next *Snapshot[T], at time.Duration) {
	next.prove(at)
	for {
		held := c.current.Load()
		if held != nil && !c.without.fillFence && (held.Lineage > next.Lineage || held.Lineage == next.Lineage && held.Version >= next.Version) {
			return
		}
		if c.current.CompareAndSwap(held, next) {
			return
		}
	}
}

// keep refills the cache whenever it is behind what is known, until ctx ends.
func (c *Cache[T]) keep(ctx context.Context, s *Synchronizer) {
	for {
		select {
		case <-ctx.Done():
			return
		case <-c.wake:
		}
		for c.behind() && ctx.Err() == nil {
			if err := c.catchUp(ctx, s); err != nil && ctx.Err() == nil {
				s.logger.Warn("cache not refreshed; trying again", "error", err)
				pause(ctx, retryFill)
			}
		}
	}
}

// catchUp fills the cache until it holds what is known. Word may come before its row can be read, which a logical event does:
// by moments, or for as long as a commit waits for its standby.
func (c *Cache[T]) catchUp(ctx context.Context, s *Synchronizer) error {
	for wait := minEarly; c.behind() && ctx.Err() == nil; {
		before := c.held()
		if err := c.fill(ctx, s.store, s.clock); err != nil {
			return err
		}
		if c.held() == before {
			pause(ctx, wait)
			wait = min(2*wait, maxEarly)
			continue
		}
		wait = minEarly
		s.tell() // the others wait for it
	}
	return ctx.Err()
}
