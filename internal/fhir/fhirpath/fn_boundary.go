package fhirpath

import "github.com/cockroachdb/apd/v3"

// http://hl7.org/fhirpath/#boundaries, of FHIRPath 2.1, and comparable.
var boundaryFunctions = map[string]function{
	"lowBoundary":  {0, 1, func(c *compiler, call invocation) (step, error) { return c.boundary(call, false) }},
	"highBoundary": {0, 1, func(c *compiler, call invocation) (step, error) { return c.boundary(call, true) }},
	"precision": onItem(func(r *run, item Item) error {
		switch v := item.system().(type) {
		case int64:
			return r.pushValue(int64(0))
		case *apd.Decimal:
			return r.pushValue(int64(max(-v.Exponent, 0)))
		case *Temporal:
			return r.pushValue(v.digits())
		}
		return fault(nowhere, "a number, date or time is needed here, not %s", item.describe())
	}),
	"comparable": {1, 1, compileComparable},
}

func compileComparable(c *compiler, call invocation) (step, error) {
	other, err := c.compile(call.args[0])
	recv, at := call.recv, call.position()
	return func(r *run) error {
		a, b, ok, err := r.pair(recv, other, at)
		if err != nil || !ok {
			return err
		}
		x, okX := a.system().(*Quantity)
		y, okY := b.system().(*Quantity)
		if !okX || !okY {
			return fault(at, "quantities are needed here, not %s and %s", a.describe(), b.describe())
		}
		_, _, same := commonUnit(x, y, false)
		return r.pushValue(same)
	}, err
}

func (c *compiler) boundary(call invocation, high bool) (step, error) {
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
		digits := int64(-1)
		if len(args) == 1 {
			if digits, ok, err = r.integer(args[0], at); err != nil || !ok {
				return err
			}
			if digits < 0 {
				return nil
			}
		}
		var value any
		switch v := item.system().(type) {
		case int64, *apd.Decimal:
			value = decimalBoundary(decimalOf(v), digits, high)
		case *Quantity:
			if d, ok := decimalBoundary(v.Value, digits, high).(*apd.Decimal); ok {
				value = v.with(d)
			}
		case *Temporal:
			value = v.boundary(digits, high)
		default:
			return fault(at, "a number, quantity, date or time is needed here, not %s", item.describe())
		}
		if value == nil {
			return nil
		}
		return r.pushValue(value)
	}, nil
}

// decimalBoundary is the least or greatest value that the digits of d stand
// for, to some digits behind the point (-1: the 8 of a Decimal); nil for more
// digits than a Decimal has.
func decimalBoundary(d *apd.Decimal, digits int64, high bool) any {
	if digits < 0 {
		digits = 8
	}
	if digits > 28 || d == nil {
		return nil
	}
	half := apd.New(5, min(d.Exponent, 0)-1)
	edge := new(apd.Decimal)
	round, move := apd.RoundFloor, decimals.Sub
	if high {
		round, move = apd.RoundCeiling, decimals.Add
	}
	_, err := move(edge, d, half)
	if err != nil {
		return nil
	}
	value, err := rounded(edge, int32(digits), round)
	if err != nil {
		return nil
	}
	return value
}

// temporalDigits are the digits of each precision, as precision() counts them:
// milliseconds have 17.
var temporalDigits = map[int64]Precision{
	4: PrecisionYear, 6: PrecisionMonth, 8: PrecisionDay, 10: PrecisionHour, 12: PrecisionMinute, 14: PrecisionSecond, 17: PrecisionSecond,
}

// digits counts the digits of the value as written.
func (t *Temporal) digits() int64 {
	n := int64(2 * (t.Precision + 1))
	if t.FractionDigits > 0 {
		n += int64(t.FractionDigits)
	}
	if t.Kind == KindTime {
		n -= 8
	}
	return n
}

// boundary is the first or last moment the value stands for; nil for a number
// of digits that ends within a part.
func (t *Temporal) boundary(digits int64, high bool) any {
	switch {
	case digits >= 0 && t.Kind == KindTime:
		digits += 8
	case digits < 0 && t.Kind == KindDate:
		digits = 8
	case digits < 0:
		digits = 17
	}
	to, ok := temporalDigits[digits]
	if !ok || t.Kind == KindDate && to > PrecisionDay || t.Kind == KindTime && to < PrecisionHour {
		return nil
	}
	b := *t
	b.fill(high)
	b.Precision, b.FractionDigits = to, 0
	if digits == 17 {
		b.FractionDigits = 3
	} else if to == PrecisionSecond {
		b.Nanosecond = 0
	}
	if to < PrecisionHour {
		b.HasOffset, b.Offset = false, 0
	}
	return &b
}

// fill sets the parts the value does not have to their first or last.
func (t *Temporal) fill(high bool) {
	least := func(part *int, p Precision, low, top int) {
		if t.Precision < p {
			if *part = low; high {
				*part = top
			}
		}
	}
	if t.Kind != KindTime {
		least(&t.Month, PrecisionMonth, 1, 12)
		least(&t.Day, PrecisionDay, 1, daysIn(t.Year, max(t.Month, 1)))
	}
	least(&t.Hour, PrecisionHour, 0, 23)
	least(&t.Minute, PrecisionMinute, 0, 59)
	least(&t.Second, PrecisionSecond, 0, 59)
	if high && (t.Precision < PrecisionSecond || t.FractionDigits < 3) {
		t.Nanosecond += 999_999_999 % pow10(9-t.FractionDigits)
		t.Nanosecond = t.Nanosecond / 1e6 * 1e6
	}
	if t.Kind == KindDateTime && !t.HasOffset {
		// The earliest a local time can be is 14 hours east, the latest 12 west.
		if t.HasOffset, t.Offset = true, 14*60; high {
			t.Offset = -12 * 60
		}
	}
}

func pow10(n int) int {
	p := 1
	for range n {
		p *= 10
	}
	return p
}
