package cache

import (
	"context"
	"maps"
	"time"

	"starling/internal/fhir"
)

// Poll is the transport `poll`: it reads the versions again and again. It needs
// nothing of the connections, so it works through any pooler, and it is what an
// instance does while another transport does not work.
type Poll struct {
	Store    fhir.MemberStore
	Interval time.Duration
}

// NewPoll makes a Poll. An interval over a quarter of the lease is taken for
// that: as often are the versions read in any case.
func NewPoll(store fhir.MemberStore, interval, lease time.Duration) Poll {
	return Poll{Store: store, Interval: min(interval, lease/Beats)}
}

// pollPatience is how long a reading may take before its connection counts as lost.
const pollPatience = 2 * time.Second

// Name implements Transport.
func (Poll) Name() string { return "poll" }

// Listen implements Transport. What changed between two readings is told at once.
func (p Poll) Listen(ctx context.Context, ready func() error, heard func(fhir.DomainVersions)) error {
	last, err := p.read(ctx)
	if err != nil {
		return err
	}
	if err := ready(); err != nil {
		return err
	}
	ticker := time.NewTicker(p.Interval)
	defer ticker.Stop()
	for {
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-ticker.C:
		}
		next, err := p.read(ctx)
		if err != nil {
			return err
		}
		if !maps.Equal(next.Versions, last.Versions) || next.Lineage != last.Lineage {
			heard(next.Versions)
		}
		last = next
	}
}

func (p Poll) read(ctx context.Context) (fhir.DomainState, error) {
	reading, cancel := context.WithTimeout(ctx, pollPatience)
	defer cancel()
	return p.Store.State(reading)
}
