package fhirpath

import "slices"

// http://hl7.org/fhirpath/N1/#types
var typeFunctions = map[string]function{
	"is":     typeFunction("is"),
	"as":     typeFunction("as"),
	"ofType": typeFunction("ofType"),
	"type": onCollection(func(r *run, from int) error {
		for i := from; i < len(r.stack); i++ {
			r.stack[i] = Item{value: r.stack[i].typeInfo()}
		}
		return nil
	}),
}

var systemTypes = []string{"Any", "Boolean", "String", "Integer", "Decimal", "Date", "DateTime", "Time", "Quantity"}

func (i Item) typeInfo() typeInfo {
	if i.shape != nil {
		return typeInfo{"FHIR", i.shape.name}
	}
	return typeInfo{"System", systemTypeName(i.value)}
}

func typeFunction(op string) function {
	return function{1, 1, func(c *compiler, call invocation) (step, error) {
		typ, ok := typeArgument(call.args[0])
		if !ok {
			return nil, fault(call.args[0].position(), "%s() needs the name of a type", op)
		}
		return c.typeStep(op, call.recv, typ, call.args[0].position())
	}}
}

// typeArgument reads an argument that is a type's name.
func typeArgument(n node) (typeName, bool) {
	m, ok := n.(*member)
	if !ok {
		return typeName{}, false
	}
	if m.recv == nil {
		return typeName{"", m.name}, true
	}
	namespace, ok := m.recv.(*member)
	if !ok || namespace.recv != nil {
		return typeName{}, false
	}
	return typeName{namespace.name, m.name}, true
}

func (c *compiler) typeTest(n *typeTest) (step, error) {
	operand, err := c.compile(n.operand)
	if err != nil {
		return nil, err
	}
	return c.typeStep(n.op, operand, n.typ, n.position())
}

// typeStep compiles is, as and ofType. In R4, as filters a collection like
// ofType: published expressions apply it to several items.
func (c *compiler) typeStep(op string, recv step, typ typeName, at int) (step, error) {
	if err := c.knownType(typ, at); err != nil {
		return nil, err
	}
	if op == "is" {
		return func(r *run) error {
			item, ok, err := r.single(recv)
			if err != nil || !ok {
				return placed(err, at)
			}
			return r.pushValue(item.isOf(typ))
		}, nil
	}
	// R4 publishes `value.as(DateTime)` for a FHIR dateTime.
	lenient := op == "as" && typ.namespace == ""
	return func(r *run) error {
		from := len(r.stack)
		if err := recv(r); err != nil {
			return err
		}
		to := from
		for i := from; i < len(r.stack); i++ {
			item := r.stack[i]
			if item.isExactly(typ) || lenient && item.isPrimitive() && item.shape.systemType() == typ.name {
				r.stack[to] = item
				to++
			}
		}
		r.cut(to)
		return nil
	}, nil
}

func (c *compiler) knownType(typ typeName, at int) error {
	switch typ.namespace {
	case "System":
		return nil // nothing is of a type that System does not have
	case "":
		if slices.Contains(systemTypes, typ.name) {
			return nil
		}
		fallthrough
	case "FHIR":
		s := c.model.shape(typ.name)
		if s.load(); s.known {
			return nil
		}
	}
	return fault(at, "unknown type %s", typ)
}

// isOf is the type test of `is`: the type or one it specializes.
func (i Item) isOf(typ typeName) bool {
	if i.shape == nil {
		return typ.namespace != "FHIR" && (typ.name == "Any" || systemTypeName(i.value) == typ.name)
	}
	return typ.namespace != "System" && i.shape.isType(typ.name)
}

// isExactly is the type test of `as` and `ofType`.
func (i Item) isExactly(typ typeName) bool {
	if i.shape == nil {
		return i.isOf(typ)
	}
	return typ.namespace != "System" && i.shape.isSelf(typ.name)
}
