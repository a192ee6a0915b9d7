package rest

import (
	"context"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"time"
)

// checkTimeout bounds the checks of one /readyz.
const checkTimeout = 2 * time.Second

// Health answers /livez and /readyz. The zero value is alive and ready.
type Health struct {
	draining atomic.Bool
	mu       sync.Mutex
	names    []string
	checks   []func(ctx context.Context) error
}

// Check adds a condition of readiness. What it fails with is not shown.
func (h *Health) Check(name string, check func(ctx context.Context) error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.names, h.checks = append(h.names, name), append(h.checks, check)
}

// Drain makes the server unready for good: it is about to stop.
func (h *Health) Drain() { h.draining.Store(true) }

// ServeHTTP implements http.Handler for both paths. /livez says that the
// process answers at all; /readyz that it should be sent requests, with a line
// for each condition.
func (h *Health) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	status, text := http.StatusOK, "ok\n"
	if r.URL.Path == "/readyz" {
		status, text = h.ready(r.Context())
	}
	w.Header().Set("Content-Type", "text/plain; charset=utf-8")
	w.Header().Set("Cache-Control", "no-store")
	w.WriteHeader(status)
	_, _ = w.Write([]byte(text)) // fails only if the client has gone
}

func (h *Health) ready(ctx context.Context) (int, string) {
	if h.draining.Load() {
		return http.StatusServiceUnavailable, "draining\n"
	}
	ctx, cancel := context.WithTimeout(ctx, checkTimeout)
	defer cancel()
	h.mu.Lock()
	names, checks := h.names, h.checks
	h.mu.Unlock()
	status, text := http.StatusOK, strings.Builder{}
	for i, check := range checks {
		state := "ok"
		if err := check(ctx); err != nil {
			status, state = http.StatusServiceUnavailable, "failed"
		}
		fmt.Fprintf(&text, "%s: %s\n", names[i], state)
	}
	if text.Len() == 0 {
		text.WriteString("ok\n")
	}
	return status, text.String()
}
