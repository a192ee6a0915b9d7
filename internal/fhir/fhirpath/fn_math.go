package fhirpath

import (
	"math"

	"github.com/cockroachdb/apd/v3"
)

// http://hl7.org/fhirpath/N1/#math
var mathFunctions = map[string]function{
	"abs":      onNumber(func(d *apd.Decimal) (any, error) { return new(apd.Decimal).Abs(d), nil }),
	"ceiling":  onNumber(func(d *apd.Decimal) (any, error) { return whole(decimals.Ceil, d) }),
	"floor":    onNumber(func(d *apd.Decimal) (any, error) { return whole(decimals.Floor, d) }),
	"truncate": onNumber(func(d *apd.Decimal) (any, error) { return whole(towardsZero, d) }),
	"exp":      onNumber(func(d *apd.Decimal) (any, error) { return function1(decimals.Exp, d) }),
	"ln":       onNumber(func(d *apd.Decimal) (any, error) { return function1(decimals.Ln, d) }),
	"sqrt":     onNumber(func(d *apd.Decimal) (any, error) { return function1(decimals.Sqrt, d) }),
	"round":    {0, 1, compileRound},
	"log":      withNumber(logarithm),
	"power":    withNumber(power),
}

// function1 applies a function of apd; an error, such as the root of a
// negative number, makes the result empty.
func function1(f func(d, x *apd.Decimal) (apd.Condition, error), x *apd.Decimal) (any, error) {
	d := new(apd.Decimal)
	if _, err := f(d, x); err != nil || d.Form != apd.Finite {
		return nil, err
	}
	shorten(d)
	return d, nil
}

// whole rounds to an Integer; nil if it is out of range.
func whole(round func(d, x *apd.Decimal) (apd.Condition, error), x *apd.Decimal) (any, error) {
	d := new(apd.Decimal)
	if _, err := round(d, x); err != nil {
		return nil, err
	}
	n, err := d.Int64()
	if err != nil {
		return nil, err
	}
	return integerOrNil(n), nil
}

func towardsZero(d, x *apd.Decimal) (apd.Condition, error) {
	if x.Negative {
		return decimals.Ceil(d, x)
	}
	return decimals.Floor(d, x)
}

// rounded cuts a decimal to some digits behind the point. A value smaller than
// half of the last digit becomes 0, however it is to be rounded.
func rounded(d *apd.Decimal, digits int32, how apd.Rounder) (*apd.Decimal, error) {
	context := decimals
	context.Rounding = how
	context.Precision = 2048 // of the result; the input is bounded
	x := new(apd.Decimal)
	_, err := context.Quantize(x, d, -digits)
	return x, err
}

// mathSteps is what a function of numbers counts for: exp takes 50 µs.
const mathSteps = 500

// onNumber makes a function of a number; abs also takes a Quantity and keeps
// an Integer one. An error of apply gives an empty result.
func onNumber(apply func(d *apd.Decimal) (any, error)) function {
	return onItem(func(r *run, item Item) error {
		value := item.system()
		if err := r.tick(mathSteps); err != nil {
			return err
		}
		switch v := value.(type) {
		case *Quantity:
			result, err := apply(v.Value)
			d := decimalOf(result)
			if err != nil || d == nil {
				return nil
			}
			return r.pushValue(v.with(d))
		case int64:
			result, err := apply(apd.New(v, 0))
			return r.pushNumber(sameKind(result), err)
		case *apd.Decimal:
			result, err := apply(v)
			return r.pushNumber(result, err)
		}
		if item.isPrimitive() && !item.hasValue() {
			return nil
		}
		return fault(nowhere, "a number is needed here, not %s", item.describe())
	})
}

// sameKind makes the whole result of an Integer's function an Integer again.
func sameKind(result any) any {
	d, ok := result.(*apd.Decimal)
	if !ok || d.Exponent != 0 {
		return result
	}
	if n, err := d.Int64(); err == nil && n <= math.MaxInt32 && n >= math.MinInt32 {
		return n
	}
	return result
}

func (r *run) pushNumber(value any, err error) error {
	if err != nil || value == nil {
		return nil // outside the function's domain: empty
	}
	return r.pushValue(value)
}

func compileRound(c *compiler, call invocation) (step, error) {
	args, err := c.compileAll(call.args)
	if err != nil {
		return nil, err
	}
	recv, at := call.recv, call.position()
	return func(r *run) error {
		item, ok, err := r.single(recv)
		if err != nil || !ok {
			return err
		}
		digits := int64(0)
		if len(args) == 1 {
			if digits, ok, err = r.integer(args[0], at); err != nil || !ok {
				return err
			}
		}
		if digits < 0 || digits > 38 {
			return fault(at, "round() takes 0 to 38 digits, not %d", digits)
		}
		switch v := item.system().(type) {
		case int64:
			return r.pushValue(v)
		case *apd.Decimal:
			d, err := rounded(v, int32(digits), apd.RoundHalfUp)
			return r.pushNumber(d, err)
		}
		return fault(at, "a number is needed here, not %s", item.describe())
	}, nil
}

// withNumber makes a function of two numbers.
func withNumber(apply func(a, b any) (any, error)) function {
	return function{1, 1, func(c *compiler, call invocation) (step, error) {
		arg, err := c.compile(call.args[0])
		if err != nil {
			return nil, err
		}
		recv, at := call.recv, call.position()
		return func(r *run) error {
			a, b, ok, err := r.pair(recv, arg, at)
			if err != nil || !ok {
				return err
			}
			x, y := a.system(), b.system()
			if decimalOf(x) == nil || decimalOf(y) == nil {
				return fault(at, "numbers are needed here, not %s and %s", a.describe(), b.describe())
			}
			if err := r.tick(6 * mathSteps); err != nil {
				return err
			}
			return r.pushNumber(apply(x, y))
		}, nil
	}}
}

func logarithm(a, b any) (any, error) {
	x, err := function1(decimals.Ln, decimalOf(a))
	if err != nil || x == nil {
		return nil, err
	}
	y, err := function1(decimals.Ln, decimalOf(b))
	if err != nil || y == nil || y.(*apd.Decimal).IsZero() {
		return nil, err
	}
	d := new(apd.Decimal)
	if _, err := decimals.Quo(d, x.(*apd.Decimal), y.(*apd.Decimal)); err != nil {
		return nil, err
	}
	// The last digits of the quotient of two logarithms are noise.
	return cleaned(d)
}

// cleaned rounds to 28 digits, which leaves 3 where 2.99999… was computed.
func cleaned(d *apd.Decimal) (any, error) {
	context := decimals
	context.Precision = 28
	if _, err := context.Round(d, d); err != nil {
		return nil, err
	}
	shorten(d)
	return d, nil
}

func power(a, b any) (any, error) {
	x, y := decimalOf(a), decimalOf(b)
	d := new(apd.Decimal)
	if _, err := decimals.Pow(d, x, y); err != nil || d.Form != apd.Finite {
		return nil, err
	}
	_, baseInteger := a.(int64)
	n, exponentInteger := b.(int64)
	if baseInteger && exponentInteger && n >= 0 {
		return sameKind(d), nil
	}
	return cleaned(d)
}
