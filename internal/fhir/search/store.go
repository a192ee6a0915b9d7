package search

import "starling/internal/fhir"

// planID reads _id. A value that is no id finds nothing.
func planID(_ *planning, q *queryParameter) (fhir.Criterion, error) {
	var ids fhir.IDIn
	for _, value := range splitEscaped(q.value, ',') {
		if value != "" {
			ids = append(ids, unescape(value))
		}
	}
	switch {
	case len(ids) == 0:
		return nil, nil
	case len(ids) > maxChoices:
		return nil, q.tooMany()
	}
	return ids, nil
}

// planLastUpdated reads _lastUpdated, a time and not an interval: ap is eq in
// the wider range.
func planLastUpdated(p *planning, q *queryParameter) (fhir.Criterion, error) {
	return anyOf(q, func(value string) (fhir.Criterion, error) {
		prefix, wanted, err := p.dateValue(q, value)
		if err != nil {
			return nil, err
		}
		if prefix == fhir.PrefixApproximate {
			prefix = fhir.PrefixEqual
		}
		return fhir.Updated{Prefix: prefix, Range: wanted}, nil
	})
}
