package validation

import (
	"strconv"
	"strings"

	"starling/internal/fhir/element"
)

// location is the FHIRPath of a node, "Observation.value.ofType(Quantity).unit".
// Where the definitions do not know the way, the JSON names stand. It walks
// from the root.
func (r *run) location(n element.Node) string {
	at := r.root
	path := at.Get("resourceType").Str()
	if path == "" {
		path = "Resource"
	}
	s := r.shapeAt(at)
	for !at.Same(n) {
		child, position := childToward(at, n)
		if !child.Exists() {
			break
		}
		if at.Kind() == element.Array {
			path += "[" + strconv.Itoa(position) + "]"
			at = child
			if s == nil {
				s = r.shapeAt(at)
			}
			continue
		}
		at = child
		path, s = r.step(path, at, s)
	}
	return path
}

// step adds a member's name and gives the shape of its value.
func (r *run) step(path string, n element.Node, s *shape) (string, *shape) {
	name := n.Name()
	var m *member
	if s != nil {
		m = s.members[name]
	}
	switch {
	case m == nil || m.slot == nil:
		return path + "." + shorten(strings.TrimPrefix(name, "_")), nil
	case m.slot.element.Choice:
		path += "." + m.slot.element.Name + ".ofType(" + m.typeName + ")"
	default:
		path += "." + m.slot.element.Name
	}
	switch {
	case m.kind == memberExtra:
		return path, r.validator.shapeOf("Element")
	case m.kind == memberResource:
		return path, r.shapeAt(n)
	case m.kind == memberPrimitive:
		return path, nil
	case m.own != nil:
		return path, m.own
	}
	return path, r.validator.shapeOf(m.typeName)
}

// shapeAt is the shape of a resource, nil if it is none.
func (r *run) shapeAt(n element.Node) *shape {
	name := n.Get("resourceType").Str()
	if !r.validator.registry.IsResourceType(name) {
		return nil
	}
	return r.validator.shapeOf(name)
}

// childToward is the child of at that n is or lies in, and its position.
func childToward(at, n element.Node) (child element.Node, position int) {
	start, _ := n.Span()
	for child = range at.Children() {
		if _, end := child.Span(); start < end {
			return child, position
		}
		position++
	}
	return element.Node{}, 0
}
