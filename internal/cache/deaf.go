package cache

import (
	"context"
	"errors"
	"sync"
	"time"

	"starling/internal/fhir"
)

// deafAfter is how long a version may be known by reading before a transport
// that tells of every one has to have told of it.
const deafAfter = 10 * time.Second

// errDeaf says that a transport lives, but tells of nothing: a LISTEN that its
// server has forgotten, or a pooler that has come in between.
var errDeaf = errors.New("cache: the transport does not tell of changes any more")

// ears notice that a transport does not tell of what is read.
type ears struct {
	mu     sync.Mutex
	end    context.CancelCauseFunc // of the connection; nil for none
	began  bool                    // told is of this connection
	told   fhir.DomainVersions     // the highest
	missed map[fhir.Domain]missed
}

// missed is a version that was read and not told of.
type missed struct {
	version int64
	since   time.Duration
}

// begin is called when a transport listens, and tells of every change from then
// on. end ends its connection; it is nil for none.
func (e *ears) begin(end context.CancelCauseFunc) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.end, e.began = end, false
	e.told, e.missed = fhir.DomainVersions{}, map[fhir.Domain]missed{}
}

func (e *ears) hear(versions fhir.DomainVersions) {
	e.mu.Lock()
	defer e.mu.Unlock()
	for domain, version := range versions {
		e.told[domain] = max(e.told[domain], version)
	}
}

// compare takes the versions that were read. Those of the first reading need not
// have been told of.
func (e *ears) compare(versions fhir.DomainVersions, now time.Duration) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.end == nil {
		return
	}
	for domain, version := range versions {
		m, waiting := e.missed[domain]
		switch {
		case !e.began:
			e.told[domain] = max(e.told[domain], version)
		case waiting && e.told[domain] >= m.version:
			delete(e.missed, domain)
		case waiting && now-m.since > deafAfter:
			e.end(errDeaf)
		case !waiting && e.told[domain] < version:
			e.missed[domain] = missed{version, now}
		}
	}
	e.began = true
}
