package cache

import (
	"context"
	"time"

	"starling/internal/fhir"
)

// Follow is the store of an instance that has heard of its own changes of
// system resources when they are answered: whoever made one finds it in effect
// with the next request to the same instance.
func (s *Synchronizer) Follow(store fhir.Store) fhir.Store { return following{store, s} }

type following struct {
	fhir.Store
	synchronizer *Synchronizer
}

func (f following) Write(ctx context.Context, write *fhir.Write) (fhir.WriteResult, error) {
	result, err := f.Store.Write(ctx, write)
	if _, system := fhir.DomainOf(write.Type); system && err == nil {
		f.synchronizer.catchUp(ctx)
	}
	return result, err
}

func (f following) Transact(ctx context.Context, conditions []fhir.Condition, fn func(fhir.Tx) error) error {
	system := false
	err := f.Store.Transact(ctx, conditions, func(tx fhir.Tx) error { return fn(followingTx{tx, &system}) })
	if system && err == nil {
		f.synchronizer.catchUp(ctx)
	}
	return err
}

// followingTx notes whether system resources are written.
type followingTx struct {
	fhir.Tx
	system *bool
}

func (tx followingTx) Apply(ctx context.Context, writes []*fhir.Write) ([]fhir.WriteResult, error) {
	for _, write := range writes {
		if _, system := fhir.DomainOf(write.Type); system {
			*tx.system = true
		}
	}
	return tx.Tx.Apply(ctx, writes)
}

// How long an answer waits for the caches at most, and how often it looks: the
// change is committed whatever becomes of them.
const (
	catchUpWithin = 2 * time.Second
	catchUpLook   = time.Millisecond
)

// catchUp waits until the caches hold what is committed now.
func (s *Synchronizer) catchUp(ctx context.Context) {
	ctx, cancel := context.WithTimeout(ctx, catchUpWithin)
	defer cancel()
	versions, err := s.store.Versions(ctx)
	if err != nil {
		return // the notification will come, or the listener begin anew
	}
	s.learn(versions)
	for _, c := range s.caches {
		for c.Status().Version < versions[c.Domain()] && ctx.Err() == nil {
			pause(ctx, catchUpLook)
		}
	}
}
