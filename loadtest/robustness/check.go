package robustness

import (
	"fmt"
	"slices"
	"time"
)

// Check is one promise, and what was found of it.
type Check struct {
	Name    string `json:"name"`
	Promise string `json:"promise"`
	// Observations is how many answers, rows or changes could have broken it.
	Observations int      `json:"observations"`
	Broken       int      `json:"broken"`
	Samples      []string `json:"samples,omitempty"` // of what broke it
}

// Passed reports a promise that was kept. One that nothing could have broken was
// not shown to be.
func (c *Check) Passed() bool { return c.Broken == 0 && c.Observations > 0 }

const maxSamples = 10

func (c *Check) breach(format string, args ...any) {
	c.Broken++
	if len(c.Samples) < maxSamples {
		c.Samples = append(c.Samples, fmt.Sprintf(format, args...))
	}
}

// Check checks a history for all that is promised.
func (h *History) Check() []Check {
	f := newFacts(h)
	return []Check{
		f.staleness(), f.barrier(), f.carried(), f.acceptance(), f.fence(), f.lost(), f.order(), f.convergence(),
	}
}

// facts are a history, arranged for the checks.
type facts struct {
	*History
	// acknowledged changes of each register by their ends, with the greatest value
	// so far.
	acknowledged map[string][]milestone
	// awaited is those that were answered because all servers had applied them.
	awaited   map[string][]milestone
	committed map[string][]Committed // of each register, in the database's order
}

// milestone is the greatest value that a register has reached by a time.
type milestone struct {
	at    time.Duration
	value int64
}

// margin is for what a clock of a server and that of the clients may differ in a
// lease.
const margin = 50 * time.Millisecond

func newFacts(h *History) *facts {
	f := &facts{History: h, acknowledged: map[string][]milestone{}, awaited: map[string][]milestone{}, committed: map[string][]Committed{}}
	for _, s := range h.Sets {
		if !s.Acknowledged {
			continue
		}
		f.acknowledged[s.Register] = append(f.acknowledged[s.Register], milestone{s.End, s.Value})
		// One that took a lease may have been answered because that had passed.
		if !s.Async && s.End-s.Begin < h.Lease-margin {
			f.awaited[s.Register] = append(f.awaited[s.Register], milestone{s.End, s.Value})
		}
	}
	for _, all := range []map[string][]milestone{f.acknowledged, f.awaited} {
		for _, m := range all {
			slices.SortFunc(m, func(a, b milestone) int { return int(a.at - b.at) })
			for i := 1; i < len(m); i++ {
				m[i].value = max(m[i].value, m[i-1].value)
			}
		}
	}
	for _, c := range h.Committed {
		f.committed[c.Register] = append(f.committed[c.Register], c)
	}
	return f
}

// reached is the greatest value that a register had reached before a time; 0 if
// none.
func reached(m []milestone, before time.Duration) int64 {
	n, _ := slices.BinarySearchFunc(m, before, func(m milestone, t time.Duration) int { return int(m.at - t) })
	if n == 0 {
		return 0
	}
	return m[n-1].value
}

func (l *Look) String() string {
	server := l.Server
	if server == "" {
		server = "the load balancer"
	}
	return fmt.Sprintf("%s of %s by %s, asked at %v, answered at %v", l.Register, server, l.How, l.Begin, l.End)
}

// looks checks that each answer shows at least what it has to: what was reached
// some time before it was asked for. Those count that could have shown less
// because of a change in the lease before.
func (f *facts) looks(c Check, of map[string][]milestone, before time.Duration, which func(*Look) bool) Check {
	for i := range f.Looks {
		l := &f.Looks[i]
		if which != nil && !which(l) {
			continue
		}
		want := reached(of[l.Register], l.Begin-before)
		if want > reached(of[l.Register], l.Begin-before-f.Lease) {
			c.Observations++
		}
		if l.Value < want {
			c.breach("%v: v%d, although v%d had to be known", l, l.Value, want)
		}
	}
	return c
}

func (f *facts) staleness() Check {
	return f.looks(Check{
		Name: "staleness", Promise: "an answer asked for more than the lease after a change was acknowledged shows it",
	}, f.acknowledged, f.Lease, nil)
}

func (f *facts) barrier() Check {
	return f.looks(Check{
		Name: "waiting", Promise: "an answer asked for after a change that waited was acknowledged within the lease shows it",
	}, f.awaited, 0, nil)
}

func (f *facts) acceptance() Check {
	return f.looks(Check{
		Name: "acceptance", Promise: "a resource posted after a change was acknowledged is not accepted by what that replaced",
	}, f.acknowledged, 0, func(l *Look) bool { return l.How == Accepted })
}

func (f *facts) carried() Check {
	c := Check{Name: "header", Promise: "for a client that carries the version of its change nothing goes back, through the load balancer"}
	for i := range f.Looks {
		l := &f.Looks[i]
		if l.Carried == 0 {
			continue
		}
		c.Observations++
		if l.Value < l.Carried {
			c.breach("%v: v%d, although the request carried the version of v%d", l, l.Value, l.Carried)
		}
	}
	return c
}
