package search

import "starling/internal/fhir"

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
	case n.prefix == fhir.PrefixApproximate:
		n.low, n.high = d.tenth()
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
