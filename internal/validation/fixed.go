package validation

import (
	"fmt"

	"github.com/cockroachdb/apd/v3"

	"starling/internal/fhir"
	"starling/internal/fhir/element"
	"starling/internal/fhir/fhirpath"
)

// equal reports whether a value is exactly a fixed one: the same members in
// any order, the same items in the same order, numbers by their value.
func equal(fixed, n element.Node) bool {
	if fixed.Kind() != n.Kind() {
		return false
	}
	switch fixed.Kind() {
	case element.Object:
		if fixed.Len() != n.Len() {
			return false
		}
		for member := range fixed.Children() {
			if !equal(member, n.Get(member.Name())) {
				return false
			}
		}
		return true
	case element.Array:
		if fixed.Len() != n.Len() {
			return false
		}
		i := 0
		for item := range fixed.Children() {
			if !equal(item, n.At(i)) {
				return false
			}
			i++
		}
		return true
	}
	return samePrimitive(fixed, n)
}

// holdsPattern reports whether a value has all that a pattern has: its members,
// and for each item of its lists one that has it.
func holdsPattern(pattern, n element.Node) bool {
	if pattern.Kind() != n.Kind() {
		return false
	}
	switch pattern.Kind() {
	case element.Object:
		for member := range pattern.Children() {
			if !holdsPattern(member, n.Get(member.Name())) {
				return false
			}
		}
		return true
	case element.Array:
		for item := range pattern.Children() {
			found := false
			for candidate := range n.Children() {
				if found = holdsPattern(item, candidate); found {
					break
				}
			}
			if !found {
				return false
			}
		}
		return true
	}
	return samePrimitive(pattern, n)
}

func samePrimitive(a, b element.Node) bool {
	if a.Kind() != element.Number {
		return a.Literal() == b.Literal()
	}
	x, _, errX := apd.NewFromString(a.Literal())
	y, _, errY := apd.NewFromString(b.Literal())
	return errX == nil && errY == nil && x.Cmp(y) == 0
}

// show is a value within a sentence, as JSON.
func show(n element.Node) string {
	if !n.Exists() {
		return "no value"
	}
	return shortenTo(string(element.AppendCompact(nil, n)), 200)
}

// within checks minValue and maxValue. What cannot be compared (different
// units, a precision that leaves it open) passes.
func (r *run) within(c *constraint, item fhirpath.Item) {
	if c.least.value.Exists() && r.ordered(item, "<", c.least) {
		r.issue(at(item), fhir.IssueInvalid, "%s must be at least %s, found %s", c.path, show(c.least.value), show(item.Node()))
	}
	if c.most.value.Exists() && r.ordered(item, ">", c.most) {
		r.issue(at(item), fhir.IssueInvalid, "%s must be at most %s, found %s", c.path, show(c.most.value), show(item.Node()))
	}
}

// ordered reports whether an item is known to be before or behind an extreme.
func (r *run) ordered(item fhirpath.Item, operator string, e extreme) bool {
	if item.Type() != e.typeName && item.Is("Quantity") != (e.typeName == "Quantity") {
		return false
	}
	limit := fhirpath.Element(r.validator.registry, e.typeName, e.value)
	expression := r.validator.expression(fmt.Sprintf("$this %s %%limit", operator))
	env := *r.environment()
	env.Variables = map[string]fhirpath.Collection{"limit": {limit}}
	value, known, err := expression.Test(&env, item)
	return err == nil && known && value
}
