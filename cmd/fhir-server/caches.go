package main

import (
	"context"
	"fmt"
	"log/slog"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/samber/lo"

	"starling/internal/cache"
	"starling/internal/fhir"
)

// systemResources is a snapshot's content: the resources of its domain.
type systemResources = map[fhir.Key]*fhir.Resource

// caches are what the instance knows of system resources.
type caches struct {
	synchronizer *cache.Synchronizer // nil with --cache-sync=off
}

// startCaches fills the caches and keeps them in step as the flags say.
func (f *cacheFlags) startCaches(ctx context.Context, store fhir.DomainStore, logger *slog.Logger, registerer prometheus.Registerer) (*caches, error) {
	all := lo.Map(fhir.Domains(), func(domain fhir.Domain, _ int) cache.Filled {
		return cache.New(domain, byKey)
	})
	if err := cache.Register(registerer, all...); err != nil {
		return nil, err
	}
	switch f.CacheSync {
	case "notify":
		synchronizer, err := cache.Start(ctx, store, logger, all...)
		return &caches{synchronizer}, err
	case "off":
		return &caches{}, cache.FillOnce(ctx, store, all...)
	}
	return nil, fmt.Errorf("--cache-sync=%s is not available in this version; use notify or off", f.CacheSync)
}

// guard refuses writes that no instance would hear of.
func (f *cacheFlags) guard(store fhir.Store) fhir.Store {
	if f.CacheSync == "off" {
		return cache.Static(store)
	}
	return store
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
