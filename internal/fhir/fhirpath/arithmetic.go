package fhirpath

import (
	"math"

	"github.com/cockroachdb/apd/v3"

	"starling/internal/fhir/ucum"
)

// arithmetic compiles + - * / div and mod
// (http://hl7.org/fhirpath/N1/#math). Overflow and division by zero give an
// empty result.
func arithmetic(op string, left, right step, at int) step {
	return func(r *run) error {
		a, b, ok, err := r.pair(left, right, at)
		if err != nil || !ok {
			return err
		}
		x, y := a.system(), b.system()
		if x == nil && a.isPrimitive() && !a.hasValue() || y == nil && b.isPrimitive() && !b.hasValue() {
			return nil
		}
		if err := r.tickQuantity(x, y); err != nil {
			return err
		}
		value, fits := calculate(op, x, y, at)
		if !fits {
			return fault(at, "%s does not take %s and %s", op, a.describe(), b.describe())
		}
		if err, ok := value.(*Error); ok {
			return err
		}
		if value == nil {
			return nil
		}
		return r.pushValue(value)
	}
}

// calculate gives the value, nil for an empty result, or an *Error; fits is
// false if the operator does not take such operands.
func calculate(op string, a, b any, at int) (value any, fits bool) {
	switch x := a.(type) {
	case string:
		y, ok := b.(string)
		if !ok || op != "+" {
			return nil, false
		}
		return joined(x, y, at), true
	case *Temporal:
		y, ok := b.(*Quantity)
		if !ok || op != "+" && op != "-" {
			return nil, false
		}
		return x.plus(y, op == "-", at), true
	case int64:
		if y, ok := b.(int64); ok && op != "/" {
			return integerArithmetic(op, x, y), true
		}
	}
	if x, y, ok := numbers(a, b); ok {
		return decimalArithmetic(op, x, y), true
	}
	if x, y, ok := quantities(a, b); ok && op != "div" && op != "mod" {
		return quantityArithmetic(op, x, y, at), true
	}
	return nil, false
}

func joined(a, b string, at int) any {
	if len(a)+len(b) > maxString {
		return fault(at, "the string grows over %d bytes", maxString)
	}
	return a + b
}

func integerArithmetic(op string, a, b int64) any {
	var n int64
	switch op {
	case "+":
		n = a + b
	case "-":
		n = a - b
	case "*":
		n = a * b
	case "div", "mod":
		if b == 0 {
			return nil
		}
		if n = a / b; op == "mod" {
			n = a % b
		}
	}
	if n > math.MaxInt32 || n < math.MinInt32 {
		return nil
	}
	return n
}

func decimalArithmetic(op string, a, b *apd.Decimal) any {
	d := new(apd.Decimal)
	var err error
	switch op {
	case "+":
		_, err = decimals.Add(d, a, b)
	case "-":
		_, err = decimals.Sub(d, a, b)
	case "*":
		_, err = decimals.Mul(d, a, b)
	case "/":
		if b.IsZero() {
			return nil
		}
		if _, err = decimals.Quo(d, a, b); err == nil {
			shorten(d)
		}
	case "div":
		if b.IsZero() {
			return nil
		}
		_, err = decimals.QuoInteger(d, a, b)
		n, errInt := d.Int64()
		if err != nil || errInt != nil {
			return nil
		}
		return integerOrNil(n)
	case "mod":
		if b.IsZero() {
			return nil
		}
		_, err = decimals.Rem(d, a, b)
	}
	if err != nil {
		return nil
	}
	return d
}

func integerOrNil(n int64) any {
	if n > math.MaxInt32 || n < math.MinInt32 {
		return nil
	}
	return n
}

// shorten drops the zeros that a division left behind the point.
func shorten(d *apd.Decimal) {
	if d.Exponent < 0 {
		d.Reduce(d)
		if d.Exponent > 0 {
			_, _ = decimals.Quantize(d, d, 0)
		}
	}
}

func quantityArithmetic(op string, a, b *Quantity, at int) any {
	switch op {
	case "+", "-":
		x, y, ok := commonUnit(a, b, false)
		if !ok {
			return fault(at, "'%s' and '%s' have no common unit", a.Unit, b.Unit)
		}
		if value, ok := decimalArithmetic(op, x.Value, y.Value).(*apd.Decimal); ok {
			return x.with(value)
		}
		return nil
	}
	value, ok := decimalArithmetic(op, a.Value, b.Value).(*apd.Decimal)
	if !ok {
		return nil
	}
	unit, ok := combineUnits(op, a, b)
	if !ok {
		return fault(at, "'%s' %s '%s' is no known unit", a.Unit, op, b.Unit)
	}
	return unit.with(value)
}

// combineUnits gives the unit of a product or quotient, as a Quantity without
// value.
func combineUnits(op string, a, b *Quantity) (Quantity, bool) {
	switch {
	case b.Unit == "1":
		return *a, true
	case a.Unit == "1" && op == "*":
		return *b, true
	case a.Unit == b.Unit && a.Calendar == b.Calendar && op == "/":
		return Quantity{Unit: "1"}, true
	case a.Calendar || b.Calendar || a.local || b.local:
		return Quantity{}, false
	}
	combine := ucum.Multiply
	if op == "/" {
		combine = ucum.Divide
	}
	unit, err := combine(a.Unit, b.Unit)
	return Quantity{Unit: unit}, err == nil
}

// concatenation is &, which takes an empty operand for ”.
func concatenation(left, right step, at int) step {
	return func(r *run) error {
		a, _, err := r.text(left, at)
		if err != nil {
			return placed(err, at)
		}
		b, _, err := r.text(right, at)
		if err != nil {
			return placed(err, at)
		}
		value := joined(a, b, at)
		if err, ok := value.(*Error); ok {
			return err
		}
		if err := r.tick(len(a)/64 + len(b)/64); err != nil {
			return err
		}
		return r.pushValue(value)
	}
}
