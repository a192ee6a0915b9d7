package fhirpath

import "time"

// http://hl7.org/fhirpath/N1/#current-date-and-time-functions. All calls of an
// evaluation see one time.
var clockFunctions = map[string]function{
	"now":       clock(func(t *Temporal) *Temporal { return t }),
	"today":     clock(func(t *Temporal) *Temporal { return t.asDate() }),
	"timeOfDay": clock(timeOfDay),
}

func clock(part func(*Temporal) *Temporal) function {
	return function{0, 0, func(*compiler, invocation) (step, error) {
		return func(r *run) error { return r.pushValue(part(temporalOf(r.clock()))) }, nil
	}}
}

// temporalOf is a time as a DateTime to the millisecond, with its offset.
func temporalOf(at time.Time) *Temporal {
	_, seconds := at.Zone()
	return &Temporal{
		Kind: KindDateTime, Precision: PrecisionSecond,
		Year: at.Year(), Month: int(at.Month()), Day: at.Day(),
		Hour: at.Hour(), Minute: at.Minute(), Second: at.Second(),
		Nanosecond: at.Nanosecond() / 1e6 * 1e6, FractionDigits: 3,
		HasOffset: true, Offset: seconds / 60,
	}
}

func timeOfDay(t *Temporal) *Temporal {
	return &Temporal{
		Kind: KindTime, Precision: t.Precision,
		Hour: t.Hour, Minute: t.Minute, Second: t.Second, Nanosecond: t.Nanosecond, FractionDigits: t.FractionDigits,
	}
}
