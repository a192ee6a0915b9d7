package rest

import (
	"net/http"
	"net/http/pprof"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promhttp"
)

// CacheStatus is the path of the one operation of the API that the admin address
// serves, too.
const CacheStatus = BasePath + "/$cache-status"

// Admin makes the handler of the admin address: /metrics, /livez, /readyz,
// /debug/pprof/ and CacheStatus, which status answers: a handler of New with
// Config.Operators.
func Admin(gatherer prometheus.Gatherer, health *Health, status http.Handler) http.Handler {
	mux := http.NewServeMux()
	mux.Handle(CacheStatus, status)
	mux.Handle("/metrics", promhttp.HandlerFor(gatherer, promhttp.HandlerOpts{}))
	mux.Handle("/livez", health)
	mux.Handle("/readyz", health)
	mux.HandleFunc("/debug/pprof/", pprof.Index)
	mux.HandleFunc("/debug/pprof/cmdline", pprof.Cmdline)
	mux.HandleFunc("/debug/pprof/profile", pprof.Profile)
	mux.HandleFunc("/debug/pprof/symbol", pprof.Symbol)
	mux.HandleFunc("/debug/pprof/trace", pprof.Trace)
	return mux
}
