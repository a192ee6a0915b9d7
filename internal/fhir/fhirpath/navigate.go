package fhirpath

import (
	"slices"
	"strings"
	"sync/atomic"

	"starling/internal/fhir/element"
)

// site is one place in an expression where a member is looked up. It remembers
// the shape it met last, which is nearly always the one it meets next.
type site struct {
	name  string
	cache atomic.Pointer[slot]
}

// find gives the slot of the site's name, nil if the shape has none.
func (s *site) find(of *shape) *slot {
	found := s.cache.Load()
	if found == nil || found.of != of {
		of.load()
		if found = of.members[s.name]; found == nil {
			found = &of.nothing
		}
		s.cache.Store(found)
	}
	if found == &of.nothing {
		return nil
	}
	return found
}

// pushMember pushes the item's members of the site's name.
func (r *run) pushMember(item Item, s *site) error {
	if item.shape == nil {
		return r.pushTypeInfo(item, s.name)
	}
	if item.value != nil {
		return nil // unresolved: nothing is known but its type
	}
	slot := s.find(item.shape)
	if slot == nil {
		return nil
	}
	object := item.node
	if item.shape.primitive {
		object = item.extra // id and extension of a primitive
	}
	if object.Kind() != element.Object {
		return nil
	}
	if err := r.tick(object.Len() / 16); err != nil {
		return err
	}
	if slot.choice {
		return r.pushChoice(object, slot)
	}
	value := object.Get(slot.name)
	var extra element.Node
	if slot.extra != "" && (!value.Exists() || object.Len() > 1) {
		extra = object.Get(slot.extra)
	}
	return r.pushValues(slot.shape, value, extra)
}

// pushChoice finds name[x] among the members, whatever type it carries.
func (r *run) pushChoice(object element.Node, slot *slot) error {
	first := slot.name[0]
	for member := range object.Children() {
		name := member.Name()
		if name == "" || name[0] != first && name[0] != '_' {
			continue
		}
		if err := r.pushChosen(object, slot, member, name); err != nil {
			return err
		}
	}
	return nil
}

// pushChosen pushes a member if it is of the choice: its value, or its "_name"
// alone.
func (r *run) pushChosen(object element.Node, slot *slot, member element.Node, name string) error {
	extra := name[0] == '_'
	prefix := slot.name
	if extra {
		prefix = slot.extra
	}
	suffix, ok := strings.CutPrefix(name, prefix)
	if !ok || prefix == "" {
		return nil
	}
	shape := slot.types[suffix]
	switch {
	case shape == nil, extra && (!shape.primitive || object.Get(name[1:]).Exists()):
		return nil
	case extra:
		return r.pushValues(shape, element.Node{}, member)
	case shape.primitive:
		return r.pushValues(shape, member, object.Get("_"+name))
	}
	return r.pushValues(shape, member, element.Node{})
}

// pushValues pushes a member's value or, of an array, its items; each joined
// with what the "_name" sibling has for it.
func (r *run) pushValues(s *shape, value, extra element.Node) error {
	if value.Kind() != element.Array && extra.Kind() != element.Array {
		return r.pushNode(s, value, extra)
	}
	if extra.Kind() == 0 {
		for item := range value.Children() {
			if err := r.pushNode(s, item, element.Node{}); err != nil {
				return err
			}
		}
		return nil
	}
	values, extras := items(value), items(extra)
	for i := range max(len(values), len(extras)) {
		if err := r.pushNode(s, nodeAt(values, i), nodeAt(extras, i)); err != nil {
			return err
		}
	}
	return nil
}

// items lists an array's items: Node.At counts from the first each time.
func items(array element.Node) []element.Node {
	return slices.AppendSeq(make([]element.Node, 0, array.Len()), array.Children())
}

func nodeAt(nodes []element.Node, i int) element.Node {
	if i < len(nodes) {
		return nodes[i]
	}
	return element.Node{}
}

// pushNode pushes one element, unless neither node is a value.
func (r *run) pushNode(s *shape, value, extra element.Node) error {
	if value.Kind() == element.Null {
		value = element.Node{}
	}
	if extra.Kind() != element.Object {
		extra = element.Node{}
	}
	if !value.Exists() && !extra.Exists() {
		return nil
	}
	if s.name == "Resource" {
		s = s.model.resourceShape(value, s)
	}
	return r.push(Item{node: value, extra: extra, shape: s})
}

// resource is a resource whose type is told by its resourceType.
func (m *model) resource(n element.Node) Item {
	return Item{node: n, shape: m.resourceShape(n, m.shape("Resource"))}
}

// resourceShape is the shape of a contained resource, by its resourceType.
func (m *model) resourceShape(value element.Node, otherwise *shape) *shape {
	name := value.Get("resourceType").Str()
	if name == "" || isPrimitiveName(name) {
		return otherwise
	}
	s := m.shape(name)
	if s.load(); s.resource {
		return s
	}
	return otherwise
}

// pushChildren pushes every child of the item, in the order of the JSON.
func (r *run) pushChildren(item Item) error {
	if item.shape == nil || item.value != nil {
		return nil
	}
	item.shape.load()
	object := item.node
	if item.shape.primitive {
		object = item.extra
	}
	count, extras := 0, false
	for member := range object.Children() {
		name := member.Name()
		count++
		extras = extras || name != "" && name[0] == '_'
	}
	if extras { // pushChild looks for them
		if err := r.tick(count * count / 64); err != nil {
			return err
		}
	}
	for member := range object.Children() {
		if err := r.pushChild(item.shape, object, member, extras); err != nil {
			return err
		}
	}
	return nil
}

// pushChild pushes a member with its "_name" sibling, if the object has some.
func (r *run) pushChild(s *shape, object, member element.Node, extras bool) error {
	name := member.Name()
	if name == "" || name == "resourceType" {
		return nil
	}
	if name[0] == '_' {
		if object.Get(name[1:]).Exists() {
			return nil // it comes with its primitive
		}
		if shape := s.json[name[1:]]; shape != nil && shape.primitive {
			return r.pushValues(shape, element.Node{}, member)
		}
		return nil
	}
	shape := s.json[name]
	if shape == nil {
		return nil
	}
	var extra element.Node
	if extras && shape.primitive {
		extra = object.Get("_" + name)
	}
	return r.pushValues(shape, member, extra)
}

// pushTypeInfo gives the members of what type() returns.
func (r *run) pushTypeInfo(item Item, name string) error {
	info, ok := item.value.(typeInfo)
	switch {
	case ok && name == "namespace":
		return r.pushValue(info.namespace)
	case ok && name == "name":
		return r.pushValue(info.name)
	}
	return nil
}
