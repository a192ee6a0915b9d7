package cache

import (
	"context"
	"time"

	"starling/internal/fhir"
)

// use is what one request rests on. It stands in its context.
type use struct {
	held    [3]*label
	async   bool   // not to wait for the others
	reached string // the version its changes have made
	outer   *use   // of the Bundle it is an entry of
}

type useKey struct{}

func useOf(ctx context.Context) *use {
	u, _ := ctx.Value(useKey{}).(*use)
	return u
}

// basis is the versions that a write under this use rests on.
func (u *use) basis() fhir.Basis {
	b := fhir.Basis{Lineage: u.held[0].Lineage}
	for i, l := range u.held {
		b.Versions[i] = l.Version
	}
	return b
}

// reach notes what the changes of a request have made.
func (u *use) reach(version string) {
	for ; u != nil; u = u.outer {
		u.reached = version
	}
}

// valid reports whether snapshots may be used now: each proved current within
// the lease.
func (s *Synchronizer) valid(held *[3]*label, now time.Duration) bool {
	if s.without.lease {
		return true
	}
	for _, l := range held {
		if l == nil || l.Lineage != held[0].Lineage || now >= time.Duration(l.proved.Load())+s.lease {
			return false
		}
	}
	return true
}

func (s *Synchronizer) holds() (held [3]*label) {
	for i, c := range s.caches {
		held[i] = c.held()
	}
	return held
}

// Begin implements interaction.Caches.
func (s *Synchronizer) Begin(ctx context.Context, wanted string, async bool) (context.Context, error) {
	u := &use{held: s.holds(), async: async, outer: useOf(ctx)}
	if u.outer != nil {
		u.async = u.async || u.outer.async
	}
	want, err := parseVersion(wanted)
	if err != nil {
		return nil, err
	}
	if !s.valid(&u.held, s.clock()) || !want.in(&u.held) {
		s.metrics.expired.Add(1)
		if err := s.Renew(ctx); err != nil {
			return nil, err
		}
		if u.held = s.holds(); !s.valid(&u.held, s.clock()) {
			return nil, unavailable(nil)
		}
		if !want.in(&u.held) {
			return nil, lost()
		}
	}
	if want.before(&u.held) {
		began, err := s.beginnings.of(ctx, u.held[0].Lineage, s.store)
		if err != nil {
			return nil, unavailable(err)
		}
		if !want.kept(began) {
			return nil, lost()
		}
	}
	return context.WithValue(ctx, useKey{}, u), nil
}

func lost() *fhir.Error {
	return fhir.NewError(fhir.KindPreconditionFailed, fhir.IssueConflict,
		VersionHeader+" names a version that the database does not have: it was restored, or lost it in a failover")
}

// Confirm implements interaction.Caches.
func (s *Synchronizer) Confirm(ctx context.Context) error {
	if u := useOf(ctx); u != nil && !s.valid(&u.held, s.clock()) {
		s.metrics.stale.Add(1)
		return fhir.ErrStale
	}
	return nil
}

// Reached implements interaction.Caches.
func (s *Synchronizer) Reached(ctx context.Context) string { return useOf(ctx).reached }

// Renew implements interaction.Caches.
func (s *Synchronizer) Renew(ctx context.Context) error {
	if err := s.fresh.read(ctx, s.renew); err != nil {
		return unavailable(err)
	}
	return nil
}

// renewWithin bounds one shared reading.
const renewWithin = 10 * time.Second

func (s *Synchronizer) renew() error {
	ctx, cancel := context.WithTimeout(context.Background(), renewWithin)
	defer cancel()
	if err := s.Probe(ctx); err != nil {
		return err
	}
	for _, c := range s.caches {
		if err := c.catchUp(ctx, s); err != nil {
			return err
		}
	}
	return nil
}

func unavailable(cause error) *fhir.Error {
	return fhir.NewError(fhir.KindUnavailable, fhir.IssueTransient,
		"what this instance knows of profiles, search parameters and subscriptions may be out of date, and the database cannot be asked; try again").Because(cause)
}

// Ready reports whether requests can be answered without asking the database
// for versions first.
func (s *Synchronizer) Ready(context.Context) error {
	if held := s.holds(); !s.valid(&held, s.clock()) {
		return unavailable(nil)
	}
	return nil
}
