package terminology

import (
	"cmp"
	"slices"
	"strings"
	"sync"

	"starling/internal/fhir"
)

// Terminology is a snapshot of all that is known of codes: immutable, safe for
// concurrent use.
type Terminology struct {
	specification *Specification
	remote        Remote               // nil: none
	byURL         map[string][]*source // of users, the best first
	byKey         map[fhir.Key]*source // of users
	maps          []*source            // of users
	supplements   map[string][]*source // by the url of their system
	versions      Versions             // that are asked for

	mu       sync.Mutex // held while a value set is compiled
	compiled sync.Map   // *source → *ValueSet
	members  sync.Map   // canonical → *ValueSet, for Member
}

// New makes the snapshot of the specification and of the resources given, of
// which those that are not of terminology are passed over. What previous has
// compiled of code systems that stayed as they were is used again; it may be
// nil, and so may remote.
func New(specification *Specification, resources []*fhir.Resource, previous *Terminology, remote Remote) *Terminology {
	t := &Terminology{
		specification: specification, remote: remote, byURL: map[string][]*source{},
		byKey: map[fhir.Key]*source{}, supplements: map[string][]*source{},
	}
	for _, resource := range resources {
		switch resource.Type {
		case "CodeSystem", "ValueSet", "ConceptMap":
			t.add(resource, previous)
		}
	}
	for _, all := range t.byURL {
		slices.SortFunc(all, better)
	}
	return t
}

func (t *Terminology) add(resource *fhir.Resource, previous *Terminology) {
	var s *source
	if previous != nil {
		if old := previous.byKey[resource.Key]; old != nil && old.stored == resource {
			s = old
		}
	}
	if s == nil {
		var err error
		if s, err = newSource(resource.AppendJSON(nil)); err != nil {
			return // what the store gave was parsed when it was stored
		}
		s.stored = resource
	}
	t.byKey[resource.Key] = s
	if s.resourceType == "ConceptMap" {
		t.maps = append(t.maps, s)
	}
	if s.supplements != "" {
		url, _, _ := strings.Cut(s.supplements, "|")
		t.supplements[url] = append(t.supplements[url], s)
	}
	if s.url != "" {
		t.byURL[s.url] = append(t.byURL[s.url], s)
	}
}

// better orders what has the same canonical: the later version, else what was
// stored later.
func better(a, b *source) int {
	return cmp.Or(fhir.CompareVersions(b.version, a.version), b.stored.LastUpdated.Compare(a.stored.LastUpdated),
		strings.Compare(a.stored.ID, b.stored.ID))
}

// find gives the resource of a type with a canonical, nil if there is none.
// Under a version the specification's own goes before a user's; without one, a
// user's.
func (t *Terminology) find(resourceType fhir.ResourceType, canonical string) *source {
	url, version, versioned := strings.Cut(canonical, "|")
	if url == "" {
		return nil
	}
	own := func() *source {
		if s := t.specification.find(canonical); s != nil && s.resourceType == resourceType {
			return s
		}
		return nil
	}
	if versioned {
		if s := own(); s != nil {
			return s
		}
	}
	for _, s := range t.byURL[url] {
		if s.resourceType == resourceType && (!versioned || s.version == version) && s.supplements == "" {
			return s
		}
	}
	if versioned {
		return nil
	}
	return own()
}

// withVersion is a canonical with its version, which may be empty.
func withVersion(url, version string) string {
	if version == "" || strings.Contains(url, "|") {
		return url
	}
	return url + "|" + version
}

// CodeSystem gives the code system with a canonical. One that is not held:
// KindNotFound, with ErrNotHeld.
func (t *Terminology) CodeSystem(canonical string) (*CodeSystem, error) {
	s := t.find("CodeSystem", canonical)
	if s == nil {
		return nil, notHeld("code system", canonical)
	}
	return s.system()
}

// CodeSystemOf gives the code system that a resource is, which need not be
// stored.
func (t *Terminology) CodeSystemOf(resource []byte) (*CodeSystem, error) {
	s, err := newSource(resource)
	if err != nil {
		return nil, err
	}
	return s.system()
}

// StoredCodeSystem gives the code system that a stored resource is.
func (t *Terminology) StoredCodeSystem(resource *fhir.Resource) (*CodeSystem, error) {
	if s := t.stored(resource); s != nil {
		return s.system()
	}
	return t.CodeSystemOf(resource.AppendJSON(nil))
}

// stored gives the source of a version of a resource, nil if the snapshot has
// another or none.
func (t *Terminology) stored(resource *fhir.Resource) *source {
	if s := t.byKey[resource.Key]; s != nil && s.stored.VersionID == resource.VersionID {
		return s
	}
	return nil
}
