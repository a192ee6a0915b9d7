package search

import (
	"strings"

	"starling/internal/fhir"
)

// planReference reads `id`, `Type/id` or a URL
// (https://hl7.org/fhir/R4/search.html#reference). The modifier [type] gives an
// id its type.
func planReference(p *planning, t *term, value string) (fhir.Criterion, error) {
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
		if withoutVersion(text) != text {
			return nil, t.unsupported("a canonical with a version is not served yet")
		}
		if c := (fhir.ReferenceTo{Param: t.code, URL: text}); len(choices) == 0 || choices[0] != c {
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
		return fhir.ReferenceTo{Param: t.code, Type: wanted, ID: text}, nil
	}
	v := p.search.parseReference(text, p.base)
	switch {
	case v.Version != "":
		return nil, t.unsupported("a reference to one version is not served yet")
	case wanted != "" && v.Type != wanted:
		return nil, t.badValue(text, "an id or a reference of the type "+t.modifier)
	case v.ID != "":
		return fhir.ReferenceTo{Param: t.code, Type: v.Type, ID: v.ID}, nil
	case !strings.Contains(v.URL, ":"):
		return nil, t.badValue(text, "an id, Type/id or a URL")
	}
	return fhir.ReferenceTo{Param: t.code, URL: v.URL}, nil
}

// onlyTarget is the one type the parameter's references may have, else "".
func (t *term) onlyTarget() fhir.ResourceType {
	var only fhir.ResourceType
	for _, of := range t.of {
		target := of.target
		if target == "" && len(of.definition.Target) == 1 {
			target = of.definition.Target[0]
		}
		if target == "" || only != "" && only != target {
			return ""
		}
		only = target
	}
	return only
}
