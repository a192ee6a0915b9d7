package rest

import (
	"context"
	"log/slog"
	"net/http"
	"time"

	"starling/internal/interaction"
)

// Service is what carries out interactions: *interaction.Service.
type Service interface {
	// Route finds the interaction that a method and URL ask for; path is
	// relative to the base, without a leading slash.
	Route(method, path, rawQuery string) (*interaction.Request, error)
	// Serve carries it out.
	Serve(ctx context.Context, request *interaction.Request) (*interaction.Response, error)
}

// Config is what a Handler is made of. All fields but BaseURL, Proxies,
// OperatorToken, Operators and AccessLog are needed.
type Config struct {
	Service Service
	// BaseURL is the base of absolute links, without a trailing slash; empty:
	// by the request, and by what Proxies forward of it.
	BaseURL string
	Proxies Proxies
	// MaxBody is the most bytes a request's body may have, decompressed.
	MaxBody int64
	// Bodies gives large bodies their places. Handlers may share it.
	Bodies *Bodies
	// Timeout is how long an interaction may take.
	Timeout time.Duration
	// OperatorToken is the bearer token by which operators are known; empty: there
	// are none. With Operators, all who come are.
	OperatorToken string
	Operators     bool
	Metrics       *Metrics
	Health        *Health
	Logger        *slog.Logger
	// AccessLog logs every request, rather than failures of the server alone.
	AccessLog bool
}

// api answers the requests under BasePath.
type api struct {
	service Service
	bases   bases
	maxBody int64
	bodies  *Bodies
	timeout time.Duration

	operators operators
}

// New makes the handler of the API's address: the API under BasePath, and
// /livez and /readyz for load balancers.
func New(config Config) http.Handler {
	a := &api{
		service: config.Service, maxBody: config.MaxBody, bodies: config.Bodies, timeout: config.Timeout,
		bases: bases{fixed: config.BaseURL, proxies: config.Proxies}, operators: operatorsOf(&config),
	}
	handle := compressed(crossOrigin(a.answer))
	handle = logged(config.Logger, config.AccessLog, config.Metrics.observed(recovered(handle)))
	served := front{identified(handle)}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/livez", "/readyz":
			config.Health.ServeHTTP(w, r)
		default:
			if config.Health.draining.Load() {
				// The client's next request finds another instance; a connection
				// closed between two requests could cost it one.
				w.Header().Set("Connection", "close")
			}
			served.ServeHTTP(w, r)
		}
	})
}
