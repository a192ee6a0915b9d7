package rest

import (
	"context"
	"time"

	"github.com/prometheus/client_golang/prometheus"
)

// Metrics counts requests. docs/operations.md lists the names.
type Metrics struct {
	requests *prometheus.CounterVec
	duration *prometheus.HistogramVec
	inFlight prometheus.Gauge
	received prometheus.Histogram
	sent     prometheus.Histogram
}

// statusClasses are the values of the label status.
var statusClasses = [...]string{"", "1xx", "2xx", "3xx", "4xx", "5xx"}

// NewMetrics makes the metrics and registers them.
func NewMetrics(registerer prometheus.Registerer) *Metrics {
	m := &Metrics{
		requests: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "starling_requests_total", Help: "Requests answered, by interaction, resource type and class of status.",
		}, []string{"interaction", "type", "status"}),
		duration: prometheus.NewHistogramVec(prometheus.HistogramOpts{
			Name: "starling_request_duration_seconds", Help: "Time to carry out a request, without sending the answer.",
			Buckets: []float64{.0005, .001, .0025, .005, .01, .025, .05, .1, .25, .5, 1, 2.5, 5, 10, 30},
		}, []string{"interaction"}),
		inFlight: prometheus.NewGauge(prometheus.GaugeOpts{
			Name: "starling_requests_in_flight", Help: "Requests being answered.",
		}),
		received: prometheus.NewHistogram(prometheus.HistogramOpts{
			Name: "starling_request_body_bytes", Help: "Size of request bodies, decompressed.",
			Buckets: prometheus.ExponentialBuckets(256, 4, 10),
		}),
		sent: prometheus.NewHistogram(prometheus.HistogramOpts{
			Name: "starling_response_body_bytes", Help: "Size of response bodies, as sent.",
			Buckets: prometheus.ExponentialBuckets(256, 4, 10),
		}),
	}
	registerer.MustRegister(m.requests, m.duration, m.inFlight, m.received, m.sent)
	return m
}

// observed counts what passes through.
func (m *Metrics) observed(next exchange) exchange {
	return func(ctx context.Context, in *incoming, out *outgoing) {
		started := time.Now()
		m.inFlight.Inc()
		defer m.inFlight.Dec()
		next(ctx, in, out)
		// An address that leads to no interaction has no name of its own:
		// labels must not grow with what clients make up.
		name := string(out.Interaction)
		if name == "" {
			name = "none"
		}
		m.requests.WithLabelValues(name, string(out.Type), statusClasses[min(out.Status/100, 5)]).Inc()
		m.duration.WithLabelValues(name).Observe(time.Since(started).Seconds())
		if out.BodyRead > 0 {
			m.received.Observe(float64(out.BodyRead))
		}
		if len(out.Body) > 0 {
			m.sent.Observe(float64(len(out.Body)))
		}
	}
}
