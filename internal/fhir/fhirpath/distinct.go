package fhirpath

import (
	"hash/maphash"

	"starling/internal/fhir/element"
)

// fewItems is up to where comparing all with all is quickest.
const fewItems = 8

// distinct drops from the stack's end what equals an earlier item.
func (r *run) distinct(from int) error {
	n := len(r.stack) - from
	if n < 2 {
		return nil
	}
	if n > fewItems {
		return r.distinctHashed(from)
	}
	to := from
	for i := from; i < len(r.stack); i++ {
		item := r.stack[i]
		found, err := r.has(from, to, item)
		if err != nil {
			return err
		}
		if !found {
			r.stack[to] = item
			to++
		}
	}
	r.cut(to)
	return nil
}

// distinctHashed is distinct in about linear time.
func (r *run) distinctHashed(from int) error {
	seen := make(itemSet, len(r.stack)-from)
	to, err := r.keepFresh(seen, from)
	r.cut(to)
	return err
}

// itemSet finds equal items on the stack by their hash.
type itemSet map[uint64][]int

// keepFresh moves the items from a mark on together that are not in the set,
// adding them to it, and tells where they end.
func (r *run) keepFresh(seen itemSet, from int) (to int, err error) {
	to = from
	for i := from; i < len(r.stack); i++ {
		item := r.stack[i]
		hash, err := r.hash(item)
		if err != nil {
			return to, err
		}
		found := false
		for _, at := range seen[hash] {
			if found, _, err = r.equal(r.stack[at], item); err != nil {
				return to, err
			}
			if found {
				break
			}
		}
		if !found {
			r.stack[to] = item
			seen[hash] = append(seen[hash], to)
			to++
		}
	}
	return to, nil
}

var hashSeed = maphash.MakeSeed()

// hash is equal for items that are equal. Strings and elements that are no
// primitives have their own; numbers, dates and quantities equal others in too
// many ways, and share one.
func (r *run) hash(item Item) (uint64, error) {
	if s, ok := item.str(); ok {
		return maphash.String(hashSeed, s), r.tick(len(s)/256 + 1)
	}
	if item.shape != nil && item.value == nil && item.shape.systemType() == "" {
		return r.deepHash(item.node)
	}
	return 0, nil
}

// deepHash is equal for elements that deepEqual finds equal.
func (r *run) deepHash(n element.Node) (uint64, error) {
	if err := r.tick(1); err != nil {
		return 0, err
	}
	hash := uint64(n.Kind())
	switch n.Kind() {
	case element.String:
		return maphash.String(hashSeed, n.Str()), nil
	case element.Number:
		return hash, nil // equal numbers may be written in several ways
	case element.Object:
		for member := range n.Children() {
			value, err := r.deepHash(member)
			if err != nil {
				return 0, err
			}
			hash += (value ^ maphash.String(hashSeed, member.Name())) * 0x9e3779b97f4a7c15
		}
	case element.Array:
		for item := range n.Children() {
			value, err := r.deepHash(item)
			if err != nil {
				return 0, err
			}
			hash = hash*31 + value
		}
	}
	return hash, nil
}
