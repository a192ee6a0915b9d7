package fhirpath

import (
	"github.com/cockroachdb/apd/v3"

	"starling/internal/fhir/element"
)

// UCUM is the system of UCUM units; %ucum.
const UCUM = "http://unitsofmeasure.org"

// Quantity is a System.Quantity: a value and a UCUM unit ("1" for none) or a
// calendar unit.
type Quantity struct {
	Value *apd.Decimal
	Unit  string
	// Calendar says the unit is a calendar word such as "day", not UCUM.
	Calendar bool
	// local says the unit is a text of the source's own, not UCUM: it equals
	// the same text and converts to nothing.
	local bool
}

// String writes the quantity as a literal: 1 'mg', 4 days.
func (q *Quantity) String() string {
	if q.Calendar {
		return q.Value.Text('f') + " " + q.Unit
	}
	return q.Value.Text('f') + " '" + q.Unit + "'"
}

// calendarUnit is a calendar duration, in the order of length.
type calendarUnit uint8

const (
	unitYear calendarUnit = iota + 1
	unitMonth
	unitWeek
	unitDay
	unitHour
	unitMinute
	unitSecond
	unitMillisecond
)

// calendarUnits are the calendar words of FHIRPath.
var calendarUnits = map[string]calendarUnit{
	"year": unitYear, "years": unitYear,
	"month": unitMonth, "months": unitMonth,
	"week": unitWeek, "weeks": unitWeek,
	"day": unitDay, "days": unitDay,
	"hour": unitHour, "hours": unitHour,
	"minute": unitMinute, "minutes": unitMinute,
	"second": unitSecond, "seconds": unitSecond,
	"millisecond": unitMillisecond, "milliseconds": unitMillisecond,
}

// ucumTime are the UCUM units that equal a calendar unit. A UCUM month or year
// is a fixed time, which a calendar's is not.
var ucumTime = map[string]calendarUnit{
	"wk": unitWeek, "d": unitDay, "h": unitHour, "min": unitMinute, "s": unitSecond, "ms": unitMillisecond,
}

// fhirTime are the UCUM codes of durations in a FHIR Quantity, which stand for
// calendar units (https://hl7.org/fhir/R4/fhirpath.html#quantity).
var fhirTime = map[string]string{
	"a": "year", "mo": "month", "wk": "week", "d": "day", "h": "hour", "min": "minute", "s": "second", "ms": "millisecond",
}

// quantityOf reads a FHIR Quantity; nil without a value or with a comparator.
func quantityOf(n element.Node) *Quantity {
	if n.Get("comparator").Exists() {
		return nil
	}
	value := n.Get("value")
	if value.Kind() != element.Number {
		return nil
	}
	d, ok := parseDecimal(value.Literal())
	if !ok {
		return nil
	}
	q := &Quantity{Value: d, Unit: "1"}
	code := n.Get("code").Str()
	switch {
	case n.Get("system").Str() == UCUM && code != "":
		if word, ok := fhirTime[code]; ok && (code == "a" || code == "mo") {
			q.Unit, q.Calendar = word, true
		} else {
			q.Unit = code
		}
	case code != "":
		q.Unit, q.local = code, true
	case n.Get("unit").Exists():
		q.Unit, q.local = n.Get("unit").Str(), true
	}
	return q
}

// with gives another value in the same unit.
func (q *Quantity) with(value *apd.Decimal) *Quantity {
	other := *q
	other.Value = value
	return &other
}
