package search

import (
	"slices"
	"strings"

	"starling/internal/fhir"
)

// hierarchies names, for the types whose resources are parts of others of the
// same type, the reference parameter that leads to the whole
// (https://hl7.org/fhir/R4/search.html#recursive).
var hierarchies = map[fhir.ResourceType]string{
	"CarePlan": "part-of", "DeviceDefinition": "parent", "Encounter": "part-of", "Location": "partof", "Organization": "partof",
	"Procedure": "part-of", "ResearchStudy": "partof", "Specimen": "parent", "Task": "part-of",
}

// maxLevels bounds how far :above and :below of a reference go.
const maxLevels = maxDepth

// planHierarchy reads the modifiers :below, for what refers to a resource or to a
// part of it, and :above, for what refers to a resource or to what it is a part
// of. On canonicals :below says that any version will do, which is so anyway.
func planHierarchy(p *planning, t *term, value string) (fhir.Criterion, error) {
	text := unescape(value)
	if !t.some(func(e *take) bool { return !isCanonical(e) }) {
		if t.modifier == "above" || strings.Contains(text, "|") {
			return nil, t.unsupported("versions of canonicals have no order")
		}
		return fhir.ReferenceTo{Param: t.code, URL: text}, nil
	}
	v := fhir.ReferenceValue{ID: text}
	if !fhir.ValidID(text) {
		v = p.search.parseReference(text, p.base)
	}
	var types []fhir.ResourceType
	for _, target := range t.targets() {
		if hierarchies[target] != "" && (v.Type == "" || v.Type == target) {
			types = append(types, target)
		}
	}
	switch {
	case !slices.ContainsFunc(t.targets(), func(t fhir.ResourceType) bool { return hierarchies[t] != "" }):
		return nil, t.unsupported("it leads to no type whose resources are parts of each other")
	case v.ID == "" || v.Version != "" || len(types) == 0:
		return nil, t.badValue(value, "an id or Type/id of a type whose resources are parts of each other")
	case len(types) > 1:
		return nil, t.badValue(value, "Type/id")
	}
	for range maxLevels {
		if err := p.follow(t.queryParameter); err != nil {
			return nil, err
		}
	}
	typ := types[0]
	focus := fhir.Key{Type: typ, ID: v.ID}
	if t.modifier == "above" {
		return fhir.Or{fhir.ReferenceTo{Param: t.code, Type: typ, ID: v.ID}, fhir.Chain{Param: t.code, Type: typ, Criterion: wholeOf(focus, maxLevels)}}, nil
	}
	return partOf(t.code, focus, maxLevels), nil
}

// partOf holds for what refers to a resource by a parameter, or to a part of it.
// That part may be contained, the parts it is a part of may not: the ways through
// contained resources would be more with each level.
func partOf(param string, whole fhir.Key, levels int) fhir.Criterion {
	itself := fhir.ReferenceTo{Param: param, Type: whole.Type, ID: whole.ID}
	if levels == 0 {
		return itself
	}
	return fhir.Or{itself, fhir.Chain{
		Param: param, Type: whole.Type, Outside: levels < maxLevels, Criterion: partOf(hierarchies[whole.Type], whole, levels-1),
	}}
}

// wholeOf holds for the resources that another is a part of.
func wholeOf(part fhir.Key, levels int) fhir.Criterion {
	of := fhir.Has{Type: part.Type, Param: hierarchies[part.Type], Criterion: fhir.IDIn{part.ID}}
	if levels == 1 {
		return of
	}
	return fhir.Or{of, fhir.Has{Type: part.Type, Param: hierarchies[part.Type], Criterion: wholeOf(part, levels-1)}}
}
