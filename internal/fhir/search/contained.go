package search

import (
	"starling/internal/fhir"
	"starling/internal/fhir/element"
)

// indexContained adds the contained resources of a container to its index. One of
// a type that there is not is left out.
func (s *Search) indexContained(index *fhir.Index, container element.Node, base string) error {
	var count map[fhir.ResourceType]int
	for resource := range container.Get("contained").Children() {
		t := fhir.ResourceType(resource.Get("resourceType").Str())
		if s.types[t] == nil || count[t] == fhir.MostContained {
			continue
		}
		p, err := s.parameters(t)
		if err != nil {
			return err
		}
		if count == nil {
			count = map[fhir.ResourceType]int{}
		}
		count[t]++
		one := s.indexOf(t, p, resource, container, base)
		one.Text = nil
		index.Contained = append(index.Contained, fhir.ContainedIndex{Type: t, ID: resource.Get("id").Str(), Index: one})
	}
	return nil
}

// containedMode is what _contained and _containedType ask for
// (https://hl7.org/fhir/R4/search.html#contained).
type containedMode struct{ only, both, alone bool }

// setter is the control of one of the two; nil for other parameters.
func (m *containedMode) setter(code string) func(*fhir.SearchQuery, *queryParameter) error {
	switch code {
	case "_contained":
		return m.set
	case "_containedType":
		return m.setType
	}
	return nil
}

func (m *containedMode) set(_ *fhir.SearchQuery, q *queryParameter) error {
	switch q.value {
	case "false":
	case "true":
		m.only = true
	case "both":
		m.both = true
	default:
		return q.badValue(q.value, "true, false or both")
	}
	return nil
}

func (m *containedMode) setType(_ *fhir.SearchQuery, q *queryParameter) error {
	switch q.value {
	case "container":
	case "contained":
		m.alone = true
	default:
		return q.badValue(q.value, "container or contained")
	}
	return nil
}

// apply turns a search for resources of types to contained ones.
func (m *containedMode) apply(p *planning, query *fhir.SearchQuery) error {
	if !m.only && !m.both {
		return nil
	}
	refused := func(reason string) error {
		return fhir.NewError(fhir.KindInvalid, fhir.IssueNotSupported, "The parameter '_contained' is not supported here: "+reason+".")
	}
	switch {
	case m.alone && len(query.Types) != 1:
		return refused("with _containedType=contained they are searched one type at a time")
	case m.alone && len(query.Sort) > 0:
		return refused("with _containedType=contained those of one container stand together, whatever the order")
	case m.alone && len(query.RevIncludes) > 0:
		return refused("nothing refers to contained resources from elsewhere, so there is nothing for _revinclude")
	}
	if what := notOfContained(query.Criteria); what != "" {
		return refused("contained resources have no " + what)
	}
	var ways fhir.Or
	for _, t := range query.Types {
		ways = append(ways, fhir.Contained{Type: t, Criterion: query.Criteria, Itself: m.both})
	}
	p.search.sortContainers(query, m.both, p.base)
	query.Criteria = ways
	if len(ways) == 1 {
		query.Criteria = ways[0]
	}
	query.Types = []fhir.ResourceType{fhir.AnyType}
	query.AsContained = m.alone
	return nil
}

// notOfContained names a criterion that no contained resource can be asked for;
// "" for none.
func notOfContained(c fhir.Criterion) string {
	var parts []fhir.Criterion
	switch c := c.(type) {
	case fhir.Has:
		return "resources that refer to them"
	case fhir.Text:
		return "index of their words"
	case fhir.Not:
		return notOfContained(c.Criterion)
	case fhir.And:
		parts = c
	case fhir.Or:
		parts = c
	}
	for _, part := range parts {
		if what := notOfContained(part); what != "" {
			return what
		}
	}
	return ""
}
