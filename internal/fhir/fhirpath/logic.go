package fhirpath

// trilean is true, false or unknown: an empty collection.
type trilean int8

const (
	no      trilean = -1
	unknown trilean = 0
	yes     trilean = 1
)

func trileanOf(b bool) trilean {
	if b {
		return yes
	}
	return no
}

// condition is a compiled part of an expression that gives a Boolean: it
// answers, and leaves the stack as it was. Criteria, invariants and their
// connectives are conditions, so their values need no stack.
type condition func(r *run) (trilean, error)

// step makes a condition push its value.
func (c condition) step() step {
	return func(r *run) error {
		t, err := c(r)
		if err != nil || t == unknown {
			return err
		}
		return r.pushValue(t == yes)
	}
}

// conditionOf makes any step a condition: a single item that is no Boolean
// counts as true (http://hl7.org/fhirpath/N1/#singleton-evaluation-of-collections).
func conditionOf(s step) condition {
	return func(r *run) (trilean, error) {
		item, ok, err := r.single(s)
		if err != nil || !ok {
			return unknown, err
		}
		if b, ok := item.Bool(); ok && (item.shape == nil || item.shape.name == "boolean") {
			return trileanOf(b), nil
		}
		if item.isPrimitive() && !item.hasValue() {
			return unknown, nil
		}
		return yes, nil
	}
}

// condition compiles a part of an expression that is asked for its truth.
func (c *compiler) condition(n node) (condition, error) {
	switch n := n.(type) {
	case *binary:
		if isConnective(n.op) {
			return c.logic(n)
		}
	case *call:
		if p, ok := predicates[n.name]; ok {
			return c.predicate(n, p)
		}
	}
	s, err := c.compile(n)
	return conditionOf(s), err
}

func isConnective(op string) bool {
	return op == "and" || op == "or" || op == "xor" || op == "implies"
}

// logic compiles and, or, xor and implies. The right side is not evaluated
// where the left decides.
func (c *compiler) logic(n *binary) (condition, error) {
	left, err := c.condition(n.left)
	if err != nil {
		return nil, err
	}
	right, err := c.condition(n.right)
	if err != nil {
		return nil, err
	}
	op, at := n.op, n.position()
	return func(r *run) (trilean, error) {
		if err := r.tick(1); err != nil {
			return unknown, err
		}
		a, err := left(r)
		if err != nil {
			return unknown, placed(err, at)
		}
		switch {
		case op == "and" && a == no:
			return no, nil
		case op == "or" && a == yes, op == "implies" && a == no:
			return yes, nil
		case op == "xor" && a == unknown:
			return unknown, nil
		}
		b, err := right(r)
		if err != nil {
			return unknown, placed(err, at)
		}
		switch op {
		case "and":
			return min(a, b), nil
		case "or":
			return max(a, b), nil
		case "implies":
			return max(-a, b), nil
		}
		return -a * b, nil
	}, nil
}
