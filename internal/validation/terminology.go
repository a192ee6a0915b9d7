package validation

import (
	"slices"
	"sync"

	"starling/internal/fhir/definition"
)

// Membership says whether a code is in a value set.
type Membership uint8

// The answers. Unknown is for a value set, or a code system of it, that cannot
// be had: it is never an error.
const (
	Unknown Membership = iota
	Yes
	No
)

// Terminology knows value sets. Implementations are safe for concurrent use.
type Terminology interface {
	// Member says whether a code is in the value set of a canonical, with or
	// without |version. system is "" for elements that have none, such as
	// those of type code: then any system of the value set will do.
	Member(valueSet, system, code string) Membership
	// Defines says whether a code is one of a code system, as far as that is held
	// here: no other server is asked.
	Defines(system, code string) Membership
}

// specification is the terminology of the definitions alone.
type specification struct {
	registry *definition.Registry
	sets     sync.Map // canonical → map of code → systems; nil if it cannot be enumerated
}

func (s *specification) Member(valueSet, system, code string) Membership {
	codes, ok := s.sets.Load(valueSet)
	if !ok {
		enumerated, known := s.registry.Codes(valueSet)
		if !known {
			enumerated = nil
		}
		codes, _ = s.sets.LoadOrStore(valueSet, enumerated)
	}
	set := codes.(map[string][]string)
	if set == nil {
		return Unknown
	}
	if systems, ok := set[code]; ok && (system == "" || slices.Contains(systems, system)) {
		return Yes
	}
	return No
}

// Defines implements Terminology: the definitions are read for value sets alone.
func (*specification) Defines(string, string) Membership { return Unknown }
