package cache

import (
	"sync/atomic"
	"time"

	"github.com/prometheus/client_golang/prometheus"
)

// Register publishes the state of the caches, each by domain:
// starling_cache_version (of the snapshot served), starling_cache_known_version
// (newest heard of; their difference is the lag), starling_cache_resources,
// starling_cache_fills_total, starling_cache_fill_seconds_total,
// starling_cache_last_fill_seconds and starling_cache_gaps_total.
func Register(registerer prometheus.Registerer, caches ...Filled) error {
	for _, c := range caches {
		labels := prometheus.Labels{"domain": string(c.Domain())}
		gauges := map[string]struct {
			help  string
			value func(Status) float64
		}{
			"starling_cache_version":           {"Version of the snapshot served.", func(s Status) float64 { return float64(s.Version) }},
			"starling_cache_known_version":     {"Newest version heard of.", func(s Status) float64 { return float64(s.Known) }},
			"starling_cache_resources":         {"Resources the snapshot was built from.", func(s Status) float64 { return float64(s.Resources) }},
			"starling_cache_last_fill_seconds": {"Time the last rebuild took.", func(s Status) float64 { return s.LastFill.Seconds() }},
		}
		counters := map[string]struct {
			help  string
			value func(Status) float64
		}{
			"starling_cache_fills_total":        {"Rebuilds.", func(s Status) float64 { return float64(s.Fills) }},
			"starling_cache_fill_seconds_total": {"Time spent in rebuilds.", func(s Status) float64 { return s.Filling.Seconds() }},
			"starling_cache_gaps_total":         {"Notifications that came after one was lost.", func(s Status) float64 { return float64(s.Gaps) }},
		}
		for name, m := range gauges {
			gauge := prometheus.NewGaugeFunc(prometheus.GaugeOpts{Name: name, Help: m.help, ConstLabels: labels}, func() float64 { return m.value(c.Status()) })
			if err := registerer.Register(gauge); err != nil {
				return err
			}
		}
		for name, m := range counters {
			counter := prometheus.NewCounterFunc(prometheus.CounterOpts{Name: name, Help: m.help, ConstLabels: labels}, func() float64 { return m.value(c.Status()) })
			if err := registerer.Register(counter); err != nil {
				return err
			}
		}
	}
	return nil
}

// Register publishes how the instance keeps in step: the transport in use, the
// age of the lease, and what it has heard, read and waited for.
func (s *Synchronizer) Register(registerer prometheus.Registerer) error {
	all := []prometheus.Collector{
		s.transportGauge(s.transport),
		prometheus.NewGaugeFunc(prometheus.GaugeOpts{Name: "starling_cache_lease_seconds", Help: "The lease of the cluster."}, s.lease.Seconds),
		prometheus.NewGaugeFunc(prometheus.GaugeOpts{
			Name: "starling_cache_lease_age_seconds", Help: "Time since the oldest snapshot served was last proved current.",
		}, func() float64 { return s.leaseAge().Seconds() }),
		prometheus.NewGaugeFunc(prometheus.GaugeOpts{
			Name: "starling_cache_lease_valid", Help: "1 while requests are answered without asking the database for versions first.",
		}, func() float64 {
			if held := s.holds(); s.valid(&held, s.clock()) {
				return 1
			}
			return 0
		}),
		prometheus.NewCounterFunc(prometheus.CounterOpts{Name: "starling_cache_barrier_seconds_total", Help: "Time that changes waited for all instances."},
			func() float64 { return time.Duration(s.metrics.barrierWait.Load()).Seconds() }),
	}
	if s.fallback != nil {
		all = append(all, s.transportGauge(s.fallback))
	}
	for name, m := range map[string]struct {
		help  string
		value *atomic.Int64
	}{
		"starling_cache_notifications_total":    {"Notifications heard.", &s.metrics.heard},
		"starling_cache_reconnects_total":       {"Times the transport connected again.", &s.metrics.reconnects},
		"starling_cache_probes_total":           {"Times the versions were read.", &s.metrics.reads},
		"starling_cache_lease_expired_total":    {"Requests that had the versions read first.", &s.metrics.expired},
		"starling_cache_stale_answers_total":    {"Answers thrown away because the lease ran out meanwhile.", &s.metrics.stale},
		"starling_cache_barriers_total":         {"Changes that waited for all instances.", &s.metrics.barriers},
		"starling_cache_barrier_timeouts_total": {"Changes that waited for a whole lease.", &s.metrics.barrierTimeouts},
	} {
		all = append(all, prometheus.NewCounterFunc(prometheus.CounterOpts{Name: name, Help: m.help}, func() float64 { return float64(m.value.Load()) }))
	}
	for _, collector := range all {
		if err := registerer.Register(collector); err != nil {
			return err
		}
	}
	return nil
}

// transportGauge says whether a transport is in use.
func (s *Synchronizer) transportGauge(t Transport) prometheus.Collector {
	return transportGauge(t.Name(), func() bool { return s.Using() == t.Name() })
}

// Register publishes that the instance hears of nothing.
func (a *Alone) Register(registerer prometheus.Registerer) error {
	return registerer.Register(transportGauge(a.Member.Mode, func() bool { return true }))
}

func transportGauge(name string, used func() bool) prometheus.Collector {
	return prometheus.NewGaugeFunc(prometheus.GaugeOpts{
		Name: "starling_cache_transport", Help: "1 for the transport in use.", ConstLabels: prometheus.Labels{"transport": name},
	}, func() float64 {
		if used() {
			return 1
		}
		return 0
	})
}

// leaseAge is the time since the snapshot proved longest ago was.
func (s *Synchronizer) leaseAge() time.Duration {
	oldest := s.clock()
	for _, l := range s.holds() {
		if l != nil {
			oldest = min(oldest, time.Duration(l.proved.Load()))
		}
	}
	return s.clock() - oldest
}
