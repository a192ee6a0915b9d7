package fhirpath

import (
	"slices"

	"starling/internal/fhir"
)

// Check verifies the expression against the definitions, for a focus of that
// type: every element it names must be one that its parent can have, a path
// must not begin with another type, and order must not be asked of children()
// and descendants(). Evaluation is lenient about all three; whoever accepts
// expressions from others can refuse what can never give anything. The error
// is an *Error.
func (e *Expression) Check(t fhir.ResourceType) error {
	c := checker{e.model}
	_, err := c.check(e.root, c.named(string(t)))
	return located(err, e.text)
}

// Unknown names, without the %, a variable of the expression that an evaluation finds
// in Environment.Variables alone; "" if there is none.
func (e *Expression) Unknown() string { return unknownIn(e.root) }

func unknownIn(n node) string {
	var parts []node
	switch n := n.(type) {
	case *variable:
		if !isGiven(n.name) {
			return n.name
		}
	case *member:
		parts = []node{n.recv}
	case *call:
		parts = append([]node{n.recv}, n.args...)
	case *indexer:
		parts = []node{n.recv, n.index}
	case *unary:
		parts = []node{n.operand}
	case *typeTest:
		parts = []node{n.operand}
	case *binary:
		parts = []node{n.left, n.right}
	}
	for _, part := range parts {
		if name := unknownIn(part); name != "" {
			return name
		}
	}
	return ""
}

// typeSet is what an expression can give, as far as the definitions tell.
type typeSet struct {
	open      bool     // could be anything
	shapes    []*shape // if not open
	unordered bool
}

var anything = typeSet{open: true}

type checker struct{ model *model }

// named is the set of one type. Of Resource, anything may be meant.
func (c checker) named(name string) typeSet {
	s := c.model.shape(name)
	if s.load(); !s.known || name == "Resource" {
		return anything
	}
	return typeSet{shapes: []*shape{s}}
}

func (a typeSet) or(b typeSet) typeSet {
	if a.open || b.open {
		return typeSet{open: true, unordered: a.unordered || b.unordered}
	}
	u := typeSet{shapes: slices.Clone(a.shapes), unordered: a.unordered || b.unordered}
	for _, s := range b.shapes {
		if !slices.Contains(u.shapes, s) {
			u.shapes = append(u.shapes, s)
		}
	}
	return u
}

func (c checker) check(n node, context typeSet) (typeSet, error) {
	switch n := n.(type) {
	case *special:
		if n.name == "this" {
			return context, nil
		}
	case *member:
		return c.member(n, context)
	case *call:
		return c.call(n, context)
	case *indexer:
		recv, err := c.check(n.recv, context)
		if err == nil {
			_, err = c.check(n.index, context)
		}
		if err == nil && recv.unordered {
			err = fault(n.position(), "the order of these items is not defined")
		}
		return recv, err
	case *unary:
		_, err := c.check(n.operand, context)
		return anything, err
	case *typeTest:
		operand, err := c.check(n.operand, context)
		if n.op == "is" {
			return anything, err
		}
		return c.narrow(operand, n.typ), err
	case *binary:
		left, err := c.check(n.left, context)
		if err != nil {
			return anything, err
		}
		right, err := c.check(n.right, context)
		if n.op == "|" {
			return left.or(right), err
		}
		return anything, err
	}
	return anything, nil
}

func (c checker) member(n *member, context typeSet) (typeSet, error) {
	if n.recv == nil && isTypeLike(n.name) {
		return c.head(n, context)
	}
	parents := context
	if n.recv != nil {
		var err error
		if parents, err = c.check(n.recv, context); err != nil {
			return anything, err
		}
	}
	if parents.open {
		return anything, nil
	}
	found := typeSet{unordered: parents.unordered}
	for _, parent := range parents.shapes {
		parent.load()
		slot := parent.members[n.name]
		if slot == nil {
			continue
		}
		for _, s := range slot.shapes() {
			if s.name == "Resource" {
				return anything, nil
			}
			found = found.or(typeSet{shapes: []*shape{s}})
		}
	}
	if len(found.shapes) == 0 && len(parents.shapes) > 0 {
		return anything, fault(n.position(), "%s has no element %s", parents.shapes[0].name, n.name)
	}
	return found, nil
}

// shapes are all types a member may have.
func (s *slot) shapes() []*shape {
	if !s.choice {
		return []*shape{s.shape}
	}
	shapes := make([]*shape, 0, len(s.types))
	for _, shape := range s.types {
		shapes = append(shapes, shape)
	}
	return shapes
}

// head is a path that begins with a type.
func (c checker) head(n *member, context typeSet) (typeSet, error) {
	if context.open {
		return c.named(n.name), nil
	}
	kept := typeSet{unordered: context.unordered}
	for _, s := range context.shapes {
		if s.isType(n.name) {
			kept.shapes = append(kept.shapes, s)
		}
	}
	if len(kept.shapes) == 0 {
		return anything, fault(n.position(), "the path begins with %s, where there is none", n.name)
	}
	return kept, nil
}

// narrow is what as and ofType leave.
func (c checker) narrow(of typeSet, typ typeName) typeSet {
	narrowed := c.named(typ.name)
	narrowed.unordered = of.unordered
	if typ.namespace == "System" {
		narrowed = typeSet{open: true, unordered: of.unordered}
	}
	return narrowed
}
