package search

import "starling/internal/fhir"

// planString reads a text, which a value begins with; has anywhere
// (:contains); or is (:exact), case and accents included
// (https://hl7.org/fhir/R4/search.html#string).
func planString(_ *planning, t *term, value string) (fhir.Criterion, error) {
	text := unescape(value)
	if t.modifier == "exact" {
		return fhir.String{Param: t.code, Match: fhir.StringExact, Value: text}, nil
	}
	folded := Fold(text)
	if folded == "" {
		return nil, t.badValue(value, "a text with more than spaces and punctuation")
	}
	if t.modifier == "contains" {
		return fhir.String{Param: t.code, Match: fhir.StringContains, Value: folded}, nil
	}
	return fhir.String{Param: t.code, Value: folded}, nil
}
