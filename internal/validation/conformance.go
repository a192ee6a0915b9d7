package validation

import "starling/internal/fhir/fhirpath"

// conformance is the question whether a value conforms to a profile.
type conformance struct {
	profile *profile
	at      int // where the value begins
}

// conforms reports whether an item conforms to a profile. Each question is
// answered once: profiles that ask two things of what they contain, each by the
// same profile, would otherwise ask twice as often at each level. To a question
// that depends on itself the answer is yes, if nothing else says no.
func (r *run) conforms(p *profile, item fhirpath.Item) bool {
	n := at(item)
	if !n.Exists() {
		return r.passes(func() { r.conform(p, item) })
	}
	start, _ := n.Span()
	question := conformance{p, start}
	if answer, asked := r.conforming[question]; asked {
		return answer
	}
	if r.conforming == nil {
		r.conforming = map[conformance]bool{}
	}
	r.conforming[question] = true
	answer := r.passes(func() { r.conform(p, item) })
	r.conforming[question] = answer
	return answer
}

// deep is how many profiles within profiles are checked before it is looked
// whether the same was checked already: few resources come as far.
const deep = 4

// hasReported reports whether what an item lacks of a profile has been reported,
// and notes that it will be.
func (r *run) hasReported(p *profile, item fhirpath.Item) bool {
	n := at(item)
	if !n.Exists() {
		return false
	}
	start, _ := n.Span()
	question := conformance{p, start}
	if r.reported[question] {
		return true
	}
	if r.reported == nil {
		r.reported = map[conformance]bool{}
	}
	r.reported[question] = true
	return false
}
