package main

import (
	"context"
	"fmt"
	"log/slog"
	"sync/atomic"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/samber/lo"

	"starling/internal/cache"
	"starling/internal/fhir"
	"starling/internal/fhir/definition"
	"starling/internal/terminology"
)

// systemResources is a snapshot's content: the resources of its domain.
type systemResources = map[fhir.Key]*fhir.Resource

// caches are what the instance knows of system resources.
type caches struct {
	synchronizer *cache.Synchronizer // nil with --cache-sync=off
	terminology  *cache.Cache[*terminology.Terminology]
}

// startCaches fills the caches and keeps them in step as the flags say.
func (f *cacheFlags) startCaches(ctx context.Context, store fhir.DomainStore, logger *slog.Logger, registerer prometheus.Registerer) (*caches, error) {
	c := &caches{terminology: cache.New(fhir.DomainValidation, newTerminology(nil))}
	all := []cache.Filled{c.terminology, cache.New(fhir.DomainRouting, byKey), cache.New(fhir.DomainSubscriptions, byKey)}
	if err := cache.Register(registerer, all...); err != nil {
		return nil, err
	}
	switch f.CacheSync {
	case "notify":
		var err error
		c.synchronizer, err = cache.Start(ctx, store, logger, all...)
		return c, err
	case "off":
		return c, cache.FillOnce(ctx, store, all...)
	}
	return nil, fmt.Errorf("--cache-sync=%s is not available in this version; use notify or off", f.CacheSync)
}

// guard refuses writes that no instance would hear of. Of the others this one
// has heard when they are answered.
func (c *caches) guard(store fhir.Store) fhir.Store {
	if c.synchronizer == nil {
		return cache.Static(store)
	}
	return c.synchronizer.Follow(store)
}

// newTerminology makes the builder of the snapshots of terminology. It is
// called by one fill after another.
func newTerminology(remote terminology.Remote) func([]*fhir.Resource) *terminology.Terminology {
	specification := terminology.NewSpecification(definition.R4())
	var last atomic.Pointer[terminology.Terminology]
	return func(resources []*fhir.Resource) *terminology.Terminology {
		next := terminology.New(specification, resources, last.Load(), remote)
		last.Store(next)
		return next
	}
}

func byKey(resources []*fhir.Resource) systemResources {
	return lo.KeyBy(resources, func(r *fhir.Resource) fhir.Key { return r.Key })
}

// close ends the listening.
func (c *caches) close() {
	if c.synchronizer != nil {
		c.synchronizer.Close()
	}
}
