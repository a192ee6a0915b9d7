package search

import (
	"errors"
	"slices"
	"strconv"
	"strings"

	"starling/internal/fhir"
)

// Bounds of chains: how many references one may follow, and how many all of a
// query may, each type that a reference may lead to counted apart.
const (
	maxDepth = 8
	maxLinks = 500
)

// chain plans `reference.parameter` and `reference:Type.parameter`
// (https://hl7.org/fhir/R4/search.html#chaining). Without a type it goes to all
// types the reference may lead to that have the parameter.
func (p *planning) chain(t *term) (fhir.Criterion, error) {
	if t.of[0].definition.Type != "reference" {
		return nil, t.unsupported(quote(CodeOf(t.code)) + " is no reference, so nothing can follow it")
	}
	targets := t.targets()
	if t.modifier != "" {
		if !slices.Contains(targets, fhir.ResourceType(t.modifier)) {
			return nil, t.unsupported(quote(CodeOf(t.code)) + " does not lead to a " + quote(t.modifier))
		}
		targets = []fhir.ResourceType{fhir.ResourceType(t.modifier)}
	}
	var choices fhir.Or
	var failure error
	known, empty := false, false
	for _, target := range targets {
		inner := splitName(t.chain)
		inner.name, inner.value = t.name, t.value
		c, has, err := p.through(t.queryParameter, target, &inner)
		switch known = known || has; {
		case isCostly(err):
			return nil, err
		case err != nil && failure == nil:
			failure = err
		case err == nil && has && c == nil:
			empty = true
		case c != nil:
			choices = append(choices, p.chains(t, target, c)...)
		}
	}
	switch {
	case len(choices) == 1:
		return choices[0], nil
	case len(choices) > 1:
		return choices, nil
	case failure != nil:
		return nil, failure
	case empty:
		return nil, nil
	}
	return nil, t.unsupported("no resource that " + quote(CodeOf(t.code)) + " leads to has the parameter " + quote(t.chain))
}

// chains are the ways by which a parameter leads to resources of a type.
func (p *planning) chains(t *term, target fhir.ResourceType, c fhir.Criterion) (ways []fhir.Criterion) {
	if t.some(func(e *take) bool { return !isCanonical(e) }) {
		ways = append(ways, fhir.Chain{Param: t.code, Type: target, Criterion: c})
	}
	if t.some(isCanonical) && p.search.hasCanonical(target) {
		ways = append(ways, fhir.Chain{Param: t.code, Type: target, Canonical: true, Criterion: c})
	}
	return ways
}

// hasCanonical reports whether resources of a type have a canonical URL and a
// version. (A Device and a Subscription have a url that names something else.)
func (s *Search) hasCanonical(t fhir.ResourceType) bool {
	url, version := s.definition(t, "url"), s.definition(t, "version")
	return url != nil && url.Type == "uri" && version != nil
}

// Canonicals gives the types whose resources a reference parameter names by their
// canonicals; none if it does not.
func (s *Search) Canonicals(source fhir.ResourceType, param string) []fhir.ResourceType {
	compiled, err := s.parameters(source)
	if err != nil {
		return nil
	}
	of := compiled.byCode[CodeOf(param)]
	if of == nil || of.definition.Type != "reference" {
		return nil
	}
	t := term{of: []*parameter{of}}
	if !t.some(isCanonical) {
		return nil
	}
	return slices.DeleteFunc(t.targets(), func(t fhir.ResourceType) bool { return !s.hasCanonical(t) })
}

// isCostly tells the errors of a bound from those of one type that has no use for
// what follows.
func isCostly(err error) bool {
	var refused *fhir.Error
	return errors.As(err, &refused) && refused.Issues[0].Code == fhir.IssueTooCostly
}

// targets are the types the references of a parameter may lead to.
func (t *term) targets() []fhir.ResourceType {
	if only := t.onlyTarget(); only != "" {
		return []fhir.ResourceType{only}
	}
	var targets []fhir.ResourceType
	for _, of := range t.of {
		for _, target := range of.definition.Target {
			if !slices.Contains(targets, target) {
				targets = append(targets, target)
			}
		}
	}
	return targets
}

// has plans _has:Type:reference:parameter
// (https://hl7.org/fhir/R4/search.html#has).
func (p *planning) has(q *queryParameter) (fhir.Criterion, error) {
	parts := strings.SplitN(q.modifier, ":", 3)
	if len(parts) != 3 || parts[2] == "" {
		return nil, q.unsupported("the form is _has:Type:reference:parameter")
	}
	source, code := fhir.ResourceType(parts[0]), parts[1]
	if !p.search.registry.IsResourceType(parts[0]) {
		return nil, q.unsupported("there is no resource type " + quote(parts[0]))
	}
	there := p.at(source)
	link, known, err := there.term(&queryParameter{name: q.name, code: code, value: q.value})
	switch {
	case err != nil:
		return nil, err
	case !known || link.of[0].definition.Type != "reference":
		return nil, q.unsupported(parts[0] + " has no reference parameter " + quote(code))
	case !slices.ContainsFunc(link.targets(), func(t fhir.ResourceType) bool { return slices.Contains(p.types, t) }):
		return nil, q.unsupported(quote(code) + " does not lead to " + p.searched())
	}
	inner := splitName(parts[2])
	inner.name, inner.value = q.name, q.value
	c, known, err := p.through(q, source, &inner)
	if err == nil && !known {
		return nil, q.unsupported(parts[0] + " has no parameter " + quote(parts[2]))
	}
	if err != nil || c == nil {
		return nil, err
	}
	var ways fhir.Or
	if link.some(func(e *take) bool { return !isCanonical(e) }) {
		ways = append(ways, fhir.Has{Type: source, Param: link.code, Criterion: c})
	}
	if link.some(isCanonical) && slices.ContainsFunc(p.types, p.search.hasCanonical) {
		ways = append(ways, fhir.Has{Type: source, Param: link.code, Canonical: true, Criterion: c})
	}
	if len(ways) == 1 {
		return ways[0], nil
	}
	return ways, nil
}

// at is the planning of what concerns the resources at the other end of a
// reference.
func (p *planning) at(t fhir.ResourceType) *planning {
	there := *p
	there.types, there.depth = []fhir.ResourceType{t}, p.depth+1
	return &there
}

// follow counts a reference that a query follows, to one type.
func (p *planning) follow(q *queryParameter) error {
	if *p.links++; *p.links > maxLinks {
		return fhir.NewError(fhir.KindInvalid, fhir.IssueTooCostly,
			"The parameter "+quote(q.name)+" may lead to too many types; say which, as in subject:Patient.name.")
	}
	if p.depth == maxDepth {
		return fhir.NewError(fhir.KindInvalid, fhir.IssueTooCostly,
			"The parameter "+quote(q.name)+" follows more than "+strconv.Itoa(maxDepth)+" references.")
	}
	return nil
}

// through plans a parameter of the resources at the other end.
func (p *planning) through(q *queryParameter, t fhir.ResourceType, inner *queryParameter) (c fhir.Criterion, known bool, err error) {
	if err := p.follow(q); err != nil {
		return nil, true, err
	}
	return p.at(t).criterion(inner)
}

// planList reads _list: the ids of lists whose items are wanted
// (https://hl7.org/fhir/R4/search.html#list).
func planList(p *planning, q *queryParameter) (fhir.Criterion, error) {
	return anyOf(q, func(value string) (fhir.Criterion, error) {
		id := strings.TrimPrefix(unescape(value), "List/")
		if !fhir.ValidID(id) {
			return nil, q.badValue(value, "the id of a list")
		}
		return fhir.Has{Type: "List", Param: "item", Criterion: fhir.IDIn{id}}, nil
	})
}
