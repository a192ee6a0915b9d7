package search

import "starling/internal/fhir"

// planURI reads a uri, compared exactly
// (https://hl7.org/fhir/R4/search.html#uri).
func planURI(_ *planning, t *term, value string) (fhir.Criterion, error) {
	return fhir.URI{Param: t.code, URI: unescape(value)}, nil
}
