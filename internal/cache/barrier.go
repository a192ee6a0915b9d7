package cache

import (
	"context"
	"time"

	"starling/internal/fhir"
)

// How often the members are looked at while they are waited for.
const (
	minLook = time.Millisecond
	maxLook = 20 * time.Millisecond
)

// await returns when every live member has applied what is committed now, or
// when a lease has passed: by then none serves anything older. Members are read
// after the commit, so one that registers later reads the change itself.
func (s *Synchronizer) await(ctx context.Context) {
	begun := s.clock()
	waiting, cancel := context.WithTimeout(context.WithoutCancel(ctx), s.lease)
	defer cancel()
	u := useOf(ctx)
	state, err := s.store.State(waiting)
	if err != nil {
		s.logger.Warn("a change of system resources is committed, but not known to be applied", "error", err)
		pause(waiting, s.lease)
		return
	}
	u.reach(versionOf(state).String())
	for i, domain := range fhir.Domains() { // a later release may have more
		s.caches[i].learn(state.Lineage, state.Versions[domain])
	}
	if u != nil && u.async || s.without.barrier {
		return
	}
	s.metrics.barriers.Add(1)
	look := minLook
	for !s.applies(waiting, state) && waiting.Err() == nil {
		pause(waiting, look)
		look = min(2*look, maxLook)
	}
	if waiting.Err() != nil {
		s.metrics.barrierTimeouts.Add(1)
	}
	s.metrics.barrierWait.Add(int64(s.clock() - begun))
}

// applies reports whether all live members have applied the versions.
func (s *Synchronizer) applies(ctx context.Context, state fhir.DomainState) bool {
	for i, domain := range fhir.Domains() {
		if !s.caches[i].held().covers(state.Lineage, state.Versions[domain]) {
			return false // this instance is one of them
		}
	}
	members, err := s.store.Members(ctx)
	if err != nil {
		return false
	}
	for _, m := range members {
		if !m.Live || m.ID == s.member.ID {
			continue
		}
		if m.Applied.Lineage < state.Lineage {
			return false
		}
		for _, domain := range fhir.Domains() {
			if m.Applied.Lineage == state.Lineage && m.Applied.Versions[domain] < state.Versions[domain] {
				return false
			}
		}
	}
	return true
}
