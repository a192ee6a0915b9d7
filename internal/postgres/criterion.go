package postgres

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"starling/internal/fhir"
)

// compiled is a criterion as SQL over the row r of resource, in one or both of
// two forms. Each function writes its form when it is wanted, since a parameter
// may not be left unused.
type compiled struct {
	// set is a subquery that walks an index and gives rids: all of those the
	// criterion holds for, and perhaps more. nil if no index serves it.
	set func() string
	// exact says set gives no others.
	exact bool
	// keyed says set gives each rid once and is a walk of a value's own rows.
	keyed bool
	// joined says set is a walk over other resources: one drives a search if
	// nothing else does, and is a test otherwise.
	joined bool
	// test is a condition that holds exactly when the criterion does.
	test func() string
	// parts are those of an And, whose indexes may be used together.
	parts []compiled
}

// where gives the condition in the form that lets an index find the rows.
func (c compiled) where() string {
	switch {
	case len(c.parts) > 0:
		texts := make([]string, len(c.parts))
		for i, part := range c.parts {
			texts[i] = part.where()
		}
		return strings.Join(texts, ` AND `)
	case c.set == nil || c.joined:
		return c.test()
	case c.exact:
		return `r.rid IN (` + c.set() + `)`
	}
	return `r.rid IN (` + c.set() + `) AND ` + c.test()
}

// drivers parts a criterion into those whose sets can drive a search, and the
// rest.
func (c compiled) drivers() (drivers, rest []compiled) {
	parts := c.parts
	if len(parts) == 0 {
		parts = []compiled{c}
	}
	for _, part := range parts {
		if part.keyed && !part.joined {
			drivers = append(drivers, part)
		} else {
			rest = append(rest, part)
		}
	}
	for i, part := range rest {
		if len(drivers) == 0 && part.keyed {
			return []compiled{part}, slices.Delete(rest, i, i+1)
		}
	}
	return drivers, rest
}

// inSet is a criterion that only an index answers.
func inSet(set func() string) compiled {
	return compiled{set: set, exact: true, test: func() string { return `r.rid IN (` + set() + `)` }}
}

// not is the contrary, which no index serves.
func (c compiled) not() compiled {
	return compiled{test: func() string { return `NOT (` + c.test() + `)` }}
}

// constant is a criterion that holds for all resources of a type or none.
func constant(holds bool) compiled {
	return compiled{test: func() string { return strconv.FormatBool(holds) }}
}

// join writes one form of several parts.
func join(forms []func() string, between string) func() string {
	return func() string {
		texts := make([]string, len(forms))
		for i, form := range forms {
			texts[i] = form()
		}
		return strings.Join(texts, between)
	}
}

// criterionCompiler compiles the criteria for one resource type; hashes differ
// by type.
type criterionCompiler struct {
	sql    *sqlBuilder
	hash   hasher
	typ    fhir.ResourceType
	typeID int16
	types  map[fhir.ResourceType]int16
}

func (c *criterionCompiler) compile(criterion fhir.Criterion) (compiled, error) {
	switch k := criterion.(type) {
	case fhir.And:
		return c.and(k)
	case fhir.Or:
		return c.or(k)
	case fhir.Not:
		part, err := c.compile(k.Criterion)
		return part.not(), err
	case fhir.TypeIs:
		return constant(fhir.ResourceType(k) == c.typ), nil
	case fhir.IDIn:
		return c.idIn(k), nil
	case fhir.Updated:
		return c.updated(k), nil
	case fhir.Token:
		return c.token(k), nil
	case fhir.Missing:
		return c.missing(k), nil
	case fhir.ReferenceTo:
		return c.referenceTo(k), nil
	case fhir.TokenIn:
		return c.tokenIn(k), nil
	case fhir.OfType:
		return c.ofType(k), nil
	case fhir.ReferenceBy:
		return c.referenceBy(k), nil
	case fhir.URIBelow:
		if strings.HasPrefix(k.Param, "_") {
			return c.named(k.Param, c.belowURI(k.URI)), nil
		}
		return c.uriBelow(k), nil
	case fhir.Named:
		return c.named(k.Param, c.startsWith(firstCharacters(k.Value, maxText))), nil
	case fhir.Near:
		return c.near(k), nil
	case fhir.Composite:
		return c.composite(k)
	case fhir.Chain:
		return c.chain(k)
	case fhir.Has:
		return c.reverse(k)
	case fhir.URI:
		return c.keyed(k.Param, termURL, k.URI), nil
	case fhir.String:
		return c.text(k), nil
	case fhir.Date:
		return c.date(k), nil
	case fhir.Number:
		return c.number(c.hash.param(c.typ, k.Param), k), nil
	case fhir.Quantity:
		return c.quantity(c.hash.param(c.typ, k.Param), k)
	}
	return compiled{}, fmt.Errorf("postgres: no SQL for the criterion %T", criterion)
}

func (c *criterionCompiler) and(k fhir.And) (compiled, error) {
	if len(k) == 0 {
		return constant(true), nil
	}
	var all compiled
	var tests []func() string
	for _, criterion := range k {
		part, err := c.compile(criterion)
		if err != nil {
			return compiled{}, err
		}
		all.parts = append(all.parts, part)
		tests = append(tests, part.test)
		if all.set == nil {
			all.set = part.set
		}
	}
	test := join(tests, ` AND `)
	all.test = func() string { return `(` + test() + `)` }
	return all, nil
}

func (c *criterionCompiler) or(k fhir.Or) (compiled, error) {
	choices := make([]compiled, len(k))
	for i, criterion := range k {
		var err error
		if choices[i], err = c.compile(criterion); err != nil {
			return compiled{}, err
		}
	}
	return anyOf(choices), nil
}

// anyOf holds when one of several criteria does.
func anyOf(choices []compiled) compiled {
	if len(choices) == 0 {
		return constant(false)
	}
	var sets, tests []func() string
	exact, keyed, joined := true, true, false
	for _, part := range choices {
		if part.set != nil {
			sets = append(sets, part.set)
		}
		exact, keyed, joined = exact && part.exact, keyed && part.keyed, joined || part.joined
		tests = append(tests, part.test)
	}
	test := join(tests, ` OR `)
	one := compiled{test: func() string { return `(` + test() + `)` }}
	if len(sets) == len(choices) {
		one.set, one.exact, one.keyed, one.joined = join(sets, ` UNION `), exact, keyed, joined
	}
	return one
}
