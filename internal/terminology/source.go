package terminology

import (
	"strings"
	"sync"

	"starling/internal/fhir"
	"starling/internal/fhir/definition"
	"starling/internal/fhir/element"
)

// source is a CodeSystem, ValueSet or ConceptMap, whose text is compiled when
// it is needed.
type source struct {
	resourceType fhir.ResourceType
	url, version string
	supplements  string // canonical of the system that a supplement is for
	text         []byte
	// stored is what the source was read from; nil for the specification's and
	// for one that came with a request.
	stored *fhir.Resource
	own    bool // the specification's

	system     func() (*CodeSystem, error)
	conceptMap func() (*conceptMap, error)
}

// newSource reads the identity of a resource. text is kept.
func newSource(text []byte) (*source, error) {
	tree, err := element.Parse(text, element.StoredLimits)
	if err != nil {
		return nil, err
	}
	root := tree.Root()
	get := func(name string) string { return strings.Clone(root.Get(name).Str()) }
	s := &source{
		resourceType: fhir.ResourceType(get("resourceType")), url: get("url"), version: get("version"),
		supplements: get("supplements"), text: text,
	}
	s.system = sync.OnceValues(func() (*CodeSystem, error) { return newCodeSystem(s.text) })
	s.conceptMap = sync.OnceValues(func() (*conceptMap, error) { return newConceptMap(s.text) })
	return s, nil
}

// Specification is the specification's own code systems, value sets and
// concept maps. What is compiled of them is shared by all snapshots.
type Specification struct {
	registry *definition.Registry
	mu       sync.Mutex
	sources  map[string]*source // by canonical, as asked for; nil: there is none
	maps     func() []*source
}

// NewSpecification reads nothing yet.
func NewSpecification(registry *definition.Registry) *Specification {
	s := &Specification{registry: registry, sources: map[string]*source{}}
	s.maps = sync.OnceValue(s.readMaps)
	return s
}

// find gives the source with a canonical, nil if the specification has none.
func (s *Specification) find(canonical string) *source {
	s.mu.Lock()
	defer s.mu.Unlock()
	if found, ok := s.sources[canonical]; ok {
		return found
	}
	text, ok := s.registry.Resource(canonical)
	if !ok {
		return nil // not kept: clients can ask for anything
	}
	found, err := newSource(text)
	if err != nil {
		return nil
	}
	found.own = true
	// With and without the version it is the same.
	if same := s.sources[found.url+"|"+found.version]; same != nil {
		found = same
	}
	s.sources[canonical], s.sources[found.url+"|"+found.version] = found, found
	return found
}

func (s *Specification) readMaps() []*source {
	var all []*source
	for _, canonical := range s.registry.Canonicals("ConceptMap") {
		if found := s.find(canonical); found != nil {
			all = append(all, found)
		}
	}
	return all
}
