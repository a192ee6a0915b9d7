// Package definition is the R4 definitions as a registry: types and their
// elements, search parameters, compartments, operations, code systems and
// value sets. A resource is a tree (package element) with the definition of
// its type beside it; no structs are generated.
//
// The definitions are embedded (see docs/definitions.md) and read on first
// use, so that an idle server stays small. Everything a Registry gives out is
// shared and must not be changed.
package definition

import "starling/internal/fhir"

// Kind is StructureDefinition.kind.
type Kind string

// The kinds of type.
const (
	KindPrimitive Kind = "primitive-type"
	KindComplex   Kind = "complex-type"
	KindResource  Kind = "resource"
)

// Type is a primitive, data type or resource type.
type Type struct {
	Name     string // "Patient", "HumanName", "code"
	URL      string // canonical of its StructureDefinition
	Kind     Kind
	Abstract bool
	Base     string // name of the type it specializes, "" for Element and Resource
	// Regex is what the text of a primitive's value must match as a whole, in
	// the specification's own syntax (\s, \S and classes as XML Schema has
	// them); "" for xhtml and types that are no primitives.
	Regex string
	Root  *Element
}

// Unbounded is the Max of an element that may repeat without limit ("*").
const Unbounded = -1

// Element is an ElementDefinition of a snapshot, resolved.
type Element struct {
	// Path is the element's path, "Patient.contact.name" or
	// "Observation.value[x]".
	Path string
	// Name is the last part without "[x]": "name", "value".
	Name string
	// Choice says the element is name[x]: in JSON its name carries the type.
	Choice     bool
	Min, Max   int // Max: Unbounded for *
	Types      []TypeRef
	Children   []*Element // of a BackboneElement or nested Element; nil otherwise
	Content    *Element   // resolved contentReference: Children and Types are its
	Binding    *Binding
	Constraint []Constraint // without those of its type's root; so ele-1 and ext-1 are at roots only
	IsSummary  bool
	IsModifier bool
	MaxLength  int // 0: none

	parent *Element
	names  map[string]Property // JSON name → property; built with the type
}

// TypeRef is ElementDefinition.type.
type TypeRef struct {
	Code           string // FHIR type name; system types of value elements are "string", "integer", …
	Profiles       []string
	TargetProfiles []string
	Aggregation    []string
}

// Binding is ElementDefinition.binding.
type Binding struct {
	Strength string // required, extensible, preferred, example
	ValueSet string // canonical, maybe with |version
	// Max is the value set that codes are from at most where the binding is
	// extensible or preferred; "": any.
	Max string
}

// Constraint is ElementDefinition.constraint.
type Constraint struct {
	Key        string
	Severity   string // error or warning
	Human      string
	Expression string
	Source     string // canonical of the type it comes from; "": this one
}

// Property is what a member of a JSON object stands for.
type Property struct {
	Element *Element
	// Type is the name of the value's type: for a choice, the one its JSON
	// name carries ("valueQuantity": Quantity).
	Type string
	// Extra says the member is the `_name` beside a primitive: its id and
	// extensions.
	Extra bool
}

// SearchParameter is an R4 SearchParameter.
type SearchParameter struct {
	URL, Name, Code string
	Type            string // number, date, string, token, reference, composite, quantity, uri, special
	Base            []fhir.ResourceType
	Expression      string // FHIRPath; empty for a few, which are not served
	Target          []fhir.ResourceType
	Description     string
	Multiple        struct{ Or, And bool } // true if the parameter does not say
	Modifiers       []string
	Comparators     []string
	Chains          []string
	Components      []Component
	// Generation tells the versions of a parameter apart that was stored at run
	// time; empty for the specification's own.
	Generation string
}

// Param names the parameter's values in an index: by its code, and those of a
// version stored at run time apart from those of the others.
func (p *SearchParameter) Param() string {
	if p.Generation == "" {
		return p.Code
	}
	return p.Code + "#" + p.Generation
}

// Component is a part of a composite search parameter.
type Component struct {
	Definition string // canonical of the part's SearchParameter
	Expression string
}

// Compartment is an R4 CompartmentDefinition.
type Compartment struct {
	URL  string
	Code fhir.ResourceType // Patient, Encounter, …
	// Params gives, for each type, the codes of the search parameters that
	// link to the compartment; "{def}" is the compartment's own resource.
	Params map[fhir.ResourceType][]string
}

// Operation is an R4 OperationDefinition.
type Operation struct {
	URL, Name, Code        string
	System, Type, Instance bool
	AffectsState           bool
	Resource               []fhir.ResourceType
	Parameter              []OperationParameter
}

// OperationParameter is OperationDefinition.parameter.
type OperationParameter struct {
	Name string
	Use  string // in or out
	Type string // "" for one that has parts
}
