package postgres

import "sync"

// lineage is the one of the database that the store last wrote to. What the store
// remembers of what is stored, and may have been lost with an earlier one, goes with
// that.
type lineage struct {
	mu   sync.Mutex
	last string
}

// enter notes the lineage that items were checked by, before anything is done for them.
// Those of an earlier one are refused by the fence, so nothing is learned from them
// any more.
func (s *Store) enter(items []*item) {
	latest := ""
	for _, it := range items {
		latest = max(latest, it.write.Basis.Lineage)
	}
	s.lineage.mu.Lock()
	defer s.lineage.mu.Unlock()
	if latest <= s.lineage.last {
		return
	}
	if s.lineage.last != "" {
		s.names.forget()
		s.rids.forget()
	}
	s.lineage.last = latest
}
