package fhirpath

import (
	"strings"

	"github.com/cockroachdb/apd/v3"
)

func toQuantity(value any) any {
	switch v := value.(type) {
	case *Quantity:
		return v
	case int64, *apd.Decimal, bool:
		if d, ok := toDecimal(value).(*apd.Decimal); ok {
			return &Quantity{Value: d, Unit: "1"}
		}
	case string:
		if q := parseQuantity(v); q != nil {
			return q
		}
	}
	return nil
}

// parseQuantity reads 1, 1.5 'mg', 4 days; nil if the text is none of these.
func parseQuantity(text string) *Quantity {
	end := strings.IndexAny(text, " \t\r\n'")
	if end < 0 {
		end = len(text)
	}
	if !isDecimalText(text[:end]) {
		return nil
	}
	value, ok := parseDecimal(strings.TrimPrefix(text[:end], "+"))
	if !ok {
		return nil
	}
	unit := strings.TrimSpace(text[end:])
	switch {
	case unit == "":
		return &Quantity{Value: value, Unit: "1"}
	case calendarUnits[unit] != 0:
		return &Quantity{Value: value, Unit: unit, Calendar: true}
	case len(unit) > 2 && unit[0] == '\'' && unit[len(unit)-1] == '\'':
		return &Quantity{Value: value, Unit: unit[1 : len(unit)-1]}
	}
	return nil
}

// quantityConversion compiles the shared part of toQuantity and
// convertsToQuantity: with an argument, the quantity is expressed in that unit.
func (c *compiler) quantityConversion(call invocation) (func(r *run) (value any, ok bool, err error), error) {
	args, err := c.compileAll(call.args)
	if err != nil {
		return nil, err
	}
	recv, at := call.recv, call.position()
	return func(r *run) (any, bool, error) {
		item, ok, err := r.single(recv)
		if err != nil || !ok {
			return nil, false, err
		}
		q, _ := toQuantity(item.system()).(*Quantity)
		if q == nil {
			return nil, true, nil
		}
		if len(args) == 0 {
			return q, true, nil
		}
		unit, ok, err := r.text(args[0], at)
		if err != nil || !ok {
			return nil, false, err
		}
		if q = inUnit(q, unit); q == nil {
			return nil, true, nil
		}
		return q, true, nil
	}, nil
}

// inUnit converts a quantity; nil if it does not measure the same.
func inUnit(q *Quantity, unit string) *Quantity {
	target := &Quantity{Value: apd.New(1, 0), Unit: unit, Calendar: calendarUnits[unit] != 0}
	if target.Unit == q.Unit && target.Calendar == q.Calendar {
		return q
	}
	x, y, ok := commonUnit(target, q, false)
	if !ok {
		return nil
	}
	var value apd.Decimal
	if _, err := decimals.Quo(&value, y.Value, x.Value); err != nil {
		return nil
	}
	shorten(&value)
	return &Quantity{Value: &value, Unit: target.Unit, Calendar: target.Calendar}
}

func compileToQuantity(c *compiler, call invocation) (step, error) {
	convert, err := c.quantityConversion(call)
	return func(r *run) error {
		value, ok, err := convert(r)
		if err != nil || !ok || value == nil {
			return err
		}
		return r.pushValue(value)
	}, err
}

func compileConvertsToQuantity(c *compiler, call invocation) (step, error) {
	convert, err := c.quantityConversion(call)
	return func(r *run) error {
		value, ok, err := convert(r)
		if err != nil || !ok {
			return err
		}
		return r.pushValue(value != nil)
	}, err
}
