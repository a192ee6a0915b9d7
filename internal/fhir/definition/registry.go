package definition

import (
	"slices"
	"strings"
	"sync"

	"starling/internal/fhir"
)

// Registry looks definitions up. It is immutable and safe for concurrent use;
// what it reads on first use it keeps.
type Registry struct {
	file          *file
	resourceTypes []fhir.ResourceType
	types         map[string]*lazyType // by name
	search        func() *searchParameters
	operations    func() []*Operation
	compartments  func() map[fhir.ResourceType]*Compartment
	terminology   *terminology
}

// lazyType is a type compiled on first use.
type lazyType struct {
	line     int
	kind     string // resource (a concrete one), primitive or type
	base     string // name of the type it specializes
	once     sync.Once
	compiled *Type
}

// R4 is the specification's own definitions. It panics if the embedded file is
// damaged, which a test of this package excludes.
var R4 = sync.OnceValue(func() *Registry {
	r, err := open(packed)
	if err != nil {
		panic("definition: " + err.Error())
	}
	return r
})

func open(data []byte) (*Registry, error) {
	f, err := openFile(data)
	if err != nil {
		return nil, err
	}
	r := &Registry{file: f, types: map[string]*lazyType{}}
	for line, p := range f.lines {
		note := strings.Split(p.note, " ")
		if len(note) != 3 {
			continue
		}
		kind, name, base := note[0], note[1], note[2]
		r.types[name] = &lazyType{line: line, kind: kind, base: base}
		if kind == "resource" {
			r.resourceTypes = append(r.resourceTypes, fhir.ResourceType(name))
		}
	}
	slices.Sort(r.resourceTypes)
	r.search = sync.OnceValue(r.readSearchParameters)
	r.operations = sync.OnceValue(r.readOperations)
	r.compartments = sync.OnceValue(r.readCompartments)
	r.terminology = newTerminology(f)
	return r, nil
}

// ResourceTypes lists the concrete resource types, sorted.
func (r *Registry) ResourceTypes() []fhir.ResourceType { return r.resourceTypes }

// IsResourceType reports whether name is a concrete resource type.
func (r *Registry) IsResourceType(name string) bool {
	t := r.types[name]
	return t != nil && t.kind == "resource"
}

func (r *Registry) isPrimitive(name string) bool {
	t := r.types[name]
	return t != nil && t.kind == "primitive"
}

// Type gives a type by its name, compiled on first use; nil if there is none.
func (r *Registry) Type(name string) *Type {
	t := r.types[name]
	if t == nil {
		return nil
	}
	t.once.Do(func() { t.compiled = r.compile(r.file.line(t.line)) })
	return t.compiled
}

// Resource gives the definition with a canonical, with or without |version, as
// compact JSON: without prose, without members that only repeat a default (see
// docs/definitions.md). It is the caller's own copy.
func (r *Registry) Resource(canonical string) ([]byte, bool) {
	n, ok := r.file.find(canonical)
	if !ok {
		return nil, false
	}
	return r.file.line(n), true
}

// Canonicals lists the canonicals of the definitions of a resource type, each
// with its version if it has one, sorted.
func (r *Registry) Canonicals(resourceType string) []string {
	var all []string
	for canonical, n := range r.file.urls {
		if r.file.lines[n].resourceType == resourceType && strings.Contains(canonical, "|") {
			all = append(all, strings.TrimSuffix(canonical, "|"))
		}
	}
	slices.Sort(all)
	return all
}

// Property resolves a member of an object of this element by its JSON name:
// "name", "valueQuantity", "_birthDate". For an element without Children of
// its own ask the type's Root. "resourceType" is no property.
func (e *Element) Property(name string) (Property, bool) {
	p, ok := e.names[name]
	return p, ok
}

// Parent is the element this one stands in, nil for a root.
func (e *Element) Parent() *Element { return e.parent }
