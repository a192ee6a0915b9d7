package validation

import (
	"fmt"
	"sync"

	"starling/internal/fhir"
	"starling/internal/fhir/definition"
	"starling/internal/fhir/element"
)

// Validator checks resources against the definitions of one registry. It is a
// snapshot: what it has compiled holds for that registry, and when definitions
// change another Validator takes its place. It is safe for concurrent use.
type Validator struct {
	registry *definition.Registry
	shapes   sync.Map // name of a type → *shape
}

// New makes a validator. It compiles nothing yet.
func New(registry *definition.Registry) *Validator { return &Validator{registry: registry} }

// Validate gives what is wrong with a resource of type t: nothing if it may be
// stored, and at most MaxIssues issues otherwise.
func (v *Validator) Validate(t fhir.ResourceType, root element.Node) []fhir.Issue {
	r := run{validator: v, root: root}
	r.resource(root, string(t))
	return r.issues
}

// shape gives the shape of a type, compiled on first use; nil if there is no
// such type.
func (v *Validator) shape(name string) *shape {
	if s, ok := v.shapes.Load(name); ok {
		return s.(*shape)
	}
	t := v.registry.Type(name)
	if t == nil {
		return nil
	}
	// Two that compile at once make the same; either may stay.
	s, _ := v.shapes.LoadOrStore(name, compile(v, t))
	return s.(*shape)
}

// shapeOf is shape for the types that definitions name.
func (v *Validator) shapeOf(name string) *shape {
	s := v.shape(name)
	if s == nil {
		panic(fmt.Sprintf("validation: a definition names the type %q, which does not exist", name))
	}
	return s
}
