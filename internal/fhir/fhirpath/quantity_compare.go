package fhirpath

import (
	"github.com/cockroachdb/apd/v3"

	"starling/internal/fhir/ucum"
)

// milliseconds are the lengths of the units that have a fixed one.
var milliseconds = map[calendarUnit]int64{
	unitWeek: 7 * 24 * 3600_000, unitDay: 24 * 3600_000, unitHour: 3600_000, unitMinute: 60_000, unitSecond: 1000, unitMillisecond: 1,
}

// unitSteps is what an operation on quantities counts for: units may have to be
// parsed and values converted.
const unitSteps = 100

func (r *run) tickQuantity(a, b any) error {
	_, okA := a.(*Quantity)
	_, okB := b.(*Quantity)
	if okA || okB {
		return r.tick(unitSteps)
	}
	return nil
}

// compareQuantity orders two quantities; known is false if their units measure
// different things or cannot be converted.
func compareQuantity(a, b *Quantity) (order int, known bool) {
	a, b, ok := commonUnit(a, b, false)
	if !ok {
		return 0, false
	}
	return a.Value.Cmp(b.Value), true
}

// commonUnit expresses both in one unit, that of a if UCUM converts. A calendar year and UCUM's 'a' are
// different units, except to equivalence (loose).
func commonUnit(a, b *Quantity, loose bool) (x, y *Quantity, ok bool) {
	unitA, unitB := a.duration(loose), b.duration(loose)
	switch {
	case a.Unit == b.Unit && a.Calendar == b.Calendar, unitA != 0 && unitA == unitB:
		return a, b, true
	case unitA != 0 && unitB != 0:
		return sameDuration(a, unitA, b, unitB)
	case a.Calendar || b.Calendar || a.local || b.local:
		return nil, nil, false
	}
	converted, err := ucum.Convert(b.Value, b.Unit, a.Unit)
	if err != nil {
		return nil, nil, false
	}
	return a, &Quantity{Value: converted, Unit: a.Unit}, true
}

// duration is the calendar unit the quantity's unit equals, or 0.
func (q *Quantity) duration(loose bool) calendarUnit {
	if q.Calendar {
		return calendarUnits[q.Unit]
	}
	if loose && (q.Unit == "a" || q.Unit == "mo") {
		return calendarUnits[fhirTime[q.Unit]]
	}
	return ucumTime[q.Unit]
}

func sameDuration(a *Quantity, unitA calendarUnit, b *Quantity, unitB calendarUnit) (x, y *Quantity, ok bool) {
	if (unitA <= unitMonth) != (unitB <= unitMonth) {
		return nil, nil, false
	}
	x, y = a.in(unitA), b.in(unitB)
	return x, y, x != nil && y != nil
}

// in expresses a duration in months or in milliseconds; nil if it overflows.
func (q *Quantity) in(unit calendarUnit) *Quantity {
	factor, name := int64(1), "month"
	switch {
	case unit == unitYear:
		factor = 12
	case unit != unitMonth:
		factor, name = milliseconds[unit], "millisecond"
	}
	var value apd.Decimal
	if _, err := decimals.Mul(&value, q.Value, apd.New(factor, 0)); err != nil {
		return nil
	}
	return &Quantity{Value: &value, Unit: name, Calendar: true}
}
