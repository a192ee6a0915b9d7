package cache

import (
	"context"
	"errors"
	"math"
	"sync"
	"time"

	"starling/internal/fhir"
)

const (
	minReconnect = 50 * time.Millisecond
	maxReconnect = 2 * time.Second
	// retest is how long a transport that cannot work is left alone.
	retest = time.Minute
	// moment is how long a transport may take to connect before the fallback is
	// held: an instance that starts waits no longer for it.
	moment = time.Second
)

// listen holds the transport, and while it does not work, the fallback. ready is
// called when one of them has connected for the first time.
func (s *Synchronizer) listen(ctx context.Context, ready func()) {
	wait, said := minReconnect, ""
	for ctx.Err() == nil {
		err := s.try(ctx, ready, func() {
			if said != "" {
				s.logger.Info("cache transport works", "transport", s.transport.Name())
			}
			wait, said = minReconnect, ""
			ready()
		})
		if ctx.Err() != nil {
			return
		}
		level := s.logger.Warn
		if err.Error() == said {
			level = s.logger.Debug
		}
		said = err.Error()
		if errors.Is(err, fhir.ErrUnheard) {
			level("cache transport cannot work here", "transport", s.transport.Name(), "instead", s.instead(), "reason", err, "again", retest)
			s.meanwhile(ctx, retest, ready)
			continue
		}
		level("cache transport lost; connecting again", "transport", s.transport.Name(), "instead", s.instead(), "error", err, "wait", wait)
		s.meanwhile(ctx, wait, ready)
		wait = min(2*wait, maxReconnect)
	}
}

func (s *Synchronizer) instead() string {
	if s.fallback == nil {
		return "none"
	}
	return s.fallback.Name()
}

// try holds the transport; until it has connected, if that takes longer than a
// moment, the fallback, which calls ready.
func (s *Synchronizer) try(ctx context.Context, ready, connected func()) error {
	waiting, end := context.WithCancel(ctx)
	var interim sync.WaitGroup
	instead := func() {
		end()
		interim.Wait()
	}
	defer instead()
	if s.fallback != nil {
		interim.Go(func() {
			pause(waiting, moment)
			s.meanwhile(waiting, math.MaxInt64, ready)
		})
	}
	holding, deaf := context.WithCancelCause(ctx)
	defer deaf(nil)
	err := s.hold(holding, s.transport, func() {
		instead()
		if _, skips := s.transport.(Poll); !skips {
			s.ears.begin(deaf)
		}
	}, connected)
	s.ears.begin(nil)
	if cause := context.Cause(holding); errors.Is(cause, errDeaf) {
		return cause
	}
	return err
}

// meanwhile holds the fallback for a time.
func (s *Synchronizer) meanwhile(ctx context.Context, d time.Duration, ready func()) {
	ctx, cancel := context.WithTimeout(ctx, d)
	defer cancel()
	for s.fallback != nil && ctx.Err() == nil {
		if err := s.hold(ctx, s.fallback, func() {}, ready); ctx.Err() == nil {
			s.logger.Debug("versions not read; trying again", "error", err)
		}
		pause(ctx, retryFill)
	}
	pause(ctx, d)
}

// hold listens until the transport is lost. When it has connected the versions
// are read anew: what changed while it had not was not heard. The first time
// that is left to Start, which registers first. before is called when it has
// connected, connected when the versions have been read, too.
func (s *Synchronizer) hold(ctx context.Context, t Transport, before, connected func()) error {
	heard := s.hear
	if _, skips := t.(Poll); skips {
		heard = s.find
	}
	return t.Listen(ctx, func() error {
		before()
		if s.connected.Swap(true) {
			if err := s.reconnect(ctx); err != nil {
				return err
			}
		}
		s.using.Store(t.Name())
		connected()
		return nil
	}, heard)
}

func (s *Synchronizer) reconnect(ctx context.Context) error {
	s.metrics.reconnects.Add(1)
	select {
	case <-s.joined:
	case <-ctx.Done():
		return ctx.Err()
	}
	return s.Probe(ctx)
}

// Using is the name of the transport in use: the one that was asked for, or its
// fallback; empty before any has connected.
func (s *Synchronizer) Using() string {
	name, _ := s.using.Load().(string)
	return name
}

// hear takes up what a transport tells that tells of every version.
func (s *Synchronizer) hear(versions fhir.DomainVersions) {
	s.metrics.heard.Add(1)
	s.ears.hear(versions)
	for domain, version := range versions {
		if i := domain.Number(); i >= 0 {
			s.caches[i].hear(version)
		}
	}
}

// find takes up what one tells that tells of the last version alone.
func (s *Synchronizer) find(versions fhir.DomainVersions) {
	for domain, version := range versions {
		if i := domain.Number(); i >= 0 {
			s.caches[i].learn("", version)
		}
	}
}
