package validation

import (
	"slices"
	"strings"

	"starling/internal/fhir/definition"
	"starling/internal/fhir/element"
)

// prune takes away what the type asks anyway, since the walk along the type's
// shapes has checked it: a snapshot repeats all of it.
func (v *Validator) prune(c *constraint) {
	if d := c.defined; d != nil {
		if c.slice == "" {
			if c.min <= d.Min {
				c.min = 0
			}
			if c.max == d.Max {
				c.max = definition.Unbounded
			}
		}
		if sameTypes(c.types, d.Types) {
			c.types = nil
		}
		if c.binding != nil && d.Binding != nil && *c.binding == *d.Binding {
			c.binding = nil
		}
		if c.maxLength == d.MaxLength {
			c.maxLength = 0
		}
	}
	c.invariants = slices.DeleteFunc(c.invariants, func(i definition.Constraint) bool { return v.known(c, &i) })
	for _, s := range c.slices {
		v.prune(s)
	}
	for _, child := range c.children {
		v.prune(child)
	}
	c.children = slices.DeleteFunc(c.children, (*constraint).empty)
}

// known reports whether an invariant is one of the type.
func (v *Validator) known(c *constraint, i *definition.Constraint) bool {
	if byHand[i.Key] {
		return true
	}
	if name, own := strings.CutPrefix(i.Source, specificationBase); own && v.registry.Type(name) != nil {
		return true
	}
	if c.defined == nil {
		return false
	}
	for k := range c.defined.Constraint {
		if c.defined.Constraint[k].Key == i.Key && c.defined.Constraint[k].Expression == i.Expression {
			return true
		}
	}
	for k := range c.defined.Types {
		t := v.registry.Type(c.defined.Types[k].Code)
		if t == nil {
			continue
		}
		for m := range t.Root.Constraint {
			if t.Root.Constraint[m].Key == i.Key {
				return true
			}
		}
	}
	return false
}

func sameTypes(a, b []definition.TypeRef) bool {
	return slices.EqualFunc(a, b, func(x, y definition.TypeRef) bool {
		return x.Code == y.Code && slices.Equal(x.Profiles, y.Profiles) &&
			slices.Equal(x.TargetProfiles, y.TargetProfiles) && slices.Equal(x.Aggregation, y.Aggregation)
	})
}

// empty reports whether a constraint asks nothing.
func (c *constraint) empty() bool {
	return c.min == 0 && c.max == definition.Unbounded && c.types == nil && !c.fixed.Exists() && !c.pattern.Exists() &&
		!c.least.value.Exists() && !c.most.value.Exists() && c.maxLength == 0 && c.binding == nil && len(c.invariants) == 0 &&
		len(c.slices) == 0 && (c.slicing == nil || c.slicing.rules != "closed") && len(c.children) == 0
}

// finish compiles the rules of a tree, and keeps nothing of the text that it
// was read from but the values it compares with.
func (v *Validator) finish(c *constraint) {
	c.navigate = v.navigation(c.name)
	c.fixed, c.pattern = own(c.fixed), own(c.pattern)
	c.least.value, c.most.value = own(c.least.value), own(c.most.value)
	c.bound = newBinding(c.binding)
	c.compiled = v.invariants(nil, c.invariants)
	for i := range c.types {
		t := &c.types[i]
		rule := typeRule{code: t.Code, profiles: t.Profiles, aggregation: t.Aggregation}
		if len(t.TargetProfiles) > 0 {
			rule.targets = v.targets(t.TargetProfiles)
		}
		c.ofType = append(c.ofType, rule)
	}
	for _, child := range c.children {
		v.finish(child)
	}
	if len(c.slices) > 0 {
		v.finishSlices(c)
	}
}

// own copies a value out of the document it stands in.
func own(n element.Node) element.Node {
	if !n.Exists() || n.Index() == 0 {
		return n
	}
	tree, err := element.Parse(element.AppendCompact(nil, n), element.StoredLimits)
	if err != nil {
		return n
	}
	return tree.Root()
}
