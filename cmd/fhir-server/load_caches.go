package main

import (
	"context"
	"log/slog"
	"sync"

	"starling/internal/cache"
	"starling/internal/fhir"
	"starling/internal/interaction"
	"starling/internal/parameter"
	"starling/internal/postgres"
	"starling/internal/terminology"
	"starling/internal/terminology/remote"
	"starling/internal/validation"
)

// loadCaches are the rules and search parameters that a load goes by. Nothing
// tells it of changes: what it writes carries the versions it was made by, so the
// store refuses what rests on others', and it is made again by those current then.
// It implements interaction.Caches.
type loadCaches struct {
	store      *postgres.Store
	rules      *cache.Cache[*rules]
	routing    *cache.Cache[*parameter.Set]
	parameters *parameter.Indexing
	renewing   sync.Mutex
}

// newLoadCaches reads what is stored. settle and text are as startCaches has them.
func newLoadCaches(ctx context.Context, store *postgres.Store, other *remote.Server, settle func(*validation.Validator) *validation.Validator, text string, logger *slog.Logger) (*loadCaches, error) {
	c := &loadCaches{store: store, rules: cache.New(fhir.DomainValidation, newRules(other, settle, logger))}
	c.routing, c.parameters = newParameters(store, func() *terminology.Terminology { return c.rules.Current().Value.terminology }, text)
	return c, cache.FillOnce(ctx, store, c.rules, c.routing)
}

// service makes a service that goes by what is held.
func (c *loadCaches) service(flags *resourceFlags) (*interaction.Service, error) {
	s, err := newService(fenced{c.store}, c.parameters, flags, maxDocument)
	if err == nil {
		s.Caches = c
	}
	return s, err
}

// basis is the versions of what is held.
func (c *loadCaches) basis() fhir.Basis {
	r, p := c.rules.Current(), c.routing.Current()
	b := fhir.Basis{Lineage: min(r.Lineage, p.Lineage)} // if they differ, one is to be read anew
	b.Versions[fhir.DomainValidation.Number()], b.Versions[fhir.DomainRouting.Number()] = r.Version, p.Version
	return b
}

type basisKey struct{}

// Begin implements interaction.Caches.
func (c *loadCaches) Begin(ctx context.Context, _ string, _ bool) (context.Context, error) {
	return context.WithValue(ctx, basisKey{}, c.basis()), nil
}

// Confirm implements interaction.Caches: a refusal is one by the rules in force.
func (c *loadCaches) Confirm(ctx context.Context) error {
	state, err := c.store.State(ctx)
	if err != nil {
		return err
	}
	if basis, ok := ctx.Value(basisKey{}).(fhir.Basis); ok && basis != c.of(state) {
		return fhir.ErrStale
	}
	return nil
}

// of is the basis that holds at a state.
func (c *loadCaches) of(state fhir.DomainState) fhir.Basis {
	b := fhir.Basis{Lineage: state.Lineage}
	for _, domain := range []fhir.Domain{fhir.DomainValidation, fhir.DomainRouting} {
		b.Versions[domain.Number()] = state.Versions[domain]
	}
	return b
}

// Renew implements interaction.Caches. Many ask at once after a change, and the
// first reads for all.
func (c *loadCaches) Renew(ctx context.Context) error {
	c.renewing.Lock()
	defer c.renewing.Unlock()
	state, err := c.store.State(ctx)
	if err != nil {
		return err
	}
	held, now := c.basis(), c.of(state)
	for _, of := range []cache.Filled{c.rules, c.routing} {
		n := of.Domain().Number()
		if held.Lineage == now.Lineage && held.Versions[n] == now.Versions[n] {
			continue
		}
		if err := cache.FillOnce(ctx, c.store, of); err != nil {
			return err
		}
	}
	return nil
}

// Reached implements interaction.Caches: nobody asks a load.
func (c *loadCaches) Reached(context.Context) string { return "" }

// fenced is the store whose writes say what they rest on.
type fenced struct{ fhir.Store }

func (f fenced) Write(ctx context.Context, write *fhir.Write) (fhir.WriteResult, error) {
	labelWrites(ctx, write)
	return f.Store.Write(ctx, write)
}

func (f fenced) Transact(ctx context.Context, conditions []fhir.Condition, fn func(fhir.Tx) error) error {
	return f.Store.Transact(ctx, conditions, func(tx fhir.Tx) error { return fn(fencedTx{tx}) })
}

type fencedTx struct{ fhir.Tx }

func (tx fencedTx) Apply(ctx context.Context, writes []*fhir.Write) ([]fhir.WriteResult, error) {
	labelWrites(ctx, writes...)
	return tx.Tx.Apply(ctx, writes)
}

func labelWrites(ctx context.Context, writes ...*fhir.Write) {
	basis, _ := ctx.Value(basisKey{}).(fhir.Basis)
	for _, write := range writes {
		write.Basis = basis
	}
}
