package cache

import (
	"context"

	"starling/internal/fhir"
)

// Follow is the store of an instance that keeps caches. What it writes carries
// the versions it was made by, which the store checks when it commits; and who
// has changed system resources waits until all instances have applied it.
func (s *Synchronizer) Follow(store fhir.Store) fhir.Store { return following{store, s} }

type following struct {
	fhir.Store
	synchronizer *Synchronizer
}

func (f following) Write(ctx context.Context, write *fhir.Write) (fhir.WriteResult, error) {
	f.synchronizer.label(ctx, write)
	result, err := f.Store.Write(ctx, write)
	if _, system := fhir.DomainOf(write.Type); system && err == nil && !result.NoChange {
		f.synchronizer.await(ctx)
	}
	return result, err
}

func (f following) Transact(ctx context.Context, conditions []fhir.Condition, fn func(fhir.Tx) error) error {
	system := false
	err := f.Store.Transact(ctx, conditions, func(tx fhir.Tx) error { return fn(followingTx{tx, f.synchronizer, &system}) })
	if system && err == nil {
		f.synchronizer.await(ctx)
	}
	return err
}

// followingTx notes whether system resources are written.
type followingTx struct {
	fhir.Tx
	synchronizer *Synchronizer
	system       *bool
}

func (tx followingTx) Apply(ctx context.Context, writes []*fhir.Write) ([]fhir.WriteResult, error) {
	for _, write := range writes {
		tx.synchronizer.label(ctx, write)
		if _, system := fhir.DomainOf(write.Type); system {
			*tx.system = true
		}
	}
	return tx.Tx.Apply(ctx, writes)
}

// label says what a write rests on.
func (s *Synchronizer) label(ctx context.Context, write *fhir.Write) {
	if u := useOf(ctx); u != nil && !s.without.writeFence {
		write.Basis = u.basis()
	}
}
