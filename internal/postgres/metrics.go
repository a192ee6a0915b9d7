package postgres

import (
	"time"

	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/prometheus/client_golang/prometheus"
)

// metrics are the store's own. They are counted whether registered or not.
type metrics struct {
	size    *prometheus.HistogramVec
	seconds *prometheus.HistogramVec
	queued  *prometheus.GaugeVec
	retries *prometheus.CounterVec

	registerer prometheus.Registerer
	registered []prometheus.Collector
}

func newMetrics() *metrics {
	m := &metrics{
		size: prometheus.NewHistogramVec(prometheus.HistogramOpts{
			Name: "starling_store_batch_requests", Help: "Requests served by one coalesced batch.",
			Buckets: prometheus.ExponentialBuckets(1, 2, 10),
		}, []string{"kind"}),
		seconds: prometheus.NewHistogramVec(prometheus.HistogramOpts{
			Name: "starling_store_batch_seconds", Help: "Time a coalesced batch took in the database.",
			Buckets: prometheus.ExponentialBuckets(0.0001, 2, 16),
		}, []string{"kind"}),
		queued: prometheus.NewGaugeVec(prometheus.GaugeOpts{
			Name: "starling_store_queued", Help: "Requests waiting for a batch.",
		}, []string{"kind"}),
		retries: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "starling_store_retries_total", Help: "Database work done again, by cause.",
		}, []string{"kind"}),
	}
	m.retries.WithLabelValues("fence") // there from the start, so that the first is a rise
	return m
}

func (m *metrics) batch(kind string, n int, took time.Duration) {
	m.size.WithLabelValues(kind).Observe(float64(n))
	m.seconds.WithLabelValues(kind).Observe(took.Seconds())
}

func (m *metrics) register(registerer prometheus.Registerer, s *Store) error {
	m.registerer = registerer
	collectors := []prometheus.Collector{m.size, m.seconds, m.queued, m.retries}
	for name, pool := range map[string]*pgxpool.Pool{"requests": s.requests, "coalesced": s.coalesced, "reserve": s.reserve} {
		collectors = append(collectors,
			poolGauge(name, "acquired", "Connections in use.", func() float64 { return float64(pool.Stat().AcquiredConns()) }),
			poolGauge(name, "open", "Connections open.", func() float64 { return float64(pool.Stat().TotalConns()) }),
			poolGauge(name, "limit", "Connections allowed.", func() float64 { return float64(pool.Stat().MaxConns()) }),
			poolGauge(name, "waits", "Acquisitions that had to wait, since the start.", func() float64 { return float64(pool.Stat().EmptyAcquireCount()) }),
		)
	}
	collectors = append(collectors, prometheus.NewGaugeFunc(prometheus.GaugeOpts{
		Name: "starling_store_read_queue", Help: "Reads waiting for a batch.",
	}, func() float64 { return float64(len(s.reader.queue)) }))
	for _, c := range collectors {
		if err := registerer.Register(c); err != nil {
			m.unregister()
			return err
		}
		m.registered = append(m.registered, c)
	}
	return nil
}

func poolGauge(pool, name, help string, value func() float64) prometheus.Collector {
	return prometheus.NewGaugeFunc(prometheus.GaugeOpts{
		Name: "starling_pool_" + name + "_connections", Help: help, ConstLabels: prometheus.Labels{"pool": pool},
	}, value)
}

func (m *metrics) unregister() {
	for _, c := range m.registered {
		m.registerer.Unregister(c)
	}
	m.registered = nil
}
