package search

import (
	"strconv"

	"starling/internal/fhir"
)

// The number of matches a page has unless _count says otherwise, and the most
// one has whatever it says.
const (
	defaultCount = 50
	maxCount     = 1000
)

// controls are the parameters that shape the result instead of choosing
// matches (https://hl7.org/fhir/R4/search.html#modifyingresults). A nil one is
// the business of whoever writes the answer, or of containedMode.
var controls = map[string]func(query *fhir.SearchQuery, q *queryParameter) error{
	"_count":   setCount,
	"_total":   setTotal,
	"_summary": setSummary,
	// They turn the search when all of it is planned.
	"_contained":     nil,
	"_containedType": nil,
	"_elements":      nil,
	"_format":        nil,
	"_pretty":        nil,
}

// control applies one of the controls. It may be given once.
func control(query *fhir.SearchQuery, q *queryParameter, set func(*fhir.SearchQuery, *queryParameter) error, seen map[string]bool) error {
	switch {
	case q.name != q.code:
		return q.unsupported("it takes neither modifiers nor chains")
	case set == nil || q.value == "":
		return nil
	case seen[q.code]:
		return invalid("The parameter " + quote(q.name) + " may be given once only.")
	}
	seen[q.code] = true
	return set(query, q)
}

func setCount(query *fhir.SearchQuery, q *queryParameter) error {
	n, err := strconv.ParseUint(q.value, 10, 31)
	if err != nil {
		return q.badValue(q.value, "a number from 0 on")
	}
	// _summary=count has said already that no matches are wanted.
	if query.Count > 0 {
		query.Count = min(int(n), maxCount)
	}
	return nil
}

func setTotal(query *fhir.SearchQuery, q *queryParameter) error {
	switch q.value {
	case "none":
		query.Total = fhir.TotalNone
	case "estimate":
		query.Total = fhir.TotalEstimate
	case "accurate":
		query.Total = fhir.TotalAccurate
	default:
		return q.badValue(q.value, "none, estimate or accurate")
	}
	return nil
}

func setSummary(query *fhir.SearchQuery, q *queryParameter) error {
	switch q.value {
	case "count":
		query.Count = 0
	case "true", "text", "data", "false":
	default:
		return q.badValue(q.value, "true, text, data, count or false")
	}
	return nil
}
