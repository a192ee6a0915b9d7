package search

import (
	"starling/internal/fhir"
	"starling/internal/fhir/element"
)

// https://hl7.org/fhir/R4/search.html#number
var numberReaders = map[string]reader{
	"decimal":     readDecimal,
	"integer":     readInteger,
	"positiveInt": readInteger,
	"unsignedInt": readInteger,
	"Range":       readNumberRange,
}

func readDecimal(x *extraction, t *take, n element.Node) {
	if d, ok := parseDecimal(n.Literal()); ok {
		low, high := d.interval()
		x.numbers.add(fhir.NumberValue{Param: t.param, Value: d.String(), Low: low, High: high})
	}
}

// readInteger takes an integer, which is exact.
func readInteger(x *extraction, t *take, n element.Node) {
	if d, ok := parseDecimal(n.Literal()); ok {
		value := d.String()
		x.numbers.add(fhir.NumberValue{Param: t.param, Value: value, Low: value, High: value})
	}
}

// readNumberRange takes a Range where the other choice is a number: the ends
// alone.
func readNumberRange(x *extraction, t *take, n element.Node) {
	v := fhir.NumberValue{Param: t.param}
	if d, ok := parseDecimal(n.Get("low").Get("value").Literal()); ok {
		v.Low = d.String()
	}
	if d, ok := parseDecimal(n.Get("high").Get("value").Literal()); ok {
		v.High = d.String()
	}
	if v.Low != "" || v.High != "" {
		x.numbers.add(v)
	}
}
