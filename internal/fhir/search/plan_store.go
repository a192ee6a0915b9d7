package search

import "starling/internal/fhir"

// planID reads a value of _id. One that is no id finds nothing.
func planID(_ *queryParameter, value string) (fhir.Criterion, error) {
	return fhir.IDIn{unescape(value)}, nil
}

func planLastUpdated(q *queryParameter, value string) (fhir.Criterion, error) {
	prefix, low, next, err := planDateValue(q, value)
	if err != nil {
		return nil, err
	}
	if prefix == fhir.PrefixApproximate {
		return nil, q.unsupported("the prefix ap makes no sense of the exact time of an update")
	}
	return fhir.Updated{Prefix: prefix, Range: fhir.TimeRange{Low: low, High: next}}, nil
}
