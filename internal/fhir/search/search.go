package search

import (
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"starling/internal/fhir"
	"starling/internal/fhir/definition"
)

// Search indexes resources and plans queries by the search parameters of a
// registry. What it compiles on first use of a type it keeps; it is safe for
// concurrent use.
type Search struct {
	registry *definition.Registry
	types    map[fhir.ResourceType]*lazyParameters
	now      func() time.Time // for the prefix ap of dates
	// terminology answers :in, :not-in, :above and :below of tokens; without
	// it they are refused.
	terminology Terminology
	text        TextSearch

	folding  sync.Map // by code system, what foldsCase found
	foldings atomic.Int64

	revIncludes sync.Map // by resource type, what RevIncludes found

	// progress tells of a parameter stored at run time which resources are
	// indexed; nil: all.
	progress func(param string) error
	refused  []Refused // stored at run time and not served
	// parts has the definitions of the parts of composites; nil: s itself.
	parts *Search
}

// New makes a Search for all resource types of a registry.
func New(registry *definition.Registry) *Search {
	s := &Search{registry: registry, types: map[fhir.ResourceType]*lazyParameters{}, now: time.Now}
	for _, t := range registry.ResourceTypes() {
		s.types[t] = &lazyParameters{}
	}
	return s
}

// UseTerminology says whom to ask about value sets and hierarchies. It is called
// before the first search.
func (s *Search) UseTerminology(t Terminology) { s.terminology = t }

// parameters gives a type's compiled parameters, nil for an unknown type.
func (s *Search) parameters(t fhir.ResourceType) (*parameters, error) {
	lazy := s.types[t]
	if lazy == nil {
		return nil, fhir.NewError(fhir.KindNotFound, fhir.IssueNotSupported, "There is no resource type "+string(t)+".")
	}
	lazy.once.Do(func() { lazy.compiled, lazy.err = s.compile(t) })
	return lazy.compiled, lazy.err
}

// foldsCase reports whether the codes of a code system ignore case. Those of a
// system the specification does not define are taken to differ by it.
func (s *Search) foldsCase(system string) bool {
	if system == "" {
		return false
	}
	if folds, ok := s.folding.Load(system); ok {
		return folds.(bool)
	}
	sensitive, known := s.registry.CaseSensitive(system)
	folds := known && !sensitive
	// Clients choose the name: what is kept is bounded, and holds on to no
	// request.
	if s.foldings.Add(1) <= maxFoldings {
		s.folding.Store(strings.Clone(system), folds)
	}
	return folds
}

const maxFoldings = 4096
