package main

import (
	"fmt"
	"maps"
	"reflect"
	"slices"
)

// difference is a member that two definitions do not agree on.
type difference struct {
	path []string // as correction.What
	a, b any      // nil: absent
}

// diff compares values member by member. Arrays whose items have names are
// compared by name, and then by order.
func diff(path []string, a, b any) []difference {
	if reflect.DeepEqual(a, b) {
		return nil
	}
	switch x := a.(type) {
	case object:
		if y, ok := b.(object); ok {
			return diffMembers(path, x, y)
		}
	case []any:
		if y, ok := b.([]any); ok {
			p, order := byName(x)
			q, other := byName(y)
			if p != nil && q != nil {
				found := diffMembers(path, p, q)
				if len(found) == 0 {
					return []difference{{path, order, other}}
				}
				return found
			}
		}
	}
	return []difference{{path, a, b}}
}

func diffMembers(path []string, a, b object) []difference {
	names := maps.Clone(a)
	maps.Copy(names, b)
	var found []difference
	for _, name := range slices.Sorted(maps.Keys(names)) {
		found = append(found, diff(append(slices.Clone(path), name), a[name], b[name])...)
	}
	return found
}

// byName gives the items of an array by name, and the names in order; nil if
// some have none or the same.
func byName(items []any) (named object, order []any) {
	named = object{}
	for _, item := range items {
		name := itemName(item)
		if _, twice := named[name]; name == "" || twice {
			return nil, nil
		}
		named[name] = item
		order = append(order, name)
	}
	return named, order
}

func (d difference) String() string { return fmt.Sprintf("%q: %v → %v", d.path, d.a, d.b) }

// canonicalDifference is a difference in the definition of a canonical; its path is
// empty for a definition that only one side has.
type canonicalDifference struct {
	canonical string
	difference
}

// compare lists the differences between two sets.
func compare(a, b *definitions) []canonicalDifference {
	x, y := a.byCanonical(), b.byCanonical()
	all := maps.Clone(x)
	maps.Copy(all, y)
	var found []canonicalDifference
	for _, canonical := range slices.Sorted(maps.Keys(all)) {
		p, inA := x[canonical]
		q, inB := y[canonical]
		switch {
		case !inB:
			found = append(found, canonicalDifference{canonical, difference{a: "present"}})
		case !inA:
			found = append(found, canonicalDifference{canonical, difference{b: "present"}})
		default:
			for _, d := range diffMembers(nil, p, q) {
				found = append(found, canonicalDifference{canonical, d})
			}
		}
	}
	return found
}

func (s *definitions) byCanonical() map[string]object {
	m := map[string]object{}
	for _, d := range s.definitions {
		url := text(d["url"])
		if _, twice := m[url]; twice {
			url += "|" + text(d["version"])
		}
		m[url] = d
	}
	return m
}
