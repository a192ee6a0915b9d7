package fhirpath

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
// that have no order, or none between them, are an error
// (http://hl7.org/fhirpath/N1/#comparison).
func (r *run) compare(a, b Item, at int) (order int, known bool, err error) {
	x, y := a.system(), b.system()
	if x == nil && a.isPrimitive() && !a.hasValue() || y == nil && b.isPrimitive() && !b.hasValue() {
		return 0, false, nil
	}
	switch p := x.(type) {
	case string:
		if q, ok := y.(string); ok {
			return compareStrings(p, q), true, r.tick(len(p) / 256)
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
		order, known = r.compareQuantity(p, q)
		return order, known, nil
	}
	return 0, false, fault(at, "%s and %s cannot be compared", a.describe(), b.describe())
}

// compareStrings orders by Unicode code point.
func compareStrings(a, b string) int {
	switch {
	case a < b:
		return -1
	case a > b:
		return 1
	}
	return 0
}
