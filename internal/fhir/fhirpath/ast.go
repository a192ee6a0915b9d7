package fhirpath

// node is a part of a parsed expression.
type node interface{ position() int }

type place int

func (p place) position() int { return int(p) }

type (
	// literal is a constant; a nil value is the empty collection {}.
	literal struct {
		place
		value any
	}
	// variable is %name.
	variable struct {
		place
		name string
	}
	// special is $this, $index or $total.
	special struct {
		place
		name string
	}
	// member is recv.name; without recv, name on the context.
	member struct {
		place
		recv node
		name string
	}
	// call is recv.name(args); without recv, on the context.
	call struct {
		place
		recv node
		name string
		args []node
	}
	// indexer is recv[index].
	indexer struct {
		place
		recv, index node
	}
	// unary is + or - before an operand.
	unary struct {
		place
		op      string
		operand node
	}
	// binary is every infix operator but is and as.
	binary struct {
		place
		op          string
		left, right node
	}
	// typeTest is the infix is or as.
	typeTest struct {
		place
		op      string
		operand node
		typ     typeName
	}
)

// typeName is a type specifier: System.String, FHIR.Patient, Patient.
type typeName struct {
	namespace string // "" if not given
	name      string
}

func (t typeName) String() string {
	if t.namespace == "" {
		return t.name
	}
	return t.namespace + "." + t.name
}
