package terminology

import "starling/internal/fhir"

// The bounds of what one question may cost. They are far beyond what the value
// sets of the specification and of published packages need.
const (
	// maxCompile is how many concepts compiling one value set may look at,
	// those of all filters of all its includes together.
	maxCompile = 5_000_000
	// maxSteps is how many parts of compositions one code may be compared with.
	maxSteps = 200_000
	// maxHeight is how deep value sets may include each other.
	maxHeight = 64
	// maxRegex is the longest regular expression of a filter.
	maxRegex = 1000
	// MaxExpansion is the most codes an expansion counts; of one with more the
	// total is not told.
	MaxExpansion = 100_000
	// MaxWhole is the most codes an expansion gives at once.
	MaxWhole = 10_000
)

func tooCostly(text string) *fhir.Error {
	return fhir.NewError(fhir.KindUnprocessable, fhir.IssueTooCostly, text)
}
