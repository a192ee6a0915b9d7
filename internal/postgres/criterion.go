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
	// criterion holds for, and perhaps more; perhaps more than once if it is not
	// ordered. nil if no index serves it.
	set func() string
	// exact says set gives no others.
	exact bool
	// hashes are those of search_key whose rows are the set, if it is so.
	hashes []int64
	// most is how many rids set gives at the most; 0 if that is not known.
	most int
	// joined says that set and test go to other resources; slow, that set looks
	// many of them up for each rid it gives.
	joined, slow bool
	// begins is a condition on no row: what set goes out from is so little that set
	// is soon counted. nil if set is not joined or that cannot be told.
	begins func() string
	// test is a condition that holds exactly when the criterion does. It looks
	// at the row r and what that refers to, never at a whole set.
	test func() string
	// of is what this is the contrary of, if it is one.
	of *compiled
	// parts are those of an And, whose indexes may be used together.
	parts []compiled
	// fixed says that the criterion holds for all resources of the type or for
	// none, as holds says.
	fixed, holds bool
}

// mergedHashes is how many walks of search_key are merged in the order of rid.
const mergedHashes = 8

// ordered reports whether set can be walked in the order of rid from any place
// on.
func (c *compiled) ordered() bool { return len(c.hashes) > 0 && len(c.hashes) <= mergedHashes }

// distinct is set with each rid once.
func (c *compiled) distinct() string {
	if c.ordered() {
		return c.set()
	}
	return `SELECT DISTINCT rid FROM (` + c.set() + `) s`
}

// list gives the parts of an And, or the criterion itself.
func (c *compiled) list() []compiled {
	if len(c.parts) > 0 {
		return c.parts
	}
	return []compiled{*c}
}

// likely gives the part of an And whose set is likely the smallest, judged by
// its kind; -1 if none has one.
func likely(parts []compiled) int {
	best, rank := -1, 0
	for i := range parts {
		part, n := &parts[i], 0
		switch {
		case part.set == nil:
		case part.most > 0:
			n = 4
		case len(part.hashes) > 0:
			n = 3
		case !part.joined:
			n = 2
		default:
			n = 1
		}
		if n > rank {
			best, rank = i, n
		}
	}
	return best
}

// inSet is a criterion whose index has exactly what it holds for.
func inSet(set, test func() string) compiled {
	return compiled{set: set, exact: true, test: test}
}

// not is the contrary, which no index serves.
func (c compiled) not() compiled {
	if c.fixed {
		return constant(!c.holds)
	}
	return compiled{joined: c.joined, of: &c, test: func() string { return `NOT (` + c.test() + `)` }}
}

// constant is a criterion that holds for all resources of a type or none.
func constant(holds bool) compiled {
	return compiled{fixed: true, holds: holds, test: func() string { return strconv.FormatBool(holds) }}
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
	// contained is how many contained resources of a type a resource has at the
	// most, as far as the search needs to know.
	contained map[fhir.ResourceType]int
	// followed counts the ways through contained resources in the whole search.
	followed *int
	// inside says that the criteria are of a contained resource, whose values the
	// row r has under typ; typeID is 0.
	inside bool
}

func (c *criterionCompiler) compile(criterion fhir.Criterion) (compiled, error) {
	if c.inside {
		if one, ok := c.ofContained(criterion); ok {
			return one, nil
		}
	}
	switch k := criterion.(type) {
	case aware:
		c.contained = k.contained
		return c.compile(k.Criterion)
	case fhir.Contained:
		return c.containing(k)
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
	case fhir.Text:
		return c.words(k), nil
	case fhir.Named:
		return c.named(k.Param, c.startsWith(firstCharacters(k.Value, maxText))), nil
	case fhir.Near:
		return c.near(k), nil
	case fhir.Composite:
		return c.composite(k)
	case fhir.Chain:
		return c.chains(k)
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
	var parts []compiled
	for _, criterion := range k {
		part, err := c.compile(criterion)
		switch {
		case err != nil:
			return compiled{}, err
		case part.fixed && !part.holds:
			return part, nil
		case !part.fixed:
			parts = append(parts, part.list()...)
		}
	}
	switch len(parts) {
	case 0:
		return constant(true), nil
	case 1:
		return parts[0], nil
	}
	all := compiled{parts: parts}
	var tests []func() string
	for i := range parts {
		part := &parts[i]
		tests = append(tests, part.test)
		all.joined = all.joined || part.joined
	}
	if driver := likely(parts); driver >= 0 {
		all.set, all.most, all.begins = parts[driver].set, parts[driver].most, parts[driver].begins
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
	return c.anyOf(choices), nil
}

// anyOf holds when one of several criteria does.
func (c *criterionCompiler) anyOf(choices []compiled) compiled {
	var some []compiled
	for _, part := range choices {
		if part.fixed && part.holds {
			return part
		}
		if !part.fixed {
			some = append(some, part)
		}
	}
	switch len(some) {
	case 0:
		return constant(false)
	case 1:
		return some[0]
	}
	one := compiled{exact: true}
	var sets, tests []func() string
	var begins []func() string
	hashed, known := 0, 0
	for i := range some {
		part := &some[i]
		tests = append(tests, part.test)
		if part.set != nil {
			sets = append(sets, part.set)
		}
		one.exact, one.joined = one.exact && part.exact, one.joined || part.joined
		one.slow = one.slow || part.slow
		if part.joined {
			begins = append(begins, part.begins)
		}
		if len(part.hashes) > 0 {
			hashed, one.hashes = hashed+1, append(one.hashes, part.hashes...)
		}
		if part.most > 0 {
			known, one.most = known+1, one.most+part.most
		}
	}
	test := join(tests, ` OR `)
	one.test = func() string { return `(` + test() + `)` }
	if known < len(some) {
		one.most = 0
	}
	if one.joined && !slices.ContainsFunc(begins, func(f func() string) bool { return f == nil }) {
		one.begins = join(begins, ` AND `)
	}
	switch {
	case len(sets) < len(some):
		one.exact, one.hashes, one.most = false, nil, 0
	case hashed == len(some):
		slices.Sort(one.hashes)
		one.hashes = slices.Compact(one.hashes)
		one.set = c.walk(one.hashes)
	default:
		one.hashes = nil
		one.set = join(sets, ` UNION ALL `)
	}
	return one
}
