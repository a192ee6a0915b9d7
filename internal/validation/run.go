package validation

import (
	"slices"
	"strings"

	"starling/internal/fhir"
	"starling/internal/fhir/element"
)

// run is the check of one resource.
type run struct {
	validator *Validator
	root      element.Node
	issues    []fhir.Issue
	contained bool // the resource being checked is a contained one
}

// resource checks a resource, of type want or of any if that is "".
func (r *run) resource(n element.Node, want string) {
	if n.Kind() != element.Object {
		r.issue(n, fhir.IssueStructure, "a resource must be a JSON object, found %s", describe(n))
		return
	}
	t := n.Get("resourceType")
	switch name := t.Str(); {
	case !t.Exists():
		r.issue(n, fhir.IssueRequired, "the resource has no resourceType")
	case t.Kind() != element.String:
		r.issue(n, fhir.IssueStructure, "resourceType must be a string, found %s", describe(t))
	case want != "" && name != want:
		r.issue(n, fhir.IssueInvalid, "resourceType is %s, expected %q", describe(t), want)
	case !r.validator.registry.IsResourceType(name):
		r.issue(n, fhir.IssueStructure, "there is no resource type %s", describe(t))
	default:
		r.object(n, r.validator.shapeOf(name))
	}
}

// object checks the members of an object, and that none is missing.
func (r *run) object(n element.Node, s *shape) {
	var seen slotSet
	for child := range n.Children() {
		if r.full() {
			return
		}
		m := s.members[child.Name()]
		switch {
		case m == nil:
			r.unknown(child, s)
			continue
		case m.kind == memberResourceType:
			continue
		}
		if seen.has(m.slot.index) {
			r.again(n, child, s, m)
		}
		seen.add(m.slot.index)
		if m.slot.list {
			r.list(n, child, m)
		} else {
			r.single(n, child, m)
		}
	}
	if !seen.covers(&s.required) {
		r.missing(n, s, &seen)
	}
	for _, rule := range s.rules {
		rule(r, n)
	}
}

// again checks a member whose element another member had before: a primitive
// and its `_name` may stand side by side, two types of a choice may not.
func (r *run) again(parent, child element.Node, s *shape, m *member) {
	for other := range parent.Children() {
		if other.Same(child) {
			return
		}
		o := s.members[other.Name()]
		if o != nil && o.slot == m.slot && o.typeName != m.typeName {
			r.issue(child, fhir.IssueStructure, "%s and %s are both present, but %s[x] may have one type only", o.name, m.name, m.slot.element.Name)
			return
		}
	}
}

func (r *run) missing(n element.Node, s *shape, seen *slotSet) {
	for _, slot := range s.slots {
		if s.required.has(slot.index) && !seen.has(slot.index) {
			name := slot.element.Name
			r.issueAt(r.location(n)+"."+name, fhir.IssueRequired, "%s is required, but missing", slot.element.Path)
		}
	}
}

func (r *run) single(parent, n element.Node, m *member) {
	switch n.Kind() {
	case element.Array:
		r.issue(n, fhir.IssueStructure, "%s does not repeat: expected %s, found an array", m.slot.element.Path, m.expected())
	case element.Null:
		r.issue(n, fhir.IssueStructure, "%s is null; leave the member out instead", m.slot.element.Path)
	default:
		r.value(n, m)
	}
}

func (r *run) list(parent, n element.Node, m *member) {
	if n.Kind() != element.Array {
		r.issue(n, fhir.IssueStructure, "%s may repeat: expected an array, found %s", m.slot.element.Path, describe(n))
		return
	}
	if n.IsEmpty() {
		r.issue(n, fhir.IssueStructure, "%s is an empty array; leave the member out instead", m.slot.element.Path)
	}
	var beside []element.Node // the items of the other member of a primitive
	index := 0
	for item := range n.Children() {
		if r.full() {
			return
		}
		if item.Kind() != element.Null {
			r.value(item, m)
		} else {
			if beside == nil {
				beside = slices.Collect(parent.Get(m.beside).Children())
			}
			r.padding(item, m, beside, index)
		}
		index++
	}
}

// padding checks null in a list: it may make room for an item of the other
// list of the same primitive, which holds its value or its extensions.
func (r *run) padding(n element.Node, m *member, beside []element.Node, index int) {
	var other element.Node
	if m.beside != "" && index < len(beside) {
		other = beside[index]
	}
	if !other.Exists() || other.Kind() == element.Null && m.kind == memberPrimitive {
		r.issue(n, fhir.IssueStructure, "null in %s, with no value or extension beside it that it makes room for", m.slot.element.Path)
	}
}

// value checks one value of a member.
func (r *run) value(n element.Node, m *member) {
	switch m.kind {
	case memberPrimitive:
		if !r.primitive(n, m) {
			return
		}
	case memberExtra:
		r.element(n, m, r.validator.shapeOf("Element"))
	case memberResource:
		r.inner(n, m)
	default:
		s := m.own
		if s == nil {
			if s = m.loaded.Load(); s == nil {
				s = r.validator.shapeOf(m.typeName)
				m.loaded.Store(s)
			}
		}
		if !r.element(n, m, s) {
			return
		}
	}
	for _, rule := range m.rules {
		rule(r, n)
	}
}

// element checks a value that must be an object, and reports whether it is.
func (r *run) element(n element.Node, m *member, s *shape) bool {
	if n.Kind() != element.Object {
		r.issue(n, fhir.IssueStructure, "%s must be %s, found %s", m.slot.element.Path, m.expected(), describe(n))
		return false
	}
	if n.IsEmpty() {
		r.issue(n, fhir.IssueStructure, "%s is an empty object; leave it out instead", m.slot.element.Path)
		return false
	}
	if m.kind != memberExtra && hasIDAlone(n) {
		r.issue(n, fhir.IssueInvariant, "ele-1: %s has an id, but neither a value nor children", m.slot.element.Path)
		return false
	}
	r.object(n, s)
	return true
}

func hasIDAlone(n element.Node) bool {
	for first := range n.Children() {
		return first.Name() == "id" && n.Len() == 1
	}
	return false
}

// primitive checks the format of a value and reports whether it is right.
func (r *run) primitive(n element.Node, m *member) bool {
	p := m.primitive
	kind := n.Kind()
	if kind == element.False {
		kind = element.True
	}
	switch {
	case kind != p.kind:
		r.issue(n, fhir.IssueStructure, "%s must be %s, found %s", m.slot.element.Path, m.expected(), describe(n))
		return false
	case kind == element.String && len(n.Raw()) == len(`""`):
		r.issue(n, fhir.IssueValue, "%s is an empty string; leave it out instead", m.slot.element.Path)
		return false
	}
	if p.fault == nil {
		return true
	}
	if fault := p.fault(n.Literal()); fault != nil {
		r.issue(n, fault.code, "%s is %s: %s", m.slot.element.Path, describe(n), fault.message)
		return false
	}
	return true
}

// inner checks a resource inside of another: contained, or in a Bundle's entry
// or a parameter.
func (r *run) inner(n element.Node, m *member) {
	contained := m.slot.element.Name == "contained"
	if contained && r.contained {
		r.issue(n, fhir.IssueInvariant, "dom-2: a contained resource contains another")
		return
	}
	before := r.contained
	r.contained = contained
	r.resource(n, "")
	r.contained = before
}

func (r *run) unknown(n element.Node, s *shape) {
	name := n.Name()
	message := "%s has no element %s"
	args := []any{s.name, quote(name)}
	if near := nearest(name, s.members); near != "" {
		message += "; did you mean %q?"
		args = append(args, near)
	} else if strings.Contains(s.name, ".") {
		message += " in FHIR R4"
	}
	r.issue(n, fhir.IssueStructure, message, args...)
}

// expected names what JSON a member must hold.
func (m *member) expected() string {
	if m.primitive == nil || m.kind == memberExtra {
		return "a JSON object"
	}
	switch m.primitive.kind {
	case element.True:
		return "a JSON boolean"
	case element.Number:
		return "a JSON number"
	}
	return "a JSON string"
}
