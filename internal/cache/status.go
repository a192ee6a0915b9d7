package cache

import (
	"context"
	"time"

	"starling/internal/fhir"
)

// Cluster says how far every instance is. What others say of themselves is as
// old as their last heartbeat; of this one it is what holds now.
func (s *Synchronizer) Cluster(ctx context.Context) (*fhir.Cluster, error) {
	cluster, err := clusterOf(ctx, s.store, s.member.ID)
	if err != nil {
		return nil, err
	}
	for _, m := range cluster.Members {
		if m.ID == s.member.ID {
			m.Transport, m.Applied, m.LeaseAge = s.Using(), appliedBy(s.caches), s.leaseAge()
		}
	}
	return cluster, nil
}

// Alone says how far an instance with --cache-sync=off is. It is no member, so
// it adds itself to those there are.
type Alone struct {
	Store  fhir.MemberStore
	Member fhir.Member
	Caches []Filled
}

// Cluster says how far the instance is.
func (a *Alone) Cluster(ctx context.Context) (*fhir.Cluster, error) {
	cluster, err := clusterOf(ctx, a.Store, a.Member.ID)
	if err != nil {
		return nil, err
	}
	self := a.Member
	self.Transport, self.Applied = self.Mode, appliedBy(a.Caches)
	self.Live, self.LeaseAge = true, -time.Second // it holds none
	cluster.Members = append(cluster.Members, &self)
	return cluster, nil
}

func clusterOf(ctx context.Context, store fhir.MemberStore, self string) (*fhir.Cluster, error) {
	state, err := store.State(ctx)
	if err != nil {
		return nil, away(err)
	}
	members, err := store.Members(ctx)
	if err != nil {
		return nil, away(err)
	}
	return &fhir.Cluster{State: state, Members: members, Self: self}, nil
}

func away(cause error) error {
	return fhir.NewError(fhir.KindUnavailable, fhir.IssueTransient, "The database, where the instances know each other from, does not answer.").Because(cause)
}
