package fhirpath

import "time"

// Environment is what an evaluation knows besides its focus. A nil
// *Environment and the zero value work: every part has a default.
type Environment struct {
	// Resource is %resource, the resource that holds the focus; the focus
	// itself if not given.
	Resource Item
	// RootResource is %rootResource: the container where Resource is
	// contained; Resource if not given.
	RootResource Item
	// Context is %context; the focus if not given.
	Context Item
	// Resolve gives the target of a reference, and false where there is none
	// or it is not to be had. Targets contained in RootResource, and the other
	// entries if that is a Bundle, are found without it. What remains unresolved still has the type that its text
	// tells, so `resolve() is Patient` is decided without any resolver.
	Resolve func(reference string) (Item, bool)
	// MemberOf decides memberOf(valueSet) for a code, Coding or
	// CodeableConcept; known is false for a value set that cannot be had.
	// Without it memberOf is empty.
	MemberOf func(item Item, valueSet string) (member, known bool)
	// Subsumes decides subsumes: whether the concept a is b or above it.
	Subsumes func(a, b Item) (subsumes, known bool)
	// ConformsTo decides conformsTo(profile); known is false for an unknown
	// profile. Without it the base types of R4 are known.
	ConformsTo func(item Item, profile string) (conforms, known bool)
	// Now is now(); the time of the evaluation if zero.
	Now time.Time
	// Variables are further %names, without the %.
	Variables map[string]Collection
	// Trace receives what trace() is called on.
	Trace func(name string, values Collection)
	// Limits bound the evaluation; the zero fields have defaults.
	Limits Limits
}

// Limits bound what one evaluation may take.
type Limits struct {
	Items int // in all collections at once
	Steps int // operations, and items visited
}

// DefaultLimits let every expression of R4 run on resources of megabytes.
var DefaultLimits = Limits{Items: 1_000_000, Steps: 20_000_000}

// UserLimits are for expressions that clients write: the worst of them ends
// within 100 ms.
var UserLimits = Limits{Items: 50_000, Steps: 300_000}

// stepsPerValue is what a value of a large resource adds.
const stepsPerValue = 100

// ForSize gives the limits for a resource of so many bytes, these being those for a
// small one: more in proportion, some 16 bytes a value.
func (l Limits) ForSize(bytes int) Limits {
	values := bytes / 16
	l.Steps += stepsPerValue * values
	l.Items = min(l.Items+2*values, DefaultLimits.Items)
	return l
}

// maxString bounds the strings that evaluation makes, in bytes.
const maxString = 1 << 20
