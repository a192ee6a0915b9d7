package validation

import (
	"strconv"
	"strings"

	"starling/internal/fhir/definition"
	"starling/internal/fhir/element"
	"starling/internal/fhir/fhirpath"
)

// constraint is what a profile asks of an element beyond its type: a node of a
// tree that has only the elements a profile says something new about.
type constraint struct {
	name  string // "category", "value"
	slice string // name of the slice, "" for all values of the element
	path  string // for messages: "Observation.category:VSCat"
	// defined is the element in the type, nil where it cannot be told.
	defined  *definition.Element
	typeName string // of its values, where there is one only

	min, max   int // max: definition.Unbounded for any number
	types      []definition.TypeRef
	fixed      element.Node
	pattern    element.Node
	least      extreme
	most       extreme
	maxLength  int
	binding    *definition.Binding
	invariants []definition.Constraint

	slicing  *slicing
	slices   []*constraint
	children []*constraint

	navigate *fhirpath.Expression
	bound    *binding
	compiled []*invariant
	ofType   []typeRule
	tests    func(*Validator) []sliceTest // of a slice: all must hold
}

// extreme is minValue or maxValue, with the type in its name.
type extreme struct {
	value    element.Node
	typeName string
}

// slicing is ElementDefinition.slicing.
type slicing struct {
	discriminators []discriminator
	ordered        bool
	rules          string // open, closed, openAtEnd
}

type discriminator struct{ kind, path string }

// merge takes over what an ElementDefinition says.
func (c *constraint) merge(n element.Node) {
	var types []definition.TypeRef
	for member := range n.Children() {
		name := member.Name()
		switch name {
		case "min":
			c.min, _ = strconv.Atoi(member.Literal())
		case "max":
			c.max = maximum(member.Str())
		case "maxLength":
			c.maxLength, _ = strconv.Atoi(member.Literal())
		case "type":
			for t := range member.Children() {
				// Ids and the like have types of FHIRPath, and no other.
				if !strings.HasPrefix(t.Get("code").Str(), "http://hl7.org/fhirpath/") {
					types = append(types, readType(t))
				}
			}
		case "binding":
			c.binding = &definition.Binding{Strength: member.Get("strength").Str(), ValueSet: member.Get("valueSet").Str()}
		case "slicing":
			c.slicing = readSlicing(member)
		case "constraint":
			c.constrain(member)
		default:
			c.mergeValue(name, member)
		}
	}
	if types != nil {
		c.types = types
	}
}

func (c *constraint) mergeValue(name string, member element.Node) {
	switch {
	case strings.HasPrefix(name, "fixed"):
		c.fixed = member
	case strings.HasPrefix(name, "pattern"):
		c.pattern = member
	case strings.HasPrefix(name, "minValue"):
		c.least = extreme{member, lowerFirst(name[len("minValue"):])}
	case strings.HasPrefix(name, "maxValue"):
		c.most = extreme{member, lowerFirst(name[len("maxValue"):])}
	}
}

// lowerFirst makes the name of a type of the end of a member's name. Only
// primitives and Quantity can be ordered.
func lowerFirst(s string) string {
	if s == "Quantity" || s == "" {
		return s
	}
	return string(s[0]|0x20) + s[1:]
}

func (c *constraint) constrain(list element.Node) {
	for n := range list.Children() {
		added := definition.Constraint{
			Key: n.Get("key").Str(), Severity: n.Get("severity").Str(), Human: n.Get("human").Str(),
			Expression: n.Get("expression").Str(), Source: n.Get("source").Str(),
		}
		known := false
		for i := range c.invariants {
			known = known || c.invariants[i].Key == added.Key
		}
		if !known {
			c.invariants = append(c.invariants, added)
		}
	}
}

func maximum(s string) int {
	if n, err := strconv.Atoi(s); err == nil && n >= 0 {
		return n
	}
	return definition.Unbounded
}

func readType(n element.Node) definition.TypeRef {
	return definition.TypeRef{
		Code: n.Get("code").Str(), Profiles: texts(n.Get("profile")),
		TargetProfiles: texts(n.Get("targetProfile")), Aggregation: texts(n.Get("aggregation")),
	}
}

func texts(list element.Node) []string {
	var s []string
	for n := range list.Children() {
		s = append(s, n.Str())
	}
	return s
}

func readSlicing(n element.Node) *slicing {
	s := &slicing{ordered: n.Get("ordered").Kind() == element.True, rules: n.Get("rules").Str()}
	for d := range n.Get("discriminator").Children() {
		s.discriminators = append(s.discriminators, discriminator{d.Get("type").Str(), d.Get("path").Str()})
	}
	return s
}
