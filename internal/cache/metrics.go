package cache

import (
	"github.com/prometheus/client_golang/prometheus"
)

// Register publishes the state of the caches:
// starling_cache_version (of the snapshot served), starling_cache_known_version
// (newest heard of; their difference is the lag) and starling_cache_resources,
// each by domain.
func Register(registerer prometheus.Registerer, caches ...Filled) error {
	for _, c := range caches {
		labels := prometheus.Labels{"domain": string(c.Domain())}
		for name, read := range map[string]struct {
			help  string
			value func(Status) int64
		}{
			"starling_cache_version":       {"Version of the snapshot served.", func(s Status) int64 { return s.Version }},
			"starling_cache_known_version": {"Newest version heard of.", func(s Status) int64 { return s.Known }},
			"starling_cache_resources":     {"Resources the snapshot was built from.", func(s Status) int64 { return int64(s.Resources) }},
		} {
			gauge := prometheus.NewGaugeFunc(prometheus.GaugeOpts{Name: name, Help: read.help, ConstLabels: labels},
				func() float64 { return float64(read.value(c.Status())) })
			if err := registerer.Register(gauge); err != nil {
				return err
			}
		}
	}
	return nil
}
