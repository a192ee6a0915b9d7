package search

import "slices"

// values collects what is indexed of one kind.
type values[V comparable] struct {
	list []V
	// seen holds the values once they are many.
	seen map[V]struct{}
}

// few is the number of values up to which a scan finds a duplicate faster than
// a map does.
const few = 64

// add keeps a value unless it is there already.
func (v *values[V]) add(value V) {
	if len(v.list) < few {
		if !slices.Contains(v.list, value) {
			v.list = append(v.list, value)
		}
		return
	}
	if v.seen == nil {
		v.seen = make(map[V]struct{}, 2*few)
		for _, old := range v.list {
			v.seen[old] = struct{}{}
		}
	}
	if _, ok := v.seen[value]; !ok {
		v.seen[value] = struct{}{}
		v.list = append(v.list, value)
	}
}

// distinct copies the values, nil if there are none.
func (v *values[V]) distinct() []V {
	if len(v.list) == 0 {
		return nil
	}
	return slices.Clone(v.list)
}

// mostKept bounds what a pooled extraction holds on to between resources.
const mostKept = 1024

func (v *values[V]) reset() {
	clear(v.list)
	v.seen = nil
	if v.list = v.list[:0]; cap(v.list) > mostKept {
		v.list = nil
	}
}
