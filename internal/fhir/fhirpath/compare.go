package fhirpath

import (
	"cmp"
	"strings"
)

// inequality compiles < <= > and >=.
func inequality(op string, left, right step, at int) step {
	return func(r *run) error {
		a, b, ok, err := r.pair(left, right, at)
		if err != nil || !ok {
			return err
		}
		order, known, err := r.compare(a, b, at)
		if err != nil || !known {
			return err
		}
		switch op {
		case "<":
			return r.pushValue(order < 0)
		case "<=":
			return r.pushValue(order <= 0)
		case ">":
			return r.pushValue(order > 0)
		}
		return r.pushValue(order >= 0)
	}
}

// compare orders two items; known is false where the answer is empty. Items
// that have no order, or none between them, are an error. Strings go by
// code point (http://hl7.org/fhirpath/N1/#comparison).
func (r *run) compare(a, b Item, at int) (order int, known bool, err error) {
	x, y := a.system(), b.system()
	if a.lacksValue(x) || b.lacksValue(y) {
		return 0, false, nil
	}
	switch p := x.(type) {
	case int64:
		if q, ok := y.(int64); ok {
			return cmp.Compare(p, q), true, nil
		}
	case string:
		if q, ok := y.(string); ok {
			return strings.Compare(p, q), true, r.tick(len(p) / 256)
		}
	case *Temporal:
		if q, ok := y.(*Temporal); ok && (p.Kind == KindTime) == (q.Kind == KindTime) {
			order, known = compareTemporal(p, q)
			return order, known, nil
		}
	}
	if p, q, ok := numbers(x, y); ok {
		return p.Cmp(q), true, nil
	}
	if p, q, ok := quantities(x, y); ok {
		order, known = compareQuantity(p, q)
		return order, known, r.tick(unitSteps)
	}
	return 0, false, fault(at, "%s and %s cannot be compared", a.describe(), b.describe())
}

// lacksValue reports whether an element of a type that has an order has
// nothing to be ordered by: a primitive with extensions alone, a Quantity
// without a value or with a comparator.
func (i Item) lacksValue(system any) bool {
	if system != nil || i.shape == nil {
		return false
	}
	return i.shape.primitive && !i.hasValue() || i.shape.systemType() == "Quantity"
}
