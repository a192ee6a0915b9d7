package fhirpath

import (
	"strings"

	"starling/internal/fhir/element"
)

// deepEqual compares two elements with all they contain. The order of an
// object's members does not count, that of an array does; numbers compare by
// value.
func (r *run) deepEqual(a, b element.Node) (bool, error) {
	if err := r.tick(costOf(a)); err != nil {
		return false, err
	}
	if a.Kind() != b.Kind() || a.Len() != b.Len() {
		return false, nil
	}
	switch a.Kind() {
	case element.String:
		return a.Str() == b.Str(), nil
	case element.Number:
		return equalNumbers(a, b), nil
	case element.Object:
		for member := range a.Children() {
			other := b.Get(member.Name())
			if !other.Exists() {
				return false, nil
			}
			if same, err := r.deepEqual(member, other); !same || err != nil {
				return false, err
			}
		}
	case element.Array:
		others := items(b)
		i := 0
		for item := range a.Children() {
			if same, err := r.deepEqual(item, others[i]); !same || err != nil {
				return false, err
			}
			i++
		}
	}
	return true, nil
}

// equalNumbers compares by value; without exponents the digits tell.
func equalNumbers(a, b element.Node) bool {
	x, y := a.Literal(), b.Literal()
	if x == y {
		return true
	}
	if !strings.ContainsAny(x, "eE") && !strings.ContainsAny(y, "eE") {
		return significant(x) == significant(y)
	}
	p, okP := parseDecimal(x)
	q, okQ := parseDecimal(y)
	return okP && okQ && p.Cmp(q) == 0
}

// significant is a JSON number without the zeros that do not change it.
func significant(number string) string {
	if strings.Contains(number, ".") {
		number = strings.TrimRight(strings.TrimRight(number, "0"), ".")
	}
	if number == "-0" {
		return "0"
	}
	return number
}

// deepEquivalent is deepEqual without regard to the order of arrays, the case
// of strings or the last digits of numbers.
func (r *run) deepEquivalent(a, b element.Node) (bool, error) {
	if err := r.tick(costOf(a)); err != nil {
		return false, err
	}
	if a.Kind() != b.Kind() || a.Len() != b.Len() {
		return false, nil
	}
	switch a.Kind() {
	case element.String:
		return folded(a.Str()) == folded(b.Str()), nil
	case element.Number:
		x, okX := parseDecimal(a.Literal())
		y, okY := parseDecimal(b.Literal())
		return okX && okY && equivalentDecimals(x, y), nil
	case element.Object:
		for member := range a.Children() {
			other := b.Get(member.Name())
			if !other.Exists() {
				return false, nil
			}
			if same, err := r.deepEquivalent(member, other); !same || err != nil {
				return false, err
			}
		}
	case element.Array:
		return r.equivalentArrays(a, b)
	}
	return true, nil
}

func (r *run) equivalentArrays(a, b element.Node) (bool, error) {
	others := items(b)
	used := make([]bool, len(others))
	for item := range a.Children() {
		found := false
		for j := range used {
			if used[j] {
				continue
			}
			same, err := r.deepEquivalent(item, others[j])
			if err != nil {
				return false, err
			}
			if same {
				used[j], found = true, true
				break
			}
		}
		if !found {
			return false, nil
		}
	}
	return true, nil
}

// costOf is what comparing an element takes, its children's own apart: a
// member's counterpart is looked up among all.
func costOf(n element.Node) int {
	if n.Kind() != element.Object {
		return 1
	}
	return 1 + n.Len()*n.Len()/64
}
