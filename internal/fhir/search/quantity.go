package search

import (
	"starling/internal/fhir"
	"starling/internal/fhir/element"
	"starling/internal/fhir/ucum"
)

// https://hl7.org/fhir/R4/search.html#quantity
var quantityReaders = map[string]reader{
	"Quantity": readQuantity,
	"Age":      readQuantity,
	"Count":    readQuantity,
	"Distance": readQuantity,
	"Duration": readQuantity,
	"Money":    readMoney,
	"Range":    readRange,
}

// currencies is the system of Money.currency.
const currencies = "urn:iso:std:iso:4217"

func readQuantity(x *extraction, t *take, n element.Node) {
	value := number(n.Get("value"))
	if value == "" {
		return
	}
	v := fhir.QuantityValue{Param: t.param}
	v.System, v.Code, v.Unit = unit(n)
	switch n.Get("comparator").Str() {
	case "<", "<=":
		v.High = value
	case ">", ">=":
		v.Low = value
	default:
		v.Value = value
	}
	x.quantities.add(v)
}

// ucumSystem is the system of UCUM's units.
const ucumSystem = "http://unitsofmeasure.org"

// canonical gives a quantity in the canonical unit of its dimension; nil where
// there is none.
func canonical(system, code, value, low, high string) *fhir.CanonicalQuantity {
	if system != ucumSystem {
		return nil
	}
	var c fhir.CanonicalQuantity
	for _, n := range []struct{ from, to *string }{{&value, &c.Value}, {&low, &c.Low}, {&high, &c.High}} {
		if *n.from == "" {
			continue
		}
		var err error
		if *n.to, c.Unit, err = ucum.Canonical(*n.from, code); err != nil {
			return nil
		}
	}
	return &c
}

// quantityValues copies the quantities, each with its canonical form.
func (x *extraction) quantityValues() []fhir.QuantityValue {
	out := x.quantities.distinct()
	for i, v := range out {
		out[i].Canonical = canonical(v.System, v.Code, v.Value, v.Low, v.High)
	}
	return out
}

func unit(n element.Node) (system, code, text string) {
	return n.Get("system").Str(), n.Get("code").Str(), n.Get("unit").Str()
}

func readMoney(x *extraction, t *take, n element.Node) {
	v := fhir.QuantityValue{Param: t.param, Value: number(n.Get("value"))}
	if v.Value == "" {
		return
	}
	if v.Code = n.Get("currency").Str(); v.Code != "" {
		v.System = currencies
	}
	x.quantities.add(v)
}

// readRange takes the ends of a Range as they are; its unit is that of either.
func readRange(x *extraction, t *take, n element.Node) {
	low, high := rangeEnds(n)
	if low == "" && high == "" {
		return
	}
	end := n.Get("high")
	if !end.Exists() {
		end = n.Get("low")
	}
	v := fhir.QuantityValue{Param: t.param, Low: low, High: high}
	v.System, v.Code, v.Unit = unit(end)
	x.quantities.add(v)
}

// planQuantity reads `number`, `number|system|code` or `number||code`
// (https://hl7.org/fhir/R4/search.html#quantity).
func planQuantity(_ *planning, t *term, value string) (fhir.Criterion, error) {
	const expected = "number, number|system|code or number||code"
	parts := splitEscaped(value, '|')
	if len(parts) != 1 && len(parts) != 3 {
		return nil, t.badValue(value, expected)
	}
	n, err := t.planNumberValue(value, unescape(parts[0]), false)
	if err != nil {
		return nil, err
	}
	quantity := fhir.Quantity{Param: t.code, Prefix: n.prefix, Value: n.value, Low: n.low, High: n.high}
	if len(parts) == 3 {
		quantity.System, quantity.Code = unescape(parts[1]), unescape(parts[2])
		if quantity.System != "" && quantity.Code == "" {
			return nil, t.badValue(value, expected)
		}
		quantity.Canonical = canonical(quantity.System, quantity.Code, quantity.Value, quantity.Low, quantity.High)
	}
	return quantity, nil
}
