package parameter

import (
	"context"
	"errors"

	"starling/internal/fhir"
)

// maxRenewals bounds how often a write is indexed anew: once for each change of the
// search parameters that comes in between.
const maxRenewals = 8

// Guard is the store of a program whose caches nothing keeps in step. Its writes
// are indexed by the search parameters that are current when they are committed.
func (x *Indexing) Guard(store fhir.Store) fhir.Store { return guarded{store, x} }

type guarded struct {
	fhir.Store
	indexing *Indexing
}

func (g guarded) Write(ctx context.Context, write *fhir.Write) (fhir.WriteResult, error) {
	for renewals := 0; ; renewals++ {
		label(write)
		result, err := g.Store.Write(ctx, write)
		if !errors.Is(err, fhir.ErrStale) || renewals == maxRenewals {
			return result, err
		}
		if write.Index == nil || g.indexing.renew(ctx, write.Index.Basis) != nil {
			return result, err
		}
		if write, err = g.indexing.again(write); err != nil {
			return fhir.WriteResult{}, err
		}
	}
}

// Transact indexes the writes anew as Write does. With conditions, which the old
// parameters were used for, too, the request has to be made again.
func (g guarded) Transact(ctx context.Context, conditions []fhir.Condition, fn func(fhir.Tx) error) error {
	for renewals := 0; ; renewals++ {
		basis, _ := g.indexing.Current()
		err := g.Store.Transact(ctx, conditions, func(tx fhir.Tx) error {
			return fn(guardedTx{tx, g.indexing, renewals > 0})
		})
		if !errors.Is(err, fhir.ErrStale) || renewals == maxRenewals {
			return err
		}
		if g.indexing.renew(ctx, basis) != nil || len(conditions) > 0 {
			return err
		}
	}
}

// label says what a write rests on.
func label(write *fhir.Write) {
	if write.Index != nil {
		write.Basis = write.Index.Basis
	}
}

// guardedTx labels what is written, and indexes it anew if told to.
type guardedTx struct {
	fhir.Tx
	indexing *Indexing
	renewing bool
}

func (r guardedTx) Apply(ctx context.Context, writes []*fhir.Write) ([]fhir.WriteResult, error) {
	writes, err := r.prepare(writes)
	if err != nil {
		return nil, err
	}
	return r.Tx.Apply(ctx, writes)
}

func (r guardedTx) Amend(ctx context.Context, writes []*fhir.Write) error {
	writes, err := r.prepare(writes)
	if err != nil {
		return err
	}
	return r.Tx.Amend(ctx, writes)
}

func (r guardedTx) prepare(writes []*fhir.Write) ([]*fhir.Write, error) {
	next := make([]*fhir.Write, len(writes))
	for i, write := range writes {
		next[i] = write
		if r.renewing {
			var err error
			if next[i], err = r.indexing.again(write); err != nil {
				return nil, err
			}
		}
		label(next[i])
	}
	return next, nil
}
