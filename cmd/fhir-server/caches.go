package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/netip"
	"os"
	"strconv"
	"time"
	"uuid"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/samber/lo"

	"starling/internal/cache"
	"starling/internal/fhir"
	"starling/internal/interaction"
	"starling/internal/parameter"
	"starling/internal/rest"
	"starling/internal/terminology"
	"starling/internal/terminology/remote"
	"starling/internal/validation"
)

// systemResources is a snapshot's content: the resources of its domain.
type systemResources = map[fhir.Key]*fhir.Resource

// caches are what the instance knows of system resources.
type caches struct {
	synchronizer *cache.Synchronizer // nil with --cache-sync=off
	rules        *cache.Cache[*rules]
	routing      *cache.Cache[*parameter.Set]
	parameters   *parameter.Indexing
	cluster      interaction.Cluster
}

// startCaches fills the caches and keeps them in step as the flags say. text is
// the value of --text-search, member what others are told of this instance.
func (f *cacheFlags) startCaches(ctx context.Context, store *database, other *remote.Server, settle func(*validation.Validator) *validation.Validator, text string, member fhir.Member, logger *slog.Logger, registerer prometheus.Registerer) (*caches, error) {
	c := &caches{rules: cache.New(fhir.DomainValidation, newRules(other, settle, logger))}
	c.routing, c.parameters = newParameters(store, searchedCodes(func() *terminology.Terminology { return c.rules.Current().Value.terminology }), text)
	all := []cache.Filled{c.rules, c.routing, cache.New(fhir.DomainSubscriptions, byKey)}
	if err := cache.Register(registerer, all...); err != nil {
		return nil, err
	}
	member.ID, member.Name, member.Mode, member.Lease = uuid.NewV7().String(), memberName(), f.CacheSync, f.CacheLease
	if f.CacheSync == "off" {
		if err := store.Join(ctx, &member); err != nil { // asks only: it holds no lease
			return nil, err
		}
		member.Started = time.Now()
		alone := &cache.Alone{Store: store, Member: member, Caches: all}
		c.cluster = alone
		return c, errors.Join(alone.Register(registerer), cache.FillOnce(ctx, store, all...))
	}
	config := cache.Config{Store: store, Member: member, Logger: logger}
	interval := defaultPollInterval
	if f.CachePollInterval != nil {
		interval = *f.CachePollInterval
	}
	poll := cache.NewPoll(store, interval, f.CacheLease)
	switch f.CacheSync {
	case "notify":
		config.Transport, config.Fallback = store.Notify(), poll
	case "poll":
		config.Transport = poll
	case "logical":
		config.Transport, config.Fallback = store.Logical(), poll
	}
	var err error
	if c.synchronizer, err = cache.Start(ctx, config, all...); err != nil {
		return nil, err
	}
	c.cluster = c.synchronizer
	return c, c.synchronizer.Register(registerer)
}

// revision changes with what the CapabilityStatement says of search parameters and
// profiles.
func (c *caches) revision() string {
	rules := c.rules.Current()
	return c.parameters.Revision() + " " + rules.Lineage + "." + strconv.FormatInt(rules.Version, 10)
}

// memberName is what people know the instance by.
func memberName() string {
	host, err := os.Hostname()
	if err != nil {
		host = "unknown"
	}
	return host + ":" + strconv.Itoa(os.Getpid())
}

// advertised is the address of the API as other machines may know it: where it
// is every address of this one, its host name stands for them.
func advertised(address net.Addr) string {
	host, port, err := net.SplitHostPort(address.String())
	if err != nil {
		return address.String()
	}
	if ip, err := netip.ParseAddr(host); err == nil && ip.IsUnspecified() {
		if name, err := os.Hostname(); err == nil {
			host = name
		}
	}
	return "http://" + net.JoinHostPort(host, port) + rest.BasePath
}

// guard refuses writes that no instance would hear of. Of the others this one
// has heard when they are answered.
func (c *caches) guard(store fhir.Store) fhir.Store {
	if c.synchronizer == nil {
		return cache.Static(store)
	}
	return c.synchronizer.Follow(store)
}

func byKey(resources []*fhir.Resource) systemResources {
	return lo.KeyBy(resources, func(r *fhir.Resource) fhir.Key { return r.Key })
}

// remoteRest is how long a terminology server that did not answer is not asked.
const remoteRest = 10 * time.Second

// remote is the other terminology server, nil if none is set.
func (f *terminologyFlags) remote(logger *slog.Logger, registerer prometheus.Registerer) (*remote.Server, error) {
	if f.TerminologyURL == "" {
		return nil, nil
	}
	server, err := remote.New(remote.Config{
		URL: f.TerminologyURL, Timeout: f.TerminologyTimeout, Rest: remoteRest, Logger: logger, Registerer: registerer,
	})
	if err != nil {
		return nil, fmt.Errorf("--terminology-url: %w", err)
	}
	return server, nil
}

// close ends the listening.
func (c *caches) close() {
	if c.synchronizer != nil {
		c.synchronizer.Close()
	}
}
