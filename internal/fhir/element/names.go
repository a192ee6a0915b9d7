package element

import "bytes"

// nameSet finds repeated names of one object. It reads the names back from the
// nodes of the members so far, of which a filter spares nearly all: only a
// name whose bit is taken is compared, with the others of a small object or
// through the map of a large one.
type nameSet struct {
	first uint32 // node of the first member
	count uint32 // members so far
	taken uint64
	seen  map[string]struct{}
}

// namesCompared is the most members whose names are compared one by one.
const namesCompared = 24

// isNew adds a name by its bit and reports whether it is known to be new. If
// not, repeats has to look.
func (s *nameSet) isNew(bit uint64) bool {
	isNew := s.taken&bit == 0 && s.count < namesCompared
	s.taken |= bit
	s.count++
	return isNew
}

// repeats reports whether the name that isNew added last was there before.
func (s *nameSet) repeats(p *parser, name []byte) bool {
	if s.count <= namesCompared {
		for other := range s.before(p) {
			if bytes.Equal(other, name) {
				return true
			}
		}
		return false
	}
	if s.seen == nil {
		s.seen = make(map[string]struct{}, 2*namesCompared)
		for other := range s.before(p) {
			s.seen[string(other)] = struct{}{}
		}
	}
	if _, ok := s.seen[string(name)]; ok {
		return true
	}
	s.seen[string(name)] = struct{}{}
	return false
}

// before ranges over the names before the last.
func (s *nameSet) before(p *parser) func(yield func([]byte) bool) {
	return func(yield func([]byte) bool) {
		for i, left := s.first, s.count-1; left > 0; left-- {
			d := &p.nodes[i]
			if !yield(d.name(p.text, p.names)) {
				return
			}
			i = d.next
		}
	}
}

// nameBit spreads names over 64 bits.
func nameBit(name []byte) uint64 {
	n := len(name)
	if n == 0 {
		return 1
	}
	return 1 << ((uint(name[0])*7 + uint(name[n-1])*11 + uint(n)*3) & 63)
}
