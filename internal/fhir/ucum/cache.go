package ucum

import (
	"strings"
	"sync"
)

// cache keeps parsed units by their text. It has two generations: when the
// young one is full, it becomes the old one and the old one is forgotten; what
// is used moves on to the young one. So it holds at most 2×size units, and those
// in use stay.
type cache struct {
	size       int
	mu         sync.RWMutex
	young, old map[string]*Unit
}

func newCache(size int) *cache { return &cache{size: size, young: map[string]*Unit{}} }

func (c *cache) get(text string) *Unit {
	c.mu.RLock()
	u, old := c.young[text], (*Unit)(nil)
	if u == nil {
		old = c.old[text]
	}
	c.mu.RUnlock()
	if old != nil {
		c.put(old)
		return old
	}
	return u
}

func (c *cache) put(u *Unit) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if len(c.young) >= c.size {
		c.young, c.old = make(map[string]*Unit, c.size), c.young
	}
	c.young[u.text] = u
}

// units are the units parsed lately. Data uses a few hundred.
var units = newCache(2048)

// Parse reads a unit. The error is an *Error and names the place at fault.
func Parse(text string) (*Unit, error) {
	if u := units.get(text); u != nil {
		return u, nil
	}
	t := load()
	p := parser{text: text, prefixes: t.prefixes, atom: func(code string) *atom { return t.atoms[code] }}
	parsed, err := p.parse()
	if err != nil {
		return nil, err
	}
	u := newUnit(strings.Clone(text), parsed)
	units.put(u)
	return u, nil
}
