package terminology

import "starling/internal/fhir"

// Related lists a code and all below it in the system's hierarchy or, with
// above, all above it. Only a complete system can tell: of another, KindNotFound.
func (s *CodeSystem) Related(code string, above bool) ([]string, error) {
	n, ok := s.find(code)
	if !ok || !s.complete() {
		return nil, fhir.NewError(fhir.KindNotFound, fhir.IssueNotFound,
			"The code "+shorten(code)+" and its hierarchy are not held for the code system "+withVersion(s.URL, s.Version)+".")
	}
	related := s.descendants(n)
	if above {
		related = s.ancestors(n)
	}
	var out []string
	for i := range s.concepts {
		if related.has(i) {
			out = append(out, s.concepts[i].Code)
		}
	}
	return out, nil
}
