package search

import (
	"slices"
	"strings"

	"starling/internal/fhir"
)

// mostIncludes bounds _include and _revinclude, each.
const mostIncludes = 50

// planInclude reads _include, planRevInclude _revinclude
// (https://hl7.org/fhir/R4/search.html#revinclude).
func planInclude(p *planning, query *fhir.SearchQuery, q *queryParameter) error {
	return p.include(&query.Includes, q)
}

func planRevInclude(p *planning, query *fhir.SearchQuery, q *queryParameter) error {
	return p.include(&query.RevIncludes, q)
}

// include reads a value: *, or a type, a reference parameter of it or *, and
// perhaps the type of the resources referred to, joined by colons.
func (p *planning) include(all *[]fhir.Include, q *queryParameter) error {
	if q.value == "" {
		return nil
	}
	var i fhir.Include
	switch {
	case q.chain != "":
		return q.unsupported("it takes no chain")
	case q.modifier == "iterate", q.modifier == "recurse": // recurse is its name in STU3
		i.Iterate = true
	case q.modifier != "":
		return q.unsupported("it takes the modifier 'iterate' alone")
	}
	if len(*all) == mostIncludes {
		return fhir.NewError(fhir.KindInvalid, fhir.IssueTooCostly, "The search has too many of the parameter "+quote(q.name)+".")
	}
	if q.value == "*" {
		*all = append(*all, i)
		return nil
	}
	parts := strings.Split(q.value, ":")
	if len(parts) < 2 || len(parts) > 3 || parts[0] == "" || parts[1] == "" {
		return q.badValue(q.value, "a type, a reference parameter of it and perhaps a target type, joined by colons,")
	}
	if !p.search.registry.IsResourceType(parts[0]) {
		return q.badValue(q.value, "a resource type at its beginning")
	}
	i.Source = fhir.ResourceType(parts[0])
	if len(parts) == 3 && parts[2] != "" {
		if !p.search.registry.IsResourceType(parts[2]) {
			return q.badValue(q.value, "a resource type at its end")
		}
		i.Target = fhir.ResourceType(parts[2])
	}
	if parts[1] != "*" {
		reference, ok := p.search.references(i.Source)[parts[1]]
		targets := reference.targets
		switch {
		case ok && reference.pending != nil:
			return reference.pending
		case !ok:
			return q.badValue(q.value, "a reference parameter of "+parts[0])
		case i.Target != "" && len(targets) > 0 && !slices.Contains(targets, i.Target):
			return q.badValue(q.value, "a target type that "+parts[0]+"."+parts[1]+" may refer to")
		}
		i.Param = reference.param
	}
	*all = append(*all, i)
	return nil
}

// referenceLink is a reference parameter of a type: the name of its values and the
// types it may refer to.
type referenceLink struct {
	param   string
	targets []fhir.ResourceType
	pending error // not all resources are indexed
}

// references gives a type's reference parameters that are indexed, with the
// types they may refer to; none for any.
func (s *Search) references(t fhir.ResourceType) map[string]referenceLink {
	compiled, err := s.parameters(t)
	if err != nil {
		return nil
	}
	all := map[string]referenceLink{}
	for code, p := range compiled.byCode {
		if p.definition.Type != "reference" {
			continue
		}
		link := referenceLink{p.code, p.definition.Target, s.pending(p.definition)}
		if p.target != "" {
			link.targets = []fhir.ResourceType{p.target}
		}
		all[code] = link
	}
	return all
}

// Includes lists what _include takes for matches of type t, sorted:
// "Observation:subject".
func (s *Search) Includes(t fhir.ResourceType) []string {
	var all []string
	for code := range s.references(t) {
		all = append(all, string(t)+":"+code)
	}
	slices.Sort(all)
	return all
}

// RevIncludes gives the links by which resources can refer to those of type t,
// sorted by type and parameter: what _revinclude takes. The list is kept, and not to
// be changed.
func (s *Search) RevIncludes(t fhir.ResourceType) []fhir.Include {
	if known, ok := s.revIncludes.Load(t); ok {
		return known.([]fhir.Include)
	}
	var all []fhir.Include
	for _, source := range s.registry.ResourceTypes() {
		for _, link := range s.references(source) {
			if len(link.targets) == 0 || slices.Contains(link.targets, t) {
				all = append(all, fhir.Include{Source: source, Param: link.param, Target: t})
			}
		}
	}
	slices.SortFunc(all, func(a, b fhir.Include) int {
		return strings.Compare(string(a.Source)+":"+a.Param, string(b.Source)+":"+b.Param)
	})
	if s.types[t] != nil {
		s.revIncludes.Store(t, all)
	}
	return all
}
