package fhirpath

import (
	"fmt"
	"strings"
)

// TemporalKind tells dates, dateTimes and times apart.
type TemporalKind uint8

// The kinds of temporal value.
const (
	KindDate TemporalKind = iota + 1
	KindDateTime
	KindTime
)

// String gives the name of the system type.
func (k TemporalKind) String() string {
	switch k {
	case KindDate:
		return "Date"
	case KindDateTime:
		return "DateTime"
	case KindTime:
		return "Time"
	}
	return ""
}

// Precision is how far a temporal value goes. Seconds and their fraction are
// one precision to comparison.
type Precision uint8

// The precisions.
const (
	PrecisionYear Precision = iota + 1
	PrecisionMonth
	PrecisionDay
	PrecisionHour
	PrecisionMinute
	PrecisionSecond
)

// Temporal is a Date, DateTime or Time, as precise as it was written.
type Temporal struct {
	Kind                 TemporalKind
	Precision            Precision
	Year, Month, Day     int
	Hour, Minute, Second int
	Nanosecond           int
	FractionDigits       int // of the second, as written
	HasOffset            bool
	Offset               int // minutes east of UTC
}

// String writes the value as FHIR does, without the @ of a literal.
func (t *Temporal) String() string {
	var b strings.Builder
	if t.Kind != KindTime {
		fmt.Fprintf(&b, "%04d", t.Year)
		if t.Precision >= PrecisionMonth {
			fmt.Fprintf(&b, "-%02d", t.Month)
		}
		if t.Precision >= PrecisionDay {
			fmt.Fprintf(&b, "-%02d", t.Day)
		}
		if t.Precision < PrecisionHour {
			return b.String()
		}
		b.WriteByte('T')
	}
	fmt.Fprintf(&b, "%02d", t.Hour)
	if t.Precision >= PrecisionMinute {
		fmt.Fprintf(&b, ":%02d", t.Minute)
	}
	if t.Precision >= PrecisionSecond {
		fmt.Fprintf(&b, ":%02d", t.Second)
		if digits := min(t.FractionDigits, 9); digits > 0 {
			b.WriteByte('.')
			b.WriteString(fmt.Sprintf("%09d", t.Nanosecond)[:digits])
		}
	}
	switch {
	case !t.HasOffset:
	case t.Offset == 0:
		b.WriteByte('Z')
	case t.Offset < 0:
		fmt.Fprintf(&b, "-%02d:%02d", -t.Offset/60, -t.Offset%60)
	default:
		fmt.Fprintf(&b, "+%02d:%02d", t.Offset/60, t.Offset%60)
	}
	return b.String()
}

// asDateTime is the value as a DateTime of the same precision.
func (t *Temporal) asDateTime() *Temporal {
	if t.Kind == KindDateTime {
		return t
	}
	d := *t
	d.Kind = KindDateTime
	return &d
}

// asDate is the date of a Date or DateTime.
func (t *Temporal) asDate() *Temporal {
	return &Temporal{Kind: KindDate, Precision: min(t.Precision, PrecisionDay), Year: t.Year, Month: t.Month, Day: t.Day}
}
