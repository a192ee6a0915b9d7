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
