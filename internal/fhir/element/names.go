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

// repeats adds a name and reports whether it was there already.
func (s *nameSet) repeats(p *parser, name []byte) bool {
	bit := nameBit(name)
	maybe := s.taken&bit != 0
	s.taken |= bit
	s.count++
	if s.seen != nil {
		if _, ok := s.seen[string(name)]; ok {
			return true
		}
		s.seen[string(name)] = struct{}{}
		return false
	}
	if maybe {
		for i, left := s.first, s.count-1; left > 0; left-- {
			d := &p.nodes[i]
			if bytes.Equal(p.name(d), name) {
				return true
			}
			i = d.next
		}
	}
	if s.count > namesCompared {
		s.seen = map[string]struct{}{string(name): {}}
		for i, left := s.first, s.count-1; left > 0; left-- {
			s.seen[string(p.name(&p.nodes[i]))] = struct{}{}
			i = p.nodes[i].next
		}
	}
	return false
}

// nameBit spreads names over 64 bits.
func nameBit(name []byte) uint64 {
	n := len(name)
	if n == 0 {
		return 1
	}
	return 1 << ((uint(name[0])*7 + uint(name[n-1])*11 + uint(n)*3) & 63)
}
