package validation

import (
	"fmt"

	"starling/internal/fhir/definition"
	"starling/internal/fhir/fhirpath"
)

// compile makes the shape of a type, and of the elements below it that have
// children of their own. Other types it refers to by name, to be compiled when
// a resource has one.
func compile(v *Validator, t *definition.Type) *shape {
	c := compiler{validator: v, shapes: map[*definition.Element]*shape{}}
	s := c.shape(t.Name, t.Root)
	s.typeName, s.resource = t.Name, t.Kind == definition.KindResource
	if t.Kind == definition.KindResource {
		s.members["resourceType"] = &member{name: "resourceType", kind: memberResourceType}
	}
	s.rules = append(s.rules, typeRules(t.Name)...)
	// Age, Duration and Distance are quantities of certain units.
	s.rules = append(s.rules, bindingRules("Quantity", t.Root.Binding)...)
	c.deepen()
	return s
}

type compiler struct {
	validator *Validator
	shapes    map[*definition.Element]*shape // elements may refer to one another
}

func (c *compiler) shape(name string, e *definition.Element) *shape {
	v := c.validator
	if e.Content != nil {
		e, name = e.Content, e.Content.Path
	}
	if s := c.shapes[e]; s != nil {
		return s
	}
	if len(e.Children) > maxSlots {
		panic(fmt.Sprintf("validation: %s has %d elements", name, len(e.Children)))
	}
	s := &shape{name: name, members: make(map[string]*member, 2*len(e.Children)), slots: make([]*slot, len(e.Children))}
	c.shapes[e] = s
	for i, child := range e.Children {
		s.slots[i] = &slot{element: child, index: i, list: child.Max != 1 && child.Max != 0}
		if child.Min > 0 {
			s.required.add(i)
		}
		for _, name := range jsonNames(child) {
			c.member(s, s.slots[i], name, e)
			c.member(s, s.slots[i], "_"+name, e)
		}
	}
	s.invariants = v.invariants(s, e.Constraint)
	return s
}

// deepen marks the shapes that FHIRPath must reach, and compiles the ways to
// them. Elements may contain themselves, so it goes on until nothing changes.
func (c *compiler) deepen() {
	for _, s := range c.shapes {
		for _, i := range s.invariants {
			s.deep = s.deep || !i.presenceDecides
		}
	}
	for changed := true; changed; {
		changed = false
		for _, s := range c.shapes {
			for _, m := range s.members {
				if m.slot == nil || !m.deep() {
					continue
				}
				if m.slot.navigate == nil {
					m.slot.navigate = c.validator.navigation(m.slot.element.Name)
				}
				changed = changed || !s.deep
				s.deep = true
			}
		}
	}
}

// navigation is the expression for an element of a name.
func (v *Validator) navigation(name string) *fhirpath.Expression {
	return v.expression("`" + name + "`")
}

// jsonNames are the names an element's value may have in JSON.
func jsonNames(e *definition.Element) []string {
	if !e.Choice {
		return []string{e.Name}
	}
	names := make([]string, len(e.Types))
	for i, t := range e.Types {
		names[i] = e.Name + capital(t.Code)
	}
	return names
}

// member adds a member, if the element has one of that name.
func (c *compiler) member(s *shape, slot *slot, name string, parent *definition.Element) {
	property, ok := parent.Property(name)
	if !ok {
		return
	}
	m := &member{name: name, slot: slot, typeName: property.Type}
	s.members[name] = m
	switch {
	case property.Extra:
		m.kind, m.beside = memberExtra, name[1:]
		s.members[m.beside].beside = name
		return
	case slot.element.Children != nil:
		m.own = c.shape(slot.element.Path, slot.element)
	case property.Type == "Resource":
		m.kind = memberResource
	case primitives[property.Type] != nil:
		m.kind, m.primitive = memberPrimitive, primitives[property.Type]
	}
	c.rules(m, slot.element, property.Type)
}

// rules adds what an element asks of the values of one of its members.
func (c *compiler) rules(m *member, e *definition.Element, typeName string) {
	v := c.validator
	switch typeName {
	case "canonical", "uri", "url":
		m.link = true
	}
	m.link = m.link || e.Path == "Reference.reference"
	if e.Name == "id" && typeName == "string" { // a resource's has the type id
		m.rules = append(m.rules, elementIDRule)
	}
	m.rules = append(m.rules, bindingRules(typeName, e.Binding)...)
	for i := range e.Types {
		t := &e.Types[i]
		if t.Code != typeName {
			continue
		}
		if targets := v.targets(t.TargetProfiles); typeName == "Reference" && targets != nil {
			m.rules = append(m.rules, targets.rule)
		}
		if len(t.Profiles) > 0 && m.own == nil {
			m.rules = append(m.rules, profilesRule(typeName, t.Profiles))
		}
	}
	if m.own == nil && m.kind != memberResource {
		m.invariants = v.invariants(nil, e.Constraint)
	}
}

func capital(s string) string { return string(s[0]&^0x20) + s[1:] }
