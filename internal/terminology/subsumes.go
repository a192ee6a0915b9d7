package terminology

import "starling/internal/fhir"

// Subsumes says how two codes of a system relate, as a code of
// http://hl7.org/fhir/concept-subsumption-outcome
// (https://hl7.org/fhir/R4/codesystem-operation-subsumes.html). A code that
// does not exist: KindNotFound.
func (s *CodeSystem) Subsumes(a, b string) (string, error) {
	var n [2]int
	for i, code := range []string{a, b} {
		var ok bool
		if n[i], ok = s.find(code); !ok {
			failure := fhir.NewError(fhir.KindNotFound, fhir.IssueNotFound,
				"The code "+shorten(code)+" is not in the code system "+withVersion(s.URL, s.Version)+".")
			if !s.complete() {
				failure = failure.Because(ErrNotHeld)
			}
			return "", failure
		}
	}
	switch {
	case n[0] == n[1]:
		return "equivalent", nil
	case s.ancestors(n[1]).has(n[0]):
		return "subsumes", nil
	case s.ancestors(n[0]).has(n[1]):
		return "subsumed-by", nil
	}
	return "not-subsumed", nil
}
