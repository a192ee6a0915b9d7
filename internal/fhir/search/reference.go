package search

import (
	"strings"

	"starling/internal/fhir"
	"starling/internal/fhir/element"
)

// https://hl7.org/fhir/R4/search.html#reference
var referenceReaders = map[string]reader{
	"Reference": readReference,
	"canonical": readCanonical,
	"uri":       readCanonical,
	"url":       readCanonical,
}

func readReference(x *extraction, t *take, n element.Node) {
	v := x.literal(n.Get("reference").Str())
	if v.Type == "" {
		v.Type = fhir.ResourceType(n.Get("type").Str())
	}
	v.Param = t.param
	identifier := n.Get("identifier")
	if v.ID == "" && v.URL == "" && identifier.Kind() != element.Object {
		return
	}
	r := referenceValue{ReferenceValue: v}
	if identifier.Kind() == element.Object {
		r.identifier = fhir.TokenValue{Param: t.param, System: identifier.Get("system").Str(), Code: identifier.Get("value").Str()}
	}
	if v.ID != "" || v.URL != "" || r.identifier.System != "" || r.identifier.Code != "" {
		x.references.add(r)
	}
}

// readCanonical takes the address and version of `url|version`.
func readCanonical(x *extraction, t *take, n element.Node) {
	url, version, _ := strings.Cut(n.Str(), "|")
	if url != "" {
		x.references.add(referenceValue{ReferenceValue: fhir.ReferenceValue{Param: t.param, URL: url, Version: version}})
	}
}

// referenceValue is a ReferenceValue that can be compared: the identifier by
// value.
type referenceValue struct {
	fhir.ReferenceValue
	identifier fhir.TokenValue
}

// referenceValues copies the references, each with its identifier.
func (x *extraction) referenceValues() []fhir.ReferenceValue {
	if len(x.references.list) == 0 {
		return nil
	}
	out := make([]fhir.ReferenceValue, len(x.references.list))
	for i, v := range x.references.list {
		out[i] = v.ReferenceValue
		if v.identifier.Param != "" {
			identifier := v.identifier
			out[i].Identifier = &identifier
		}
	}
	return out
}

// literal reads Reference.reference.
func (x *extraction) literal(text string) fhir.ReferenceValue {
	if id, ok := strings.CutPrefix(text, "#"); ok {
		return fhir.ReferenceValue{URL: text, Type: x.contained(id)}
	}
	return x.search.parseReference(text, x.base)
}

// contained gives the type of the contained resource with an id; "#" alone is
// the container.
func (x *extraction) contained(id string) fhir.ResourceType {
	if id == "" {
		return fhir.ResourceType(x.container.Get("resourceType").Str())
	}
	for resource := range x.container.Get("contained").Children() {
		if resource.Get("id").Str() == id {
			return fhir.ResourceType(resource.Get("resourceType").Str())
		}
	}
	return ""
}

// targetType decides `resolve() is Type` from the reference alone.
func (x *extraction) targetType(n element.Node) fhir.ResourceType {
	if t := x.literal(n.Get("reference").Str()).Type; t != "" {
		return t
	}
	return fhir.ResourceType(n.Get("type").Str())
}

// parseReference reads a literal reference. A relative one, and an absolute one
// below base, has type and id; another absolute one its URL, with the type its
// path tells. A version is taken off.
func (s *Search) parseReference(text, base string) fhir.ReferenceValue {
	local := text
	if base != "" && len(text) > len(base) && text[len(base)] == '/' && text[:len(base)] == base {
		local = text[len(base)+1:]
	}
	if t, id, version, ok := s.relative(local); ok {
		return fhir.ReferenceValue{Type: t, ID: id, Version: version}
	}
	if !strings.HasPrefix(text, "http://") && !strings.HasPrefix(text, "https://") {
		return fhir.ReferenceValue{URL: text}
	}
	v := fhir.ReferenceValue{URL: text}
	if rest, version, ok := strings.Cut(text, "/_history/"); ok && fhir.ValidID(version) {
		v.URL, v.Version = rest, version
	}
	if slash := strings.LastIndexByte(v.URL, '/'); slash > 0 {
		if before := strings.LastIndexByte(v.URL[:slash], '/'); before >= 0 {
			if t, _, _, ok := s.relative(v.URL[before+1:]); ok {
				v.Type = t
			}
		}
	}
	return v
}

// relative reads Type/id or Type/id/_history/version.
func (s *Search) relative(text string) (t fhir.ResourceType, id, version string, ok bool) {
	name, rest, ok := strings.Cut(text, "/")
	if !ok || !s.registry.IsResourceType(name) {
		return "", "", "", false
	}
	id, version, versioned := strings.Cut(rest, "/_history/")
	if !fhir.ValidID(id) || versioned && !fhir.ValidID(version) {
		return "", "", "", false
	}
	return fhir.ResourceType(name), id, version, true
}

func withoutVersion(canonical string) string {
	url, _, _ := strings.Cut(canonical, "|")
	return url
}

// planReference reads `id`, `Type/id` or a URL
// (https://hl7.org/fhir/R4/search.html#reference). The modifier [type] gives an
// id its type.
func planReference(p *planning, t *term, value string) (fhir.Criterion, error) {
	switch t.modifier {
	case "identifier":
		return planIdentifier(t, value)
	case "above", "below":
		return planHierarchy(p, t, value)
	}
	text := unescape(value)
	if strings.HasPrefix(text, "#") {
		return nil, t.badValue(value, "a reference to another resource")
	}
	canonical, literal := t.some(isCanonical), t.some(func(e *take) bool { return !isCanonical(e) })
	var choices fhir.Or
	if literal {
		c, err := planLiteral(p, t, text)
		if err != nil {
			return nil, err
		}
		choices = append(choices, c)
	}
	if canonical && t.modifier == "" {
		url, version, _ := strings.Cut(text, "|")
		if c := (fhir.ReferenceTo{Param: t.code, URL: url, Version: version}); len(choices) == 0 || choices[0] != c {
			choices = append(choices, c)
		}
	}
	switch len(choices) {
	case 0:
		return nil, t.unsupported("canonicals do not take the modifier " + quote(t.modifier))
	case 1:
		return choices[0], nil
	}
	return choices, nil
}

func isCanonical(e *take) bool { return e.typ != "Reference" }

// planLiteral plans a reference to an element of type Reference.
func planLiteral(p *planning, t *term, text string) (fhir.Criterion, error) {
	wanted := fhir.ResourceType(t.modifier)
	if fhir.ValidID(text) {
		if wanted == "" {
			wanted = t.onlyTarget()
		}
		if targets := t.targets(); wanted == "" && len(targets) > 1 && p.untyped != nil {
			*p.untyped = append(*p.untyped, fhir.UntypedID{Param: t.name, ID: text, Types: targets})
		}
		return fhir.ReferenceTo{Param: t.code, Type: wanted, ID: text}, nil
	}
	v := p.search.parseReference(text, p.base)
	switch {
	case wanted != "" && v.Type != wanted:
		return nil, t.badValue(text, "an id or a reference of the type "+t.modifier)
	case v.ID != "":
		return fhir.ReferenceTo{Param: t.code, Type: v.Type, ID: v.ID, Version: v.Version}, nil
	case !strings.Contains(v.URL, ":"):
		return nil, t.badValue(text, "an id, Type/id or a URL")
	}
	return fhir.ReferenceTo{Param: t.code, URL: v.URL, Version: v.Version}, nil
}

// planIdentifier reads the identifier of a logical reference: `value`,
// `system|value` or `|value`.
func planIdentifier(t *term, value string) (fhir.Criterion, error) {
	if !t.some(func(e *take) bool { return !isCanonical(e) }) {
		return nil, t.unsupported("canonicals have no identifier")
	}
	parts := splitEscaped(value, '|')
	by := fhir.ReferenceBy{Param: t.code, Code: unescape(parts[len(parts)-1])}
	if len(parts) > 2 || by.Code == "" {
		return nil, t.badValue(value, "value, system|value or |value")
	}
	if len(parts) == 2 {
		system := unescape(parts[0])
		by.System = &system
	}
	return by, nil
}

// onlyTarget is the one type the parameter's references have been filtered for,
// else "".
func (t *term) onlyTarget() fhir.ResourceType {
	var only fhir.ResourceType
	for _, of := range t.of {
		if of.target == "" || only != "" && only != of.target {
			return ""
		}
		only = of.target
	}
	return only
}
