package fhirpath

import (
	"github.com/cockroachdb/apd/v3"

	"starling/internal/fhir"
	"starling/internal/fhir/definition"
	"starling/internal/fhir/element"
)

// Item is one value of a collection: an element of the tree with its type, or
// a value that was computed. It shares the tree; navigating allocates nothing.
// The zero Item is no value.
type Item struct {
	node  element.Node
	extra element.Node // the "_name" sibling of a primitive
	shape *shape       // nil for computed values
	// value of a computed item: bool, string, int64, *apd.Decimal, *Temporal,
	// *Quantity or typeInfo. For an element, nil or unresolved.
	value any
}

// Collection is an ordered list of items: the result of every expression.
type Collection []Item

// unresolved marks an item that stands for the target of a reference nobody
// resolved: its type is known from the reference's text, and nothing else.
type unresolved struct{}

// Root is the item of a whole resource, the focus to begin with. For a type
// that the registry does not have, it has no members.
func Root(reg *definition.Registry, t fhir.ResourceType, root element.Node) Item {
	return Item{node: root, shape: modelOf(reg).shape(string(t))}
}

// Element is the item of a node whose type is known, such as "HumanName".
func Element(reg *definition.Registry, typ string, node element.Node) Item {
	return Item{node: node, shape: modelOf(reg).shape(typ)}
}

// Value makes a computed item, for Environment.Variables. The value is a bool,
// string, int64, *apd.Decimal, *Temporal or *Quantity.
func Value(value any) Item { return Item{value: value} }

// Exists reports whether the item is a value.
func (i Item) Exists() bool { return i.shape != nil || i.value != nil }

// Node is the element's place in the tree: the zero Node for a computed value,
// and for a primitive that has an id or extensions and no value.
func (i Item) Node() element.Node { return i.node }

// Extra is the "_name" object beside a primitive: its id and extensions; the
// zero Node if there is none.
func (i Item) Extra() element.Node { return i.extra }

// Type is the item's FHIR type: "Patient", "Quantity", "code", and
// "BackboneElement" for an element defined in place. For computed values it is
// the system type: "System.Boolean".
func (i Item) Type() string {
	if i.shape != nil {
		return i.shape.name
	}
	if name := systemTypeName(i.value); name != "" {
		return "System." + name
	}
	return ""
}

// Is reports whether the item's FHIR type is that one or specializes it.
func (i Item) Is(typ string) bool { return i.shape != nil && i.shape.isType(typ) }

// Text is the value of a primitive or a computed value as text: a decimal with
// its digits, a date as written. "" for anything else.
func (i Item) Text() string {
	if i.shape != nil {
		return i.node.Literal()
	}
	return systemText(i.value)
}

// Bool is the value of a boolean; ok is false for anything else.
func (i Item) Bool() (value, ok bool) {
	if i.shape == nil {
		value, ok = i.value.(bool)
		return value, ok
	}
	kind := i.node.Kind()
	return kind == element.True, kind == element.True || kind == element.False
}

// Decimal is the value of an integer or decimal, exact; nil for anything else.
func (i Item) Decimal() *apd.Decimal {
	switch v := i.system().(type) {
	case int64:
		return apd.New(v, 0)
	case *apd.Decimal:
		return v
	}
	return nil
}

// Temporal is the value of a date, dateTime, instant or time; nil for anything
// else and for malformed ones.
func (i Item) Temporal() *Temporal {
	t, _ := i.system().(*Temporal)
	return t
}

// isPrimitive reports whether the item is an element of a primitive type.
func (i Item) isPrimitive() bool { return i.shape != nil && i.shape.primitive }

// hasValue reports whether the item is a primitive with a value of its own.
func (i Item) hasValue() bool {
	if i.shape == nil {
		return i.value != nil
	}
	if !i.shape.primitive {
		return false
	}
	switch i.node.Kind() {
	case element.String, element.Number, element.True, element.False:
		return true
	}
	return false
}

// Quantity is the value of a Quantity or a type that specializes it; nil for
// anything else and for one without a value.
func (i Item) Quantity() *Quantity {
	q, _ := i.system().(*Quantity)
	return q
}
