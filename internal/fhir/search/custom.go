package search

import (
	"maps"
	"slices"
	"strings"

	"starling/internal/fhir"
	"starling/internal/fhir/definition"
)

// Refused is a parameter that was stored at run time and is not served.
type Refused struct {
	Definition *definition.SearchParameter
	Reason     string
}

// With gives the search that serves, beside the registry's, these parameters that
// were stored at run time; none of their codes may be another parameter's of the
// same type. progress gives the error that a query with one is refused with while
// resources are being indexed for it, nil for none. refused are named by
// Unserved. What s has compiled for types that they do not concern is shared.
func (s *Search) With(custom []*definition.SearchParameter, refused []Refused, progress func(param string) error) *Search {
	derived := s.derive(custom, false)
	derived.refused, derived.progress = refused, progress
	return derived
}

// Only gives what indexes resources by these parameters, and by nothing else.
func (s *Search) Only(custom []*definition.SearchParameter) *Search {
	derived := s.derive(custom, true)
	derived.parts, derived.text = s, TextOff
	return derived
}

func (s *Search) derive(custom []*definition.SearchParameter, only bool) *Search {
	derived := &Search{
		registry: s.registry, types: make(map[fhir.ResourceType]*lazyParameters, len(s.types)), now: s.now,
		terminology: s.terminology, text: s.text,
	}
	of := map[fhir.ResourceType][]*definition.SearchParameter{}
	for _, d := range custom {
		for _, t := range s.TypesOf(d) {
			of[t] = append(of[t], d)
		}
	}
	for t, lazy := range s.types {
		if only || of[t] != nil || lazy.custom != nil {
			lazy = &lazyParameters{custom: of[t], only: only}
		}
		derived.types[t] = lazy
	}
	return derived
}

// And gives the search that serves one parameter more than s does.
func (s *Search) And(d *definition.SearchParameter) *Search {
	derived := &Search{
		registry: s.registry, types: maps.Clone(s.types), now: s.now, terminology: s.terminology, text: s.text,
		progress: s.progress, refused: s.refused,
	}
	for _, t := range s.TypesOf(d) {
		derived.types[t] = &lazyParameters{custom: append(slices.Clip(s.types[t].custom), d)}
	}
	return derived
}

// Share takes over what another search has compiled for types that have the very
// same parameters here. It is called before the first search.
func (s *Search) Share(with *Search) {
	for t, lazy := range s.types {
		if other := with.types[t]; other != nil && other.only == lazy.only && slices.Equal(other.custom, lazy.custom) {
			s.types[t] = other
		}
	}
}

// concerns reports whether a parameter is one of a type, or of one that it
// specializes.
func (s *Search) concerns(d *definition.SearchParameter, t fhir.ResourceType) bool {
	return slices.ContainsFunc(d.Base, func(base fhir.ResourceType) bool { return s.registry.Specializes(t, base) })
}

// definitions lists the parameters of a type, sorted by code.
func (s *Search) definitions(t fhir.ResourceType) []*definition.SearchParameter {
	lazy := s.types[t]
	if lazy == nil || lazy.custom == nil && !lazy.only {
		return s.registry.SearchParameters(t)
	}
	var all []*definition.SearchParameter
	if !lazy.only {
		all = slices.Clone(s.registry.SearchParameters(t))
	}
	all = append(all, lazy.custom...)
	slices.SortStableFunc(all, func(a, b *definition.SearchParameter) int { return strings.Compare(a.Code, b.Code) })
	return all
}

// definition gives a type's parameter by its code; nil if there is none.
func (s *Search) definition(t fhir.ResourceType, code string) *definition.SearchParameter {
	if lazy := s.types[t]; lazy != nil {
		for _, d := range lazy.custom {
			if d.Code == code {
				return d
			}
		}
		if lazy.only {
			return nil
		}
	}
	return s.registry.SearchParameter(t, code)
}

// pending is the error of a query with a parameter for which resources are still
// being indexed.
func (s *Search) pending(d *definition.SearchParameter) error {
	if d.Generation == "" || s.progress == nil {
		return nil
	}
	return s.progress(d.Param())
}

// Complete gives a reference parameter that names no targets all of them: it may
// lead to any type.
func (s *Search) Complete(d *definition.SearchParameter) {
	if d.Type == "reference" && (len(d.Target) == 0 || slices.Contains(d.Target, "Resource")) {
		d.Target = s.registry.ResourceTypes()
	}
}

// CodeOf gives the code of a parameter from the name of its values.
func CodeOf(param string) string {
	code, _, _ := strings.Cut(param, "#")
	return code
}

// TypesOf lists the resource types that a parameter is one of, sorted.
func (s *Search) TypesOf(d *definition.SearchParameter) []fhir.ResourceType {
	return slices.DeleteFunc(slices.Clone(s.registry.ResourceTypes()), func(t fhir.ResourceType) bool { return !s.concerns(d, t) })
}
