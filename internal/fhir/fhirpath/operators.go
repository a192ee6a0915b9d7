package fhirpath

import "github.com/cockroachdb/apd/v3"

func (c *compiler) binary(n *binary) (step, error) {
	if n.op == "|" {
		return c.union(n)
	}
	if isConnective(n.op) {
		logic, err := c.logic(n)
		return logic.step(), err
	}
	left, err := c.compile(n.left)
	if err != nil {
		return nil, err
	}
	if lit, ok := n.right.(*literal); ok && n.op == "=" {
		if text, ok := lit.value.(string); ok {
			return equalsText(left, text), nil
		}
	}
	right, err := c.compile(n.right)
	if err != nil {
		return nil, err
	}
	at := n.position()
	switch n.op {
	case "=":
		return equality(left, right, false), nil
	case "!=":
		return equality(left, right, true), nil
	case "~":
		return equivalence(left, right, false), nil
	case "!~":
		return equivalence(left, right, true), nil
	case "<", "<=", ">", ">=":
		return inequality(n.op, left, right, at), nil
	case "in":
		return membership(left, right, at), nil
	case "contains":
		return membership(right, left, at), nil
	case "&":
		return concatenation(left, right, at), nil
	}
	return arithmetic(n.op, left, right, at), nil
}

// pair evaluates both operands, which must be single; ok is false if one is
// empty.
func (r *run) pair(left, right step, at int) (a, b Item, ok bool, err error) {
	a, okA, err := r.single(left)
	if err != nil {
		return a, b, false, placed(err, at)
	}
	b, okB, err := r.single(right)
	if err != nil {
		return a, b, false, placed(err, at)
	}
	return a, b, okA && okB, nil
}

func (c *compiler) unary(n *unary) (step, error) {
	operand, err := c.compile(n.operand)
	if err != nil {
		return nil, err
	}
	at := n.position()
	negative := n.op == "-"
	return func(r *run) error {
		item, ok, err := r.single(operand)
		if err != nil || !ok {
			return placed(err, at)
		}
		switch v := item.system().(type) {
		case int64:
			if negative {
				v = -v
			}
			return r.pushValue(v)
		case *apd.Decimal:
			if negative {
				v = new(apd.Decimal).Neg(v)
			}
			return r.pushValue(v)
		case *Quantity:
			if negative {
				v = v.with(new(apd.Decimal).Neg(v.Value))
			}
			return r.pushValue(v)
		}
		return fault(at, "%s needs a number, not %s", n.op, item.describe())
	}, nil
}

// equality is = and != on collections.
func equality(left, right step, negate bool) step {
	return func(r *run) error {
		from := len(r.stack)
		if err := left(r); err != nil {
			return err
		}
		middle := len(r.stack)
		if err := right(r); err != nil {
			return err
		}
		equal, known, err := r.equalRuns(from, middle, len(r.stack))
		r.cut(from)
		if err != nil || !known {
			return err
		}
		return r.pushValue(equal != negate)
	}
}

// equalRuns compares two collections on the stack, item by item.
func (r *run) equalRuns(from, middle, to int) (equal, known bool, err error) {
	n := middle - from
	if n == 0 || to == middle {
		return false, false, nil
	}
	if n != to-middle {
		return false, true, nil
	}
	known = true
	for i := range n {
		equal, ok, err := r.equal(r.stack[from+i], r.stack[middle+i])
		if err != nil {
			return false, false, err
		}
		if ok && !equal {
			return false, true, nil
		}
		known = known && ok
	}
	return true, known, nil
}

// equalsText is `… = 'text'`, the commonest comparison.
func equalsText(left step, text string) step {
	literal := Item{value: text}
	return func(r *run) error {
		from := len(r.stack)
		if err := left(r); err != nil {
			return err
		}
		n := len(r.stack) - from
		if n != 1 {
			r.cut(from)
			if n == 0 {
				return nil
			}
			return r.pushValue(false)
		}
		item := r.stack[from]
		r.cut(from)
		if s, ok := item.str(); ok {
			return r.pushValue(s == text)
		}
		equal, known, err := r.equal(item, literal)
		if err != nil || !known {
			return err
		}
		return r.pushValue(equal)
	}
}

func equivalence(left, right step, negate bool) step {
	return func(r *run) error {
		from := len(r.stack)
		if err := left(r); err != nil {
			return err
		}
		middle := len(r.stack)
		if err := right(r); err != nil {
			return err
		}
		equivalent, err := r.equivalentRuns(from, middle, len(r.stack))
		r.cut(from)
		if err != nil {
			return err
		}
		return r.pushValue(equivalent != negate)
	}
}

// equivalentRuns compares two collections whatever their order.
func (r *run) equivalentRuns(from, middle, to int) (bool, error) {
	n := middle - from
	if n != to-middle {
		return false, nil
	}
	used := make([]bool, n)
	for i := range n {
		if err := r.tick(n / 16); err != nil {
			return false, err
		}
		found := false
		for j := range n {
			if used[j] {
				continue
			}
			same, err := r.equivalent(r.stack[from+i], r.stack[middle+j])
			if err != nil {
				return false, err
			}
			if same {
				used[j], found = true, true
				break
			}
		}
		if !found {
			return false, nil
		}
	}
	return true, nil
}

// membership is `left in right`.
func membership(left, right step, at int) step {
	return func(r *run) error {
		item, ok, err := r.single(left)
		if err != nil || !ok {
			return placed(err, at)
		}
		from := len(r.stack)
		if err := right(r); err != nil {
			return err
		}
		found, err := r.has(from, len(r.stack), item)
		r.cut(from)
		if err != nil {
			return err
		}
		return r.pushValue(found)
	}
}

// has reports whether an item on that part of the stack equals item.
func (r *run) has(from, to int, item Item) (bool, error) {
	for i := from; i < to; i++ {
		equal, known, err := r.equal(r.stack[i], item)
		if err != nil {
			return false, err
		}
		if equal && known {
			return true, nil
		}
	}
	return false, nil
}
