package search

import (
	"starling/internal/fhir"
	"starling/internal/fhir/element"
)

// https://hl7.org/fhir/R4/search.html#quantity
var quantityReaders = map[string]reader{
	"Quantity":       readQuantity,
	"SimpleQuantity": readQuantity,
	"MoneyQuantity":  readQuantity,
	"Age":            readQuantity,
	"Count":          readQuantity,
	"Distance":       readQuantity,
	"Duration":       readQuantity,
	"Money":          readMoney,
	"Range":          readRange,
}

// currencies is the system of Money.currency.
const currencies = "urn:iso:std:iso:4217"

func readQuantity(x *extraction, t *take, n element.Node) {
	d, ok := parseDecimal(n.Get("value").Literal())
	if !ok {
		return
	}
	v := fhir.QuantityValue{Param: t.param, Value: d.String()}
	v.System, v.Code, v.Unit = unit(n)
	switch n.Get("comparator").Str() {
	case "<", "<=":
		v.High = v.Value
	case ">", ">=":
		v.Low = v.Value
	default:
		v.Low, v.High = d.interval()
	}
	x.quantities.add(v)
}

func unit(n element.Node) (system, code, text string) {
	return n.Get("system").Str(), n.Get("code").Str(), n.Get("unit").Str()
}

func readMoney(x *extraction, t *take, n element.Node) {
	d, ok := parseDecimal(n.Get("value").Literal())
	if !ok {
		return
	}
	v := fhir.QuantityValue{Param: t.param, Value: d.String()}
	v.Low, v.High = d.interval()
	if v.Code = n.Get("currency").Str(); v.Code != "" {
		v.System = currencies
	}
	x.quantities.add(v)
}

// readRange takes the ends of a Range as they are; its unit is that of either.
func readRange(x *extraction, t *take, n element.Node) {
	v := fhir.QuantityValue{Param: t.param}
	for _, end := range [...]struct {
		n  element.Node
		to *string
	}{{n.Get("low"), &v.Low}, {n.Get("high"), &v.High}} {
		if d, ok := parseDecimal(end.n.Get("value").Literal()); ok {
			*end.to = d.String()
			v.System, v.Code, v.Unit = unit(end.n)
		}
	}
	if v.Low != "" || v.High != "" {
		x.quantities.add(v)
	}
}
