package fhirpath

import (
	"strings"
	"unicode"

	"github.com/cockroachdb/apd/v3"
)

// equal is = of two items; known is false where the answer is empty
// (http://hl7.org/fhirpath/N1/#equality).
func (r *run) equal(a, b Item) (equal, known bool, err error) {
	if err := r.tick(1); err != nil {
		return false, false, err
	}
	if x, ok := a.str(); ok {
		if y, ok := b.str(); ok {
			return x == y, true, r.tick(len(x) / 256)
		}
	}
	if a.shape != nil && b.shape != nil && a.value == nil && b.value == nil {
		if a.node.Exists() && a.node.Same(b.node) {
			return true, true, nil
		}
		if !a.shape.primitive && !b.shape.primitive {
			equal, err = r.deepEqual(a.node, b.node)
			return equal, true, err
		}
	}
	x, y := a.system(), b.system()
	if x == nil || y == nil {
		if x == nil && y == nil && a.shape != nil && b.shape != nil {
			equal, err := r.deepEqual(a.node, b.node)
			if equal && err == nil {
				equal, err = r.deepEqual(a.extra, b.extra)
			}
			return equal, true, err
		}
		return false, true, nil
	}
	equal, known = equalValues(x, y)
	return equal, known, r.tickQuantity(x, y)
}

// equalValues compares system values, converting an Integer to a Decimal and a
// number to a Quantity where the other is one.
func equalValues(a, b any) (equal, known bool) {
	switch x := a.(type) {
	case int64:
		if y, ok := b.(int64); ok {
			return x == y, true
		}
	case bool:
		y, ok := b.(bool)
		return ok && x == y, true
	case string:
		y, ok := b.(string)
		return ok && x == y, true
	case typeInfo:
		y, ok := b.(typeInfo)
		return ok && x == y, true
	case *Temporal:
		y, ok := b.(*Temporal)
		if !ok || (x.Kind == KindTime) != (y.Kind == KindTime) {
			return false, true
		}
		order, known := compareTemporal(x, y)
		return order == 0, known
	}
	x, y, ok := numbers(a, b)
	if ok {
		return x.Cmp(y) == 0, true
	}
	p, q, ok := quantities(a, b)
	if !ok {
		return false, true
	}
	order, known := compareQuantity(p, q)
	return order == 0, known
}

// numbers converts two numeric values to decimals.
func numbers(a, b any) (x, y *apd.Decimal, ok bool) {
	x, y = decimalOf(a), decimalOf(b)
	return x, y, x != nil && y != nil
}

func decimalOf(value any) *apd.Decimal {
	switch v := value.(type) {
	case int64:
		return apd.New(v, 0)
	case *apd.Decimal:
		return v
	}
	return nil
}

// quantities converts two values to quantities, if one is a quantity.
func quantities(a, b any) (x, y *Quantity, ok bool) {
	x, okX := a.(*Quantity)
	y, okY := b.(*Quantity)
	switch {
	case okX && okY:
		return x, y, true
	case okX && decimalOf(b) != nil:
		return x, &Quantity{Value: decimalOf(b), Unit: "1"}, true
	case okY && decimalOf(a) != nil:
		return &Quantity{Value: decimalOf(a), Unit: "1"}, y, true
	}
	return nil, nil, false
}

// equivalent is ~ of two items (http://hl7.org/fhirpath/N1/#equivalence).
func (r *run) equivalent(a, b Item) (bool, error) {
	if err := r.tick(1); err != nil {
		return false, err
	}
	x, y := a.system(), b.system()
	if x == nil && y == nil && a.shape != nil && b.shape != nil {
		return r.deepEquivalent(a.node, b.node)
	}
	switch p := x.(type) {
	case string:
		q, ok := y.(string)
		return ok && folded(p) == folded(q), r.tick((len(p) + len(q)) / 8)
	case *Temporal:
		q, ok := y.(*Temporal)
		if !ok || (p.Kind == KindTime) != (q.Kind == KindTime) || p.Precision != q.Precision {
			return false, nil
		}
		order, known := compareTemporal(p, q)
		return known && order == 0, nil
	}
	if p, q, ok := numbers(x, y); ok {
		return equivalentDecimals(p, q), nil
	}
	if p, q, ok := quantities(x, y); ok {
		p, q, ok = commonUnit(p, q, true)
		return ok && equivalentDecimals(p.Value, q.Value), r.tick(unitSteps)
	}
	equal, known := equalValues(x, y)
	return equal && known, nil
}

// equivalentDecimals compares as far as the less precise one goes, trailing
// zeros apart.
func equivalentDecimals(a, b *apd.Decimal) bool {
	var x, y apd.Decimal
	x.Reduce(a)
	y.Reduce(b)
	digits := max(x.Exponent, y.Exponent)
	if _, err := decimals.Quantize(&x, &x, digits); err != nil {
		return a.Cmp(b) == 0
	}
	if _, err := decimals.Quantize(&y, &y, digits); err != nil {
		return a.Cmp(b) == 0
	}
	return x.Cmp(&y) == 0
}

// folded is a string as equivalence sees it: case and white space aside.
func folded(s string) string {
	return strings.ToLower(strings.Join(strings.FieldsFunc(s, unicode.IsSpace), " "))
}
