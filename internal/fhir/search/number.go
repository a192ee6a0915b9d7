package search

import (
	"math/big"
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
	if low, high := rangeEnds(n); low != "" || high != "" {
		x.numbers.add(fhir.NumberValue{Param: t.param, Low: low, High: high})
	}
}

// rangeEnds gives the ends of a Range, "" for an open one, the lower first.
func rangeEnds(n element.Node) (low, high string) {
	low, high = number(n.Get("low").Get("value")), number(n.Get("high").Get("value"))
	if low == "" || high == "" {
		return low, high
	}
	from, ok1 := new(big.Rat).SetString(low)
	to, ok2 := new(big.Rat).SetString(high)
	if ok1 && ok2 && from.Cmp(to) > 0 {
		return high, low
	}
	return low, high
}

// searchNumber is the number of a search: its text and what it stands for.
type searchNumber struct {
	prefix           fhir.Prefix
	value, low, high string
}

// planNumberValue reads a prefix and a number. Integers are compared exactly,
// unless the number is written with an exponent.
func (t *term) planNumberValue(value, text string, integers bool) (n searchNumber, err error) {
	n.prefix, text = cutPrefix(text)
	d, ok := parseDecimal(text)
	if !ok {
		return n, t.badValue(value, "a number such as 100, 5.40 or 1e2, with a prefix or without,")
	}
	n.value = d.String()
	switch {
	case n.prefix == fhir.PrefixApproximate && d.sign() != 0:
		n.low, n.high = d.tenth()
	case n.prefix == fhir.PrefixApproximate: // a tenth of 0 is nothing
		n.low, n.high = d.interval()
	case integers && !d.scientific:
		n.low, n.high = n.value, n.value
	default:
		n.low, n.high = d.interval()
	}
	return n, nil
}

func planNumber(_ *planning, t *term, value string) (fhir.Criterion, error) {
	integers := !t.some(func(e *take) bool { return e.typ == "decimal" || e.typ == "Range" })
	n, err := t.planNumberValue(value, unescape(value), integers)
	if err != nil {
		return nil, err
	}
	return fhir.Number{Param: t.code, Prefix: n.prefix, Value: n.value, Low: n.low, High: n.high}, nil
}
