package cache

import (
	"context"

	"starling/internal/fhir"
)

// Static is the store of a deployment whose system resources never change
// while it runs (--cache-sync=off): it refuses to write them, since no other
// instance would hear of it.
func Static(store fhir.Store) fhir.Store { return static{store} }

type static struct{ fhir.Store }

func (s static) Write(ctx context.Context, write *fhir.Write) (fhir.WriteResult, error) {
	if err := refuseSystem(write.Type); err != nil {
		return fhir.WriteResult{}, err
	}
	return s.Store.Write(ctx, write)
}

func (s static) Transact(ctx context.Context, conditions []fhir.Condition, fn func(fhir.Tx) error) error {
	return s.Store.Transact(ctx, conditions, func(tx fhir.Tx) error { return fn(staticTx{tx}) })
}

type staticTx struct{ fhir.Tx }

func (tx staticTx) Apply(ctx context.Context, writes []*fhir.Write) ([]fhir.WriteResult, error) {
	for i, write := range writes {
		if err := refuseSystem(write.Type); err != nil {
			return nil, &fhir.WriteError{Index: i, Err: err}
		}
	}
	return tx.Tx.Apply(ctx, writes)
}

func refuseSystem(t fhir.ResourceType) error {
	if _, system := fhir.DomainOf(t); !system {
		return nil
	}
	failure := fhir.NewError(fhir.KindMethodNotAllowed, fhir.IssueNotSupported,
		string(t)+" cannot be written while the server runs with --cache-sync=off: its instances would not hear of the change")
	failure.Allow = []string{"GET", "HEAD"} // what all addresses of writes serve besides
	return failure
}
