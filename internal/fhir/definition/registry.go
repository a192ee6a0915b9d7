package definition

import "starling/internal/fhir"

// Registry looks definitions up. It is immutable and safe for concurrent use.
type Registry struct{}

// R4 is the specification's own definitions. It panics if the embedded file is
// damaged, which a test of this package excludes.
func R4() *Registry { panic("definition: not built yet") }

// ResourceTypes lists the concrete resource types, sorted.
func (r *Registry) ResourceTypes() []fhir.ResourceType { return nil }

// IsResourceType reports whether name is a concrete resource type.
func (r *Registry) IsResourceType(name string) bool { return false }

// Type gives a type by its name, compiled on first use; nil if there is none.
func (r *Registry) Type(name string) *Type { return nil }

// SearchParameters lists the parameters of a type, those of Resource and
// DomainResource included, sorted by code.
func (r *Registry) SearchParameters(t fhir.ResourceType) []*SearchParameter { return nil }

// SearchParameter gives a type's parameter by its code; nil if there is none.
func (r *Registry) SearchParameter(t fhir.ResourceType, code string) *SearchParameter { return nil }

// SearchParameterByURL gives a parameter by its canonical; nil if there is none.
func (r *Registry) SearchParameterByURL(url string) *SearchParameter { return nil }

// Compartment gives a compartment by its code; nil if there is none.
func (r *Registry) Compartment(code fhir.ResourceType) *Compartment { return nil }

// Operations lists the operations of the specification.
func (r *Registry) Operations() []*Operation { return nil }

// Codes gives the codes of a value set that can be enumerated from the
// specification's own code systems; ok is false for one that cannot (SNOMED CT,
// LOINC, UCUM, BCP-47, …) or is unknown. The map's key is the code, its value
// the systems it comes from.
func (r *Registry) Codes(valueSet string) (codes map[string][]string, ok bool) { return nil, false }

// CaseSensitive reports whether the codes of a code system differ by case;
// known is false for a system the specification does not define.
func (r *Registry) CaseSensitive(system string) (sensitive, known bool) { return false, false }

// Property resolves a member of an object of this element by its JSON name:
// "name", "valueQuantity", "_birthDate". For an element without Children of
// its own ask the type's Root.
func (e *Element) Property(name string) (Property, bool) {
	p, ok := e.names[name]
	return p, ok
}

// Parent is the element this one stands in, nil for a root.
func (e *Element) Parent() *Element { return e.parent }
