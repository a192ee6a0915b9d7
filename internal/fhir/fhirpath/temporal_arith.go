package fhirpath

import (
	"time"

	"github.com/cockroachdb/apd/v3"
)

// plus adds a duration to a date or time, or takes it away
// (http://hl7.org/fhirpath/N1/#datetime-arithmetic): a *Temporal, nil where the
// result is out of range, or an *Error if the unit is no calendar unit.
// A month's end is kept: January 31 and one month is the end of February.
func (t *Temporal) plus(q *Quantity, negate bool, at int) any {
	unit := calendarUnits[q.Unit] // also of '1 'month'', as the official tests have it
	if unit == 0 {
		unit = ucumTime[q.Unit]
	}
	if unit == 0 {
		return fault(at, "'%s' cannot be added to a %s", q.Unit, t.Kind)
	}
	if t.Kind == KindTime && unit < unitHour {
		return fault(at, "a %s cannot be added to a Time", q.Unit)
	}
	value := q.Value
	if negate {
		value = new(apd.Decimal).Neg(value)
	}
	amount, ok := t.amount(value, unit)
	if !ok {
		return nil
	}
	var sum *Temporal
	if amount.unit <= unitMonth {
		sum = t.addMonths(amount)
	} else {
		sum = t.addTime(amount)
	}
	if sum == nil {
		return nil
	}
	return sum
}

// duration is a whole number of units.
type duration struct {
	n    int64
	unit calendarUnit
}

// amount cuts a decimal value to whole units; seconds become milliseconds
// where the value has a fraction of them. A unit finer than the value's
// precision is converted to it: 24 months on a year are two years.
func (t *Temporal) amount(value *apd.Decimal, unit calendarUnit) (duration, bool) {
	if unit == unitSecond {
		var ms apd.Decimal
		if _, err := decimals.Mul(&ms, value, apd.New(1000, 0)); err != nil {
			return duration{}, false
		}
		value, unit = &ms, unitMillisecond
	}
	var whole apd.Decimal
	if _, err := decimals.Quantize(&whole, value, 0); err != nil {
		return duration{}, false
	}
	if whole.Cmp(value) != 0 { // rounded; cut instead
		cut := decimals
		cut.Rounding = apd.RoundDown
		if _, err := cut.Quantize(&whole, value, 0); err != nil {
			return duration{}, false
		}
	}
	n, err := whole.Int64()
	if err != nil || n > 1<<50 || n < -1<<50 {
		return duration{}, false
	}
	d := duration{n, unit}
	if t.Kind == KindTime {
		return d, true
	}
	return d.coarsen(t.Precision), true
}

// coarsen converts a duration to a precision that does not go as far.
func (d duration) coarsen(to Precision) duration {
	switch {
	case to >= PrecisionSecond, d.unit == unitYear:
		return d
	case d.unit == unitMonth:
		if to == PrecisionYear {
			return duration{d.n / 12, unitYear}
		}
		return d
	}
	ms := milliseconds[d.unit]
	const day = 24 * 3600_000
	switch to {
	case PrecisionYear:
		return duration{d.n * ms / (365 * day), unitYear}
	case PrecisionMonth:
		return duration{d.n * ms / (30 * day), unitMonth}
	case PrecisionDay:
		return duration{d.n * ms / day, unitDay}
	case PrecisionHour:
		return duration{d.n * ms / 3600_000, unitHour}
	}
	return duration{d.n * ms / 60_000, unitMinute}
}

// addMonths adds years or months and clamps the day.
func (t *Temporal) addMonths(d duration) *Temporal {
	if d.n > 12*10000 || d.n < -12*10000 {
		return nil
	}
	n := int(d.n)
	if d.unit == unitYear {
		n *= 12
	}
	months := t.Year*12 + max(t.Month, 1) - 1 + n
	s := *t
	s.Year, s.Month = months/12, months%12+1
	if months < 12 || s.Year > 9999 {
		return nil
	}
	s.Day = min(max(t.Day, 1), daysIn(s.Year, s.Month))
	return &s
}

// addTime adds weeks and everything shorter. A Time goes round the clock.
func (t *Temporal) addTime(d duration) *Temporal {
	ms := milliseconds[d.unit]
	const year = 366 * 24 * 3600_000
	if d.n > 10000*year/ms || d.n < -10000*year/ms {
		return nil
	}
	total := d.n * ms
	at := t.time()
	if t.Kind == KindTime {
		at = time.Date(2000, 1, 1, t.Hour, t.Minute, t.Second, t.Nanosecond, time.UTC)
		total %= 24 * 3600_000
	}
	// Whole days first: a time.Duration ends at 292 years.
	at = at.AddDate(0, 0, int(total/(24*3600_000))).Add(time.Duration(total%(24*3600_000)) * time.Millisecond)
	if t.Kind != KindTime && (at.Year() < 1 || at.Year() > 9999) {
		return nil
	}
	s := *t
	if t.Kind != KindTime {
		s.Year, s.Month, s.Day = at.Year(), int(at.Month()), at.Day()
	}
	s.Hour, s.Minute, s.Second, s.Nanosecond = at.Hour(), at.Minute(), at.Second(), at.Nanosecond()
	if t.Precision == PrecisionSecond && s.Nanosecond%1e9 != 0 && s.FractionDigits < 3 {
		s.FractionDigits = 3
	}
	return &s
}
