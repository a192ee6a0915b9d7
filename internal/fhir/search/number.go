package search

import (
	"strings"

	"starling/internal/fhir"
	"starling/internal/fhir/element"
)

// https://hl7.org/fhir/R4/search.html#number
var numberReaders = map[string]reader{
	"decimal":     readNumber,
	"integer":     readNumber,
	"positiveInt": readNumber,
	"unsignedInt": readNumber,
	"Range":       readNumberRange,
}

func readNumber(x *extraction, t *take, n element.Node) {
	if value := number(n); value != "" {
		x.numbers.add(fhir.NumberValue{Param: t.param, Value: value})
	}
}

// number gives a JSON number as it is written, without an exponent unless it
// would take many zeros; "" for anything else.
func number(n element.Node) string {
	if n.Kind() != element.Number {
		return ""
	}
	text := n.Literal()
	if strings.ContainsAny(text, "eE") {
		d, ok := parseDecimal(text)
		if !ok {
			return ""
		}
		return d.String()
	}
	return text
}

// readNumberRange takes a Range where the other choice is a number: the ends
// alone.
func readNumberRange(x *extraction, t *take, n element.Node) {
	v := fhir.NumberValue{Param: t.param, Low: number(n.Get("low").Get("value")), High: number(n.Get("high").Get("value"))}
	if v.Low != "" || v.High != "" {
		x.numbers.add(v)
	}
}
