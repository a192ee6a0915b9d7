package cache

import (
	"context"
	"sync"

	"starling/internal/fhir"
)

// beginnings are those of the lineages up to one. They do not change while it
// lasts, so they are read once for it, when first they are asked for.
type beginnings struct {
	mu      sync.Mutex
	lineage string
	states  []fhir.DomainState
}

// of gives the beginnings up to a lineage, and may give later ones.
func (b *beginnings) of(ctx context.Context, lineage string, store fhir.MemberStore) ([]fhir.DomainState, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.lineage == lineage {
		return b.states, nil
	}
	states, err := store.Beginnings(ctx)
	if err != nil {
		return nil, err
	}
	b.lineage, b.states = lineage, states
	return states, nil
}
