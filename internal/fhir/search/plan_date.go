package search

import (
	"time"

	"starling/internal/fhir"
)

// prefixes are the comparison prefixes
// (https://hl7.org/fhir/R4/search.html#prefix).
var prefixes = map[string]fhir.Prefix{
	"eq": fhir.PrefixEqual, "ne": fhir.PrefixNotEqual, "gt": fhir.PrefixGreater, "lt": fhir.PrefixLess,
	"ge": fhir.PrefixGreaterOrEqual, "le": fhir.PrefixLessOrEqual, "sa": fhir.PrefixStartsAfter,
	"eb": fhir.PrefixEndsBefore, "ap": fhir.PrefixApproximate,
}

// cutPrefix takes the prefix off a value; without one it is eq.
func cutPrefix(value string) (fhir.Prefix, string) {
	if len(value) > 2 {
		if prefix, ok := prefixes[value[:2]]; ok {
			return prefix, value[2:]
		}
	}
	return fhir.PrefixEqual, value
}

// planDateValue reads a prefix and a date.
func planDateValue(q *queryParameter, value string) (prefix fhir.Prefix, low, next time.Time, err error) {
	prefix, text := cutPrefix(unescape(value))
	low, next, ok := parseDate(text)
	if !ok {
		return prefix, low, next, q.badValue(value, "a date such as 2012, 2012-05, 2012-05-31 or 2012-05-31T10:00:00Z, with a prefix or without,")
	}
	return prefix, low, next, nil
}

// planDate reads a date with a prefix. ap widens it by a tenth of its distance
// from now on either side.
func planDate(p *planning, t *term, value string) (fhir.Criterion, error) {
	prefix, low, next, err := planDateValue(t.queryParameter, value)
	if err != nil {
		return nil, err
	}
	if prefix == fhir.PrefixApproximate {
		margin := p.search.now().Sub(low).Abs() / 10
		low, next = low.Add(-margin), next.Add(margin)
	}
	return fhir.Date{Param: t.code, Prefix: prefix, Range: fhir.TimeRange{Low: low, High: next}}, nil
}
