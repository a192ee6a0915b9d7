package fhirpath

import "slices"

// union compiles a chain of | as one: all collections, without duplicates.
func (c *compiler) union(n *binary) (step, error) {
	var parts []step
	var at node = n
	for {
		b, ok := at.(*binary)
		if !ok || b.op != "|" {
			break
		}
		right, err := c.compile(b.right)
		if err != nil {
			return nil, err
		}
		parts = append(parts, right)
		at = b.left
	}
	first, err := c.compile(at)
	if err != nil {
		return nil, err
	}
	parts = append(parts, first)
	slices.Reverse(parts)
	return unionOf(parts), nil
}

func unionOf(parts []step) step {
	return func(r *run) error {
		from := len(r.stack)
		for _, part := range parts {
			if err := part(r); err != nil {
				return err
			}
		}
		return r.distinct(from)
	}
}

// distinct drops from the stack's end what equals an earlier item.
func (r *run) distinct(from int) error {
	if len(r.stack)-from < 2 {
		return nil
	}
	if len(r.stack)-from > 8 && r.distinctStrings(from) {
		return nil
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

// distinctStrings is distinct for a long collection that has strings alone, in
// linear time; ok is false if it has not.
func (r *run) distinctStrings(from int) (ok bool) {
	seen := make(map[string]struct{}, len(r.stack)-from)
	for i := from; i < len(r.stack); i++ {
		s, ok := r.stack[i].str()
		if !ok {
			return false
		}
		seen[s] = struct{}{}
	}
	if len(seen) == len(r.stack)-from {
		return true
	}
	to := from
	for i := from; i < len(r.stack); i++ {
		item := r.stack[i]
		s, _ := item.str()
		if _, first := seen[s]; first {
			delete(seen, s)
			r.stack[to] = item
			to++
		}
	}
	r.cut(to)
	return true
}
