package rest

import (
	"context"
	"errors"
	"sync"
	"time"

	"golang.org/x/sync/semaphore"

	"starling/internal/fhir"
)

const (
	// freeBody is the size up to which a body takes no place: those of nearly all
	// requests, which so neither wait nor lock.
	freeBody = 256 << 10
	// heavyBody is the size from which on a body is heavy: what is made of it may
	// be the larger part of the heap.
	heavyBody = 8 << 20
	// placeWait is the longest time a large body waits for a place.
	placeWait = 30 * time.Second
)

// Bodies bounds the bytes of large bodies that are in work at once, over all
// requests, since what is made of a body is several times as large: its tree,
// its index values, the statement that stores it. A large body waits for its
// place before it is read or unpacked, in the order of arrival, and keeps it
// until its request is carried out.
type Bodies struct {
	most   int64
	places *semaphore.Weighted
	wait   time.Duration
	heavy  func(bool)

	mu      sync.Mutex
	heavies int
}

// NewBodies makes the places of most bytes. heavy, if not nil, is told when the first
// heavy body gets a place and when the last has left, one call at a time.
func NewBodies(most int64, heavy func(bool)) *Bodies {
	if heavy == nil {
		heavy = func(bool) {}
	}
	return &Bodies{most: most, places: semaphore.NewWeighted(most), wait: placeWait, heavy: heavy}
}

// place is what one body takes of Bodies; the zero place is none.
type place struct {
	of    *Bodies
	bytes int64
	heavy bool
}

// take waits for a place of that many bytes, or of all there are if these are
// fewer.
func (b *Bodies) take(ctx context.Context, bytes int64) (place, error) {
	p := place{of: b, bytes: min(bytes, b.most), heavy: bytes >= heavyBody}
	waiting, cancel := context.WithTimeout(ctx, b.wait)
	defer cancel()
	if err := b.places.Acquire(waiting, p.bytes); err != nil {
		if errors.Is(ctx.Err(), context.Canceled) {
			return place{}, ctx.Err() // the client has gone
		}
		return place{}, fhir.NewError(fhir.KindUnavailable, fhir.IssueThrottled,
			"The server is busy with other large bodies; send this one again later, or less at once.").Because(err)
	}
	if p.heavy {
		b.count(1)
	}
	return p, nil
}

// shrink gives back what a body turned out not to need.
func (p *place) shrink(bytes int64) {
	if p.of == nil || bytes >= p.bytes {
		return
	}
	p.of.places.Release(p.bytes - bytes)
	p.bytes = bytes
	if p.heavy && bytes < heavyBody {
		p.heavy = false
		p.of.count(-1)
	}
}

// leave gives the place back.
func (p *place) leave() { p.shrink(0) }

func (b *Bodies) count(by int) {
	b.mu.Lock()
	defer b.mu.Unlock()
	before := b.heavies
	b.heavies += by
	if before == 0 || b.heavies == 0 {
		b.heavy(b.heavies > 0)
	}
}
