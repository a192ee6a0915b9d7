package search

import (
	"fmt"

	"starling/internal/fhir"
)

// Plan parses the query of a search of types, all of which must have each
// parameter. References to base are local. Parameters that none of the types
// has are named in unknown and left out, or with strict refused. Whatever is
// known but not served, and any value or modifier not understood, is an error
// of KindInvalid that names the parameter.
//
// Parameters that only shape the answer (_format, _pretty, _summary but for
// count, _elements) are accepted and leave no trace in the query.
func (s *Search) Plan(types []fhir.ResourceType, rawQuery string, strict bool, base string) (query *fhir.SearchQuery, unknown []string, err error) {
	p := planning{search: s, types: types, base: base, links: new(int)}
	given, err := parseQuery(rawQuery)
	if err != nil {
		return nil, nil, err
	}
	query = &fhir.SearchQuery{Types: types, Count: defaultCount}
	p.untyped = &query.Untyped
	seen := map[string]bool{}
	var all fhir.And
	var contained containedMode
	for i := range given {
		q := &given[i]
		if set, ok := controls[q.code]; ok {
			if set == nil {
				set = contained.setter(q.code)
			}
			if err := control(query, q, set, seen); err != nil {
				return nil, nil, err
			}
			continue
		}
		if shape, ok := shapes[q.code]; ok {
			if err := shape(&p, query, q); err != nil {
				return nil, nil, err
			}
			continue
		}
		c, known, err := p.criterion(q)
		switch {
		case err != nil:
			return nil, nil, err
		case !known && strict:
			return nil, nil, q.unsupported("there is no such parameter for " + p.searched())
		case !known:
			unknown = append(unknown, q.name)
		case c != nil:
			all = append(all, c)
		}
	}
	if query.Count == 0 && query.Total == fhir.TotalNone {
		query.Total = fhir.TotalAccurate
	}
	query.Criteria = joined(all)
	if err := contained.apply(&p, query); err != nil {
		return nil, nil, err
	}
	return query, unknown, nil
}

// PlanConditional parses the criteria of a conditional interaction. Anything
// that is no criterion or not understood is an error of KindInvalid: run
// without it, the interaction could change the wrong resource. So are a
// parameter without a value, and no criteria at all.
func (s *Search) PlanConditional(t fhir.ResourceType, rawQuery, base string) (fhir.Criterion, error) {
	p := planning{search: s, types: []fhir.ResourceType{t}, base: base, links: new(int)}
	given, err := parseQuery(rawQuery)
	if err != nil {
		return nil, err
	}
	var all fhir.And
	for i := range given {
		q := &given[i]
		if q.code == "_format" || q.code == "_pretty" {
			continue
		}
		if isControl(q.code) {
			return nil, q.unsupported("it is no criterion for a conditional interaction")
		}
		c, known, err := p.criterion(q)
		switch {
		case err != nil:
			return nil, err
		case !known:
			return nil, q.unsupported("there is no such parameter for " + p.searched())
		case c == nil:
			return nil, q.badValue(q.value, "a value")
		}
		all = append(all, c)
	}
	if len(all) == 0 {
		return nil, invalid("A conditional interaction needs criteria; none were given.")
	}
	return joined(all), nil
}

// joined is the criteria together: nil for none, one as it is.
func joined(all fhir.And) fhir.Criterion {
	switch len(all) {
	case 0:
		return nil
	case 1:
		return all[0]
	}
	return all
}

// planning is the work on one query.
type planning struct {
	search *Search
	types  []fhir.ResourceType
	base   string
	depth  int  // of the chain
	links  *int // of all chains of the query, each type apart
	// untyped takes the ids that may be of several types; nil for none.
	untyped *[]fhir.UntypedID
	// operator is that of a comparison of _filter: ew and po have no form as a
	// parameter of their own.
	operator string
}

func (p *planning) searched() string {
	if len(p.types) == 1 {
		return string(p.types[0])
	}
	return fmt.Sprintf("all of the %d resource types searched", len(p.types))
}

// term is a search parameter in a query: q with what each of the types says
// about it.
type term struct {
	*queryParameter
	of []*parameter
}

// criterion plans a parameter. It is nil without an error for one that has no
// value; known is false if no type has the parameter.
func (p *planning) criterion(q *queryParameter) (c fhir.Criterion, known bool, err error) {
	if reason := p.search.refuses(q.code); reason != "" {
		return nil, true, q.unsupported(reason)
	}
	if q.code == "_has" {
		c, err = p.has(q)
		return c, true, err
	}
	if plan := storeParameters[q.code]; plan != nil {
		if q.modifier != "" || q.chain != "" {
			return nil, true, q.unsupported("it takes neither modifiers nor chains")
		}
		c, err = plan(p, q)
		return c, true, err
	}
	t, known, err := p.term(q)
	if err != nil || !known {
		return nil, known, err
	}
	c, err = p.plan(t)
	return c, true, err
}

// term finds a parameter in all the types.
func (p *planning) term(q *queryParameter) (t *term, known bool, err error) {
	named := *q
	t = &term{queryParameter: &named}
	for _, typ := range p.types {
		definition := p.search.definition(typ, q.code)
		if definition == nil {
			continue
		}
		known = true
		compiled, err := p.search.parameters(typ)
		if err != nil {
			return nil, true, err
		}
		of := compiled.byCode[q.code]
		if of == nil || planners[definition.Type] == nil {
			return nil, true, q.unsupported(whyNotServed(definition))
		}
		if err := p.search.pending(definition); err != nil {
			return nil, true, err
		}
		if len(t.of) > 0 && (t.of[0].definition.Type != definition.Type || t.of[0].code != of.code) {
			return nil, true, q.unsupported("the resource types searched do not agree on what it is")
		}
		t.code = of.code
		t.of = append(t.of, of)
	}
	if known && len(t.of) < len(p.types) {
		return nil, true, q.unsupported("not all of the resource types searched have it")
	}
	return t, known, nil
}

// plan reads the modifier and values of a parameter.
func (p *planning) plan(t *term) (fhir.Criterion, error) {
	if t.chain != "" {
		return p.chain(t)
	}
	if t.modifier == "missing" {
		return anyOf(t.queryParameter, func(value string) (fhir.Criterion, error) {
			if value != "true" && value != "false" {
				return nil, t.badValue(value, "true or false")
			}
			if composite := t.of[0].composite; composite != nil {
				if value == "true" {
					return fhir.Not{Criterion: composite.present(t.code)}, nil
				}
				return composite.present(t.code), nil
			}
			return fhir.Missing{Param: t.code, Missing: value == "true"}, nil
		})
	}
	plan := planners[t.of[0].definition.Type]
	if t.modifier != "" && !plan.takes(p, t.modifier) {
		return nil, t.unsupported("it does not take the modifier " + quote(t.modifier))
	}
	c, err := anyOf(t.queryParameter, func(value string) (fhir.Criterion, error) { return plan.value(p, t, value) })
	if c != nil && (t.modifier == "not" || t.modifier == "not-in") {
		c = fhir.Not{Criterion: c}
	}
	return c, err
}

// planner reads values of one type of search parameter.
type planner struct {
	takes func(p *planning, modifier string) bool
	value func(p *planning, t *term, value string) (fhir.Criterion, error)
}

// anyOf plans the values that commas join; empty ones are passed over.
func anyOf(q *queryParameter, plan func(value string) (fhir.Criterion, error)) (fhir.Criterion, error) {
	var choices fhir.Or
	for _, value := range splitEscaped(q.value, ',') {
		if value == "" {
			continue
		}
		c, err := plan(value)
		if err != nil {
			return nil, err
		}
		if choices = append(choices, c); len(choices) > maxChoices {
			return nil, q.tooMany()
		}
	}
	switch len(choices) {
	case 0:
		return nil, nil
	case 1:
		return choices[0], nil
	}
	return choices, nil
}
