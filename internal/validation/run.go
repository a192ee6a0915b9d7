package validation

import (
	"slices"
	"strings"
	"time"

	"starling/internal/fhir"
	"starling/internal/fhir/element"
	"starling/internal/fhir/fhirpath"
)

// run is the check of one resource.
type run struct {
	validator *Validator
	root      element.Node
	advice    bool // what never refuses is told: codes outside of extensible bindings, missing narrative
	unasked   bool // rules hold that writes are not held to
	issues    []fhir.Issue

	softBindings bool // required bindings are taken as extensible

	errors   int // reported or probed
	warnings int
	advised  int // resources without narrative
	probing  int // issues are counted, not kept

	current   element.Node    // the resource being checked
	container element.Node    // the one that contains it, or itself
	contained bool            // they differ
	links     []link          // the "#id" of the container so far
	ids       map[string]bool // of elements of the current resource; nil: none
	indexed   element.Node    // whose contained resources byID has
	byID      map[string]element.Node
	bundle    element.Node
	entries   map[string]element.Node // of the Bundle, by fullUrl
	base      string                  // of relative references in the Bundle's entry

	env         fhirpath.Environment
	items       []fhirpath.Item // a stack of values that expressions gave
	evaluations int
	started     time.Time
	tooCostly   bool
	depth       int                  // of profiles within profiles
	by          string               // the profile by which is checked, "" for the type
	conforming  map[conformance]bool // asked before, in conformsTo
	reported    map[conformance]bool // by conform, deep within profiles
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
		r.typed(n, name)
	}
}

// typed checks a resource of a known type, as the current one.
func (r *run) typed(n element.Node, name string) {
	current, container, links, bundle, entries, ids := r.current, r.container, r.links, r.bundle, r.entries, r.ids
	r.current, r.ids = n, nil
	if !r.contained {
		r.container, r.links = n, nil
	}
	if name == "Bundle" {
		r.bundle, r.entries = n, nil
	}
	r.env.Resource = fhirpath.Item{}
	s := r.validator.shapeOf(name)
	r.object(n, s, fhirpath.Item{})
	r.whole(n, name)
	r.env.Resource = fhirpath.Item{}
	if !r.contained {
		r.links = links
	}
	r.current, r.container, r.ids = current, container, ids
	if name == "Bundle" { // else they are still the same, and entries may be known by now
		r.bundle, r.entries = bundle, entries
	}
}

// object checks the members of an object, that none is missing, and its rules.
// item is the object for FHIRPath, where its walker knew it.
func (r *run) object(n element.Node, s *shape, item fhirpath.Item) {
	var seen slotSet
	errors := r.errors
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
		items := len(r.items)
		if m.deep() {
			if !item.Exists() {
				item = r.item(n, s)
			}
			r.navigate(item, m)
		}
		if m.slot.list {
			r.list(n, child, m, r.items[items:])
		} else {
			r.single(n, child, m, r.items[items:])
		}
		r.items = r.items[:items]
	}
	if !seen.covers(&s.required) {
		r.missing(n, s, &seen)
	}
	for _, rule := range s.rules {
		rule(r, n)
	}
	// An element of the wrong structure breaks more rules than its author
	// needs to hear of.
	if s.resource || r.errors == errors {
		r.holds(n, s, seen, item)
	}
}

// navigate puts the values of a member's element on the stack of items.
func (r *run) navigate(item fhirpath.Item, m *member) {
	if m.slot.navigate == nil {
		return
	}
	r.items, _ = m.slot.navigate.Append(r.items, r.environment(), item)
}

// itemOf is the item of a value; items are in the order of the values.
func itemOf(n element.Node, items []fhirpath.Item) fhirpath.Item {
	for i := range items {
		if items[i].Node().Same(n) {
			return items[i]
		}
	}
	return fhirpath.Item{}
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
			r.issueBelow(n, name, fhir.IssueRequired, "%s is required, but missing", slot.element.Path)
		}
	}
}

func (r *run) single(parent, n element.Node, m *member, items []fhirpath.Item) {
	switch n.Kind() {
	case element.Array:
		r.issue(n, fhir.IssueStructure, "%s does not repeat: expected %s, found an array", m.slot.element.Path, m.expected())
	case element.Null:
		r.issue(n, fhir.IssueStructure, "%s is null; leave the member out instead", m.slot.element.Path)
	default:
		r.value(parent, n, m, items)
	}
}

func (r *run) list(parent, n element.Node, m *member, items []fhirpath.Item) {
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
			if len(items) > 0 && !items[0].Node().Same(item) {
				items = items[1:]
			}
			r.value(parent, item, m, items)
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

// value checks one value of a member of parent. items are those of the
// member's values, where they are known.
func (r *run) value(parent, n element.Node, m *member, items []fhirpath.Item) {
	errors := r.errors
	switch m.kind {
	case memberPrimitive:
		if !r.primitive(n, m) {
			return
		}
	case memberExtra:
		if !m.slot.list && hasIDAlone(n) && !parent.Get(m.beside).Exists() {
			r.breach(n, fhir.IssueInvariant, "ele-1", "%s has an id, but neither a value nor children", m.slot.element.Path)
			return
		}
		r.element(n, m, r.validator.shapeOf("Element"), fhirpath.Item{})
	case memberResource:
		r.inner(parent, n, m)
	default:
		s, item := m.own, fhirpath.Item{}
		if s == nil {
			if s = m.loaded.Load(); s == nil {
				s = r.validator.shapeOf(m.typeName)
				m.loaded.Store(s)
			}
		} else if s.deep {
			item = itemOf(n, items)
		}
		if !r.element(n, m, s, item) {
			return
		}
		if m.typeName == "Extension" {
			r.extension(parent, n, m)
		}
	}
	for _, rule := range m.rules {
		rule(r, n)
	}
	if len(m.invariants) > 0 && r.errors == errors {
		if item := itemOf(n, items); item.Exists() {
			for _, i := range m.invariants {
				r.evaluate(n, i, item)
			}
		}
	}
}

// element checks a value that must be an object, and reports whether it is.
func (r *run) element(n element.Node, m *member, s *shape, item fhirpath.Item) bool {
	if n.Kind() != element.Object {
		r.issue(n, fhir.IssueStructure, "%s must be %s, found %s", m.slot.element.Path, m.expected(), describe(n))
		return false
	}
	if n.IsEmpty() {
		r.issue(n, fhir.IssueStructure, "%s is an empty object; leave it out instead", m.slot.element.Path)
		return false
	}
	if m.kind != memberExtra && hasIDAlone(n) {
		r.breach(n, fhir.IssueInvariant, "ele-1", "%s has an id, but neither a value nor children", m.slot.element.Path)
		return false
	}
	r.object(n, s, item)
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
		if fault.key != "" {
			r.breach(n, fault.code, fault.key, "%s in %s, which is %s", fault.message, m.slot.element.Path, describe(n))
		} else {
			r.issue(n, fault.code, "%s is %s: %s", m.slot.element.Path, describe(n), fault.message)
		}
		return false
	}
	if m.link && n.Raw()[1] == '#' {
		start, _ := n.Span()
		r.links = append(r.links, link{n.Str(), start})
	}
	return true
}

// inner checks a resource inside of another: contained, or in a Bundle's entry
// or a parameter.
func (r *run) inner(parent, n element.Node, m *member) {
	contained := m.slot.element.Name == "contained"
	if contained && r.contained {
		r.breach(n, fhir.IssueInvariant, "dom-2", "a contained resource contains another")
		return
	}
	before, base := r.contained, r.base
	r.contained = contained
	if !contained {
		r.base = baseOf(parent.Get("fullUrl").Str())
	}
	r.resource(n, "")
	r.contained, r.base = before, base
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
