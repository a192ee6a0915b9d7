package cache

import (
	"context"
	"log/slog"
	"sync"
	"time"

	"starling/internal/fhir"
)

const (
	retryFill    = 200 * time.Millisecond
	minReconnect = 50 * time.Millisecond
	maxReconnect = 2 * time.Second
)

// Filled is a Cache, whatever it holds.
type Filled interface {
	Domain() fhir.Domain
	Status() Status
	learn(version int64)
	fill(ctx context.Context, store fhir.DomainStore) error
	keep(ctx context.Context, store fhir.DomainStore, failed func(error))
}

// Synchronizer keeps caches in step with a store.
type Synchronizer struct {
	store  fhir.DomainStore
	caches []Filled
	logger *slog.Logger
	stop   context.CancelFunc
	done   sync.WaitGroup
}

// Start fills every cache and keeps them in step until Close. When it returns
// they are filled, and changes committed from then on are heard of: the store
// listens before it is read.
func Start(ctx context.Context, store fhir.DomainStore, logger *slog.Logger, caches ...Filled) (*Synchronizer, error) {
	running, stop := context.WithCancel(context.WithoutCancel(ctx))
	s := &Synchronizer{store: store, caches: caches, logger: logger, stop: stop}
	ready := make(chan struct{})
	s.done.Go(func() { s.listen(running, sync.OnceFunc(func() { close(ready) })) })
	select {
	case <-ready:
	case <-ctx.Done():
		s.Close()
		return nil, ctx.Err()
	}
	if err := FillOnce(ctx, store, caches...); err != nil {
		s.Close()
		return nil, err
	}
	for _, c := range caches {
		s.done.Go(func() { c.keep(running, store, s.failed) })
	}
	return s, nil
}

// FillOnce fills the caches without keeping them in step: all that a
// deployment with --cache-sync=off does.
func FillOnce(ctx context.Context, store fhir.DomainStore, caches ...Filled) error {
	for _, c := range caches {
		if err := c.fill(ctx, store); err != nil {
			return err
		}
	}
	return nil
}

// Close stops the listener and the fillers and waits for them.
func (s *Synchronizer) Close() {
	s.stop()
	s.done.Wait()
}

// listen holds a listening connection, and reads the versions anew each time
// one is made: what changed while there was none was not heard.
func (s *Synchronizer) listen(ctx context.Context, ready func()) {
	wait := minReconnect
	for ctx.Err() == nil {
		err := s.store.Listen(ctx, func() error {
			versions, err := s.store.Versions(ctx)
			if err != nil {
				return err
			}
			s.learn(versions)
			wait = minReconnect
			ready()
			return nil
		}, s.learn)
		if ctx.Err() != nil {
			return
		}
		s.logger.Warn("cache listener lost; reconnecting", "error", err, "wait", wait)
		pause(ctx, wait)
		wait = min(2*wait, maxReconnect)
	}
}

func (s *Synchronizer) learn(versions fhir.DomainVersions) {
	for _, c := range s.caches {
		c.learn(versions[c.Domain()])
	}
}

func (s *Synchronizer) failed(err error) {
	s.logger.Warn("cache not refreshed; trying again", "error", err)
}

func pause(ctx context.Context, d time.Duration) {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-ctx.Done():
	case <-timer.C:
	}
}
