package coherence

import (
	"cmp"
	"fmt"
	"slices"
)

// key names the cells that are runs of the same.
type key struct {
	load      string
	transport string
	instances int
	rate      float64
}

// order of transports in tables and charts.
var order = []string{Notify, Logical, Poll, Off}

// groups gives the cells of a load, those that are runs of the same together:
// by number of servers, then by transport, then by rate.
func (r *Result) groups(load string) (keys []key, cells map[key][]*Cell) {
	cells = map[key][]*Cell{}
	for i := range r.Cells {
		c := &r.Cells[i]
		if c.Load != load {
			continue
		}
		k := key{c.Load, c.Transport, c.Instances, c.Rate}
		if cells[k] == nil {
			keys = append(keys, k)
		}
		cells[k] = append(cells[k], c)
	}
	slices.SortFunc(keys, func(a, b key) int {
		return cmp.Or(a.instances-b.instances, slices.Index(order, a.transport)-slices.Index(order, b.transport), cmp.Compare(a.rate, b.rate))
	})
	return keys, cells
}

// text of a median, with the least and the greatest of several.
func (s spread) text(format string) string {
	median, low, high := fmt.Sprintf(format, s.median), fmt.Sprintf(format, s.low), fmt.Sprintf(format, s.high)
	if low == high {
		return median
	}
	return fmt.Sprintf("%s (%s–%s)", median, low, high)
}

// Failed reports wrong answers, changes that failed, and broken promises.
func (r *Result) Failed() bool {
	for i := range r.Cells {
		c := &r.Cells[i]
		if c.Errors > 0 || c.Changes.Failed > 0 || c.Changes.Stale > 0 || c.Changes.Late > 0 {
			return true
		}
	}
	if r.Pairs != nil {
		for _, round := range r.Pairs.Rounds {
			for _, s := range round.Slices {
				if s.Errors > 0 {
					return true
				}
			}
		}
	}
	return r.NotifyLock != nil && !r.NotifyLock.Passed()
}
