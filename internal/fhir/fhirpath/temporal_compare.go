package fhirpath

import (
	"cmp"
	"time"
)

// compareTemporal orders two dates or dateTimes, or two times; known is false
// if the less precise of them, or one without a time zone, leaves it open
// (http://hl7.org/fhirpath/N1/#datetime-comparison).
func compareTemporal(a, b *Temporal) (order int, known bool) {
	timed := a.Kind != KindTime && a.Precision >= PrecisionHour && b.Precision >= PrecisionHour
	switch {
	case timed && a.HasOffset && b.HasOffset:
		return compareParts(a.utc(), b.utc())
	case timed && a.HasOffset != b.HasOffset:
		return compareAcrossZones(a, b)
	}
	return compareParts(a, b)
}

// compareAcrossZones compares where one has a time zone and the other could be
// in any, from 12 hours west to 14 east: known if it holds for all.
func compareAcrossZones(a, b *Temporal) (order int, known bool) {
	if b.HasOffset {
		order, known = compareAcrossZones(b, a)
		return -order, known
	}
	at := a.utc()
	west, east := *b, *b
	west.Offset, east.Offset = -12*60, 14*60
	low, lowKnown := compareParts(at, east.utc())
	high, highKnown := compareParts(at, west.utc())
	return low, lowKnown && highKnown && low == high && low != 0
}

func compareParts(a, b *Temporal) (order int, known bool) {
	x, y := a.parts(), b.parts()
	shared := min(a.Precision, b.Precision)
	for i := range int(shared) {
		if order := cmp.Compare(x[i], y[i]); order != 0 {
			return order, true
		}
	}
	return 0, a.Precision == b.Precision
}

// parts are the value's numbers in the order of Precision; the seconds have
// their fraction.
func (t *Temporal) parts() [6]int64 {
	seconds := int64(t.Second)*1e9 + int64(t.Nanosecond)
	return [6]int64{int64(t.Year), int64(t.Month), int64(t.Day), int64(t.Hour), int64(t.Minute), seconds}
}

// utc is the value in UTC, as precise as before.
func (t *Temporal) utc() *Temporal {
	return t.shift(-time.Duration(t.Offset)*time.Minute, 0)
}

// shift moves the value by a time, and gives it another offset.
func (t *Temporal) shift(by time.Duration, offset int) *Temporal {
	at := t.time().Add(by)
	s := *t
	s.Year, s.Month, s.Day = at.Year(), int(at.Month()), at.Day()
	s.Hour, s.Minute, s.Second, s.Nanosecond = at.Hour(), at.Minute(), at.Second(), at.Nanosecond()
	s.Offset = offset
	return &s
}

// time is the value's digits read as if in UTC.
func (t *Temporal) time() time.Time {
	return time.Date(t.Year, time.Month(max(t.Month, 1)), max(t.Day, 1), t.Hour, t.Minute, t.Second, t.Nanosecond, time.UTC)
}
