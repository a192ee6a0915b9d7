package postgres

import (
	"errors"

	"starling/internal/fhir"
)

// A composite's first part is a token or a reference, by which the others are
// bound: what they would have as rows and terms of the parameter, they have as
// those of the parameter and the first part's value.

// bond is a value that others are bound to: as rows find it, and exactly.
type bond struct{ row, exact string }

func bondOfToken(v fhir.TokenValue) bond {
	kind, code := "c", v.Code
	if v.FoldCase {
		kind, code = "C", fhir.FoldCase(v.Code)
	}
	return bond{kind + code, kind + string(appendPart(nil, v.System)) + code}
}

func bondOfReference(v fhir.ReferenceValue) bond {
	key := "u" + v.URL
	if v.ID != "" {
		key = "r" + string(v.Type) + "/" + v.ID
	}
	return bond{key, key}
}

// bonds gives the equality values of a part.
func bonds(part *fhir.Index) []bond {
	var out []bond
	for _, v := range part.Tokens {
		if v.Code != "" {
			out = append(out, bondOfToken(v))
		}
	}
	for _, v := range part.References {
		if v.ID != "" || v.URL != "" {
			out = append(out, bondOfReference(v))
		}
	}
	return out
}

// keys are the ways to name a bond.
func (b bond) keys() []string {
	if b.row == b.exact {
		return []string{b.row}
	}
	return []string{b.row, b.exact}
}

// bound hashes a parameter and the value that others of it are bound to.
func (h hasher) bound(t fhir.ResourceType, param, key string) int64 {
	return h.unit(string(t), param, "$", key)
}

// composite adds what one element is found by.
func (h hasher) composite(e *entries, t fhir.ResourceType, v fhir.CompositeValue) {
	e.terms = append(e.terms, h.term(t, v.Param, termPresent))
	for _, first := range bonds(v.Parts[0]) {
		if len(v.Parts) > 2 {
			h.span(e, t, v, first)
			continue
		}
		second := v.Parts[1]
		for _, other := range bonds(second) {
			e.terms = append(e.terms, h.term(t, v.Param, termPair, first.row, other.row),
				h.term(t, v.Param, termPairExact, first.row, other.exact),
				h.term(t, v.Param, termPairExact, first.exact, other.row),
				h.term(t, v.Param, termPairExact, first.exact, other.exact))
		}
		for _, key := range first.keys() {
			param := h.bound(t, v.Param, key)
			for _, d := range second.Dates {
				e.ranges.dates = append(e.ranges.dates, dateRow{param, lowMicros(d.Low), highMicros(d.High)})
			}
			for _, s := range second.Strings {
				e.ranges.texts = append(e.ranges.texts, textRow{param, firstCharacters(s.Folded, maxText)})
			}
			for _, n := range second.Numbers {
				low, high := ends(n.Value, n.Low, n.High)
				e.ranges.numbers = append(e.ranges.numbers, numberRow{param: param, low: low, high: high})
			}
			for _, q := range second.Quantities {
				h.quantity(&e.ranges, param, q)
			}
		}
	}
}

// span adds the rows of a composite of a value and two numbers, such as the
// start and end of a variant: both numbers stand in one row.
func (h hasher) span(e *entries, t fhir.ResourceType, v fhir.CompositeValue, first bond) {
	for _, key := range first.keys() {
		for _, from := range v.Parts[1].Numbers {
			for _, to := range v.Parts[2].Numbers {
				e.ranges.numbers = append(e.ranges.numbers, numberRow{param: h.bound(t, v.Param, key), low: from.Value, high: to.Value})
			}
		}
	}
}

var errComposite = errors.New("postgres: no SQL for these parts of a composite")

// composite: https://hl7.org/fhir/R4/search.html#combining
func (c *criterionCompiler) composite(k fhir.Composite) (compiled, error) {
	var choices []compiled
	for _, first := range alternatives(k.Parts[0]) {
		lead, exact, err := bondOf(first)
		if err != nil {
			return compiled{}, err
		}
		for _, second := range alternatives(k.Parts[1]) {
			var one compiled
			if len(k.Parts) > 2 {
				one, err = c.span(k, lead, exact, second)
			} else {
				one, err = c.pair(k.Param, lead, exact, second)
			}
			if err != nil {
				return compiled{}, err
			}
			choices = append(choices, one)
		}
	}
	return c.anyOf(choices), nil
}

// pair compiles a value bound to another; exact says the latter has its system.
func (c *criterionCompiler) pair(param string, lead bond, exact bool, second fhir.Criterion) (compiled, error) {
	key := lead.row
	if exact {
		key = lead.exact
	}
	bound := c.hash.bound(c.typ, param, key)
	switch k := second.(type) {
	case fhir.Date:
		return c.dateOf(bound, k), nil
	case fhir.Number:
		return c.number(bound, k), nil
	case fhir.Quantity:
		return c.quantity(bound, k)
	case fhir.String:
		if k.Match == fhir.StringExact {
			return compiled{}, errComposite
		}
		return c.textOf(bound, k), nil
	}
	other, otherExact, err := bondOf(second)
	if err != nil {
		return compiled{}, err
	}
	if !exact && !otherExact {
		return c.keyed(param, termPair, lead.row, other.row), nil
	}
	otherKey := other.row
	if otherExact {
		otherKey = other.exact
	}
	return c.keys(false, c.has(c.hash.term(c.typ, param, termPairExact, key, otherKey)), c.hash.term(c.typ, param, termPair, lead.row, other.row)), nil
}

// span compiles two numbers bound to a value, and so to each other.
func (c *criterionCompiler) span(k fhir.Composite, lead bond, exact bool, second fhir.Criterion) (compiled, error) {
	from, ok := second.(fhir.Number)
	to, also := k.Parts[2].(fhir.Number)
	if !ok || !also || len(k.Parts) != 3 {
		return compiled{}, errComposite
	}
	key := lead.row
	if exact {
		key = lead.exact
	}
	start := c.compare(from.Prefix, from.Value, from.Low, from.High, `low`, `low`)
	end := c.compare(to.Prefix, to.Value, to.Low, to.High, `high`, `high`)
	return c.numbers(c.hash.bound(c.typ, k.Param, key), func() string { return start() + ` AND ` + end() }), nil
}

// bondOf gives the value an equality criterion asks for, and whether it names
// its system.
func bondOf(criterion fhir.Criterion) (b bond, exact bool, err error) {
	switch k := criterion.(type) {
	case fhir.Token:
		if k.Code == nil {
			break
		}
		v := fhir.TokenValue{Code: *k.Code, FoldCase: k.FoldCase}
		if k.System != nil {
			v.System = *k.System
		}
		return bondOfToken(v), k.System != nil, nil
	case fhir.ReferenceTo:
		if k.URL == "" && k.Type == "" {
			break
		}
		return bondOfReference(fhir.ReferenceValue{Type: k.Type, ID: k.ID, URL: k.URL}), false, nil
	}
	return bond{}, false, errComposite
}

// alternatives are the branches of an Or, or the criterion alone.
func alternatives(criterion fhir.Criterion) []fhir.Criterion {
	or, ok := criterion.(fhir.Or)
	if !ok {
		return []fhir.Criterion{criterion}
	}
	var out []fhir.Criterion
	for _, choice := range or {
		out = append(out, alternatives(choice)...)
	}
	return out
}
