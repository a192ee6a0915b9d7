package fhirpath

import (
	"slices"
	"sync/atomic"
)

// union compiles a chain of | as one: all collections, without duplicates.
func (c *compiler) union(n *binary) (step, error) {
	var parts []unionPart
	var at node = n
	for at != nil {
		part := at
		at = nil
		if b, ok := part.(*binary); ok && b.op == "|" {
			part, at = b.right, b.left
		}
		s, err := c.compile(part)
		if err != nil {
			return nil, err
		}
		parts = append(parts, unionPart{s, headType(part)})
	}
	slices.Reverse(parts)
	return unionOf(parts), nil
}

// unionPart is an operand of a union. If it begins with a type's name and is
// empty wherever the context is of another type, that is its head.
type unionPart struct {
	step
	head string
}

// unionCache has the parts that apply to the shape met last. R4 publishes
// expressions for thirty types at once, of which one applies.
type unionCache struct {
	shape *shape
	parts []step
}

func unionOf(parts []unionPart) step {
	var cache atomic.Pointer[unionCache]
	return func(r *run) error {
		c := cache.Load()
		if c == nil || c.shape != r.this.shape {
			c = applicable(parts, r.this.shape)
			cache.Store(c)
		}
		from := len(r.stack)
		for _, part := range c.parts {
			if err := part(r); err != nil {
				return err
			}
		}
		return r.distinct(from)
	}
}

func applicable(parts []unionPart, s *shape) *unionCache {
	c := &unionCache{shape: s}
	for _, part := range parts {
		if part.head == "" || s == nil || s.isType(part.head) {
			c.parts = append(c.parts, part.step)
		}
	}
	return c
}

// emptyOnEmpty are functions that R4's search parameters use, and that make
// nothing of nothing.
var emptyOnEmpty = []string{"where", "as", "ofType", "resolve", "extension", "first"}

// headType is the type name that a path begins with, "" if there is none or
// the path could give something for another type.
func headType(n node) string {
	for {
		switch at := n.(type) {
		case *member:
			if at.recv == nil {
				if isTypeLike(at.name) {
					return at.name
				}
				return ""
			}
			n = at.recv
		case *call:
			if at.recv == nil || !slices.Contains(emptyOnEmpty, at.name) {
				return ""
			}
			n = at.recv
		case *typeTest:
			if at.op != "as" {
				return ""
			}
			n = at.operand
		default:
			return ""
		}
	}
}

// isTypeLike reports whether a name is spelt like a type that is no primitive.
func isTypeLike(name string) bool { return name != "" && name[0] >= 'A' && name[0] <= 'Z' }
