package search

import "starling/internal/fhir"

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
	}
	return quantity, nil
}
