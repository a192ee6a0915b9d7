package cache

import (
	"context"
	"fmt"
	"sync/atomic"

	"starling/internal/fhir"
)

// Snapshot is what a domain looked like at a version. It is immutable.
type Snapshot[T any] struct {
	Version   int64
	Resources int // that it was built from
	Value     T
}

// Cache holds the newest snapshot of one domain.
type Cache[T any] struct {
	domain  fhir.Domain
	build   func([]*fhir.Resource) T
	current atomic.Pointer[Snapshot[T]]
	// known is the newest version heard of, from whatever source. A snapshot
	// below it is being replaced.
	known atomic.Int64
	wake  chan struct{}
}

// New makes a cache whose snapshots build derives from a domain's resources.
// It holds nothing until its first fill; give it to Start or FillOnce.
func New[T any](domain fhir.Domain, build func([]*fhir.Resource) T) *Cache[T] {
	return &Cache[T]{domain: domain, build: build, wake: make(chan struct{}, 1)}
}

// Current is the newest snapshot; nil before the first fill.
func (c *Cache[T]) Current() *Snapshot[T] { return c.current.Load() }

// Domain says which domain this is.
func (c *Cache[T]) Domain() fhir.Domain { return c.domain }

// Status is the state of one cache, for people and metrics.
type Status struct {
	Domain    fhir.Domain
	Version   int64 // of the snapshot served
	Known     int64 // newest version heard of
	Resources int   // in the snapshot
}

// Status says how far the cache is.
func (c *Cache[T]) Status() Status {
	status := Status{Domain: c.domain, Known: c.known.Load()}
	if s := c.current.Load(); s != nil {
		status.Version, status.Resources = s.Version, s.Resources
	}
	return status
}

// learn notes that a version exists and wakes the filler if the snapshot is
// older. A version that is no news is ignored.
func (c *Cache[T]) learn(version int64) {
	for known := c.known.Load(); version > known; known = c.known.Load() {
		if c.known.CompareAndSwap(known, version) {
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
	s := c.current.Load()
	return s == nil || s.Version < c.known.Load()
}

// fill reads the domain and stores the snapshot unless a newer one is held, so
// a late fill never undoes an invalidation.
func (c *Cache[T]) fill(ctx context.Context, store fhir.DomainStore) error {
	version, resources, err := store.Load(ctx, c.domain)
	if err != nil {
		return fmt.Errorf("fill %s: %w", c.domain, err)
	}
	next := &Snapshot[T]{Version: version, Resources: len(resources), Value: c.build(resources)}
	for held := c.current.Load(); held == nil || held.Version < version; held = c.current.Load() {
		if c.current.CompareAndSwap(held, next) {
			break
		}
	}
	c.learn(version)
	return nil
}

// keep refills the cache whenever it is behind what is known, until ctx ends.
// A storm of changes is answered by one fill after another, each of them
// stored.
func (c *Cache[T]) keep(ctx context.Context, store fhir.DomainStore, failed func(error)) {
	for {
		select {
		case <-ctx.Done():
			return
		case <-c.wake:
		}
		for c.behind() && ctx.Err() == nil {
			if err := c.fill(ctx, store); err != nil && ctx.Err() == nil {
				failed(err)
				pause(ctx, retryFill)
			}
		}
	}
}
