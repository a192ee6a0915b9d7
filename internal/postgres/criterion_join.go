package postgres

import (
	"strconv"
	"strings"

	"starling/internal/fhir"
)

// of gives the compiler for criteria of another type.
func (c *criterionCompiler) of(t fhir.ResourceType) (*criterionCompiler, error) {
	number, ok := c.types[t]
	if !ok {
		return nil, fhir.NewError(fhir.KindNotFound, fhir.IssueNotSupported, "unknown resource type")
	}
	return &criterionCompiler{sql: c.sql, hash: c.hash, typ: t, typeID: number, types: c.types, contained: c.contained, followed: c.followed}, nil
}

// isCurrent says that a row of resource is a current one of the type, if
// there is one.
func (c *criterionCompiler) isCurrent(row string) string {
	if c.typeID == 0 {
		return `NOT ` + row + `.deleted`
	}
	return row + `.type = ` + c.sql.arg(c.typeID) + ` AND NOT ` + row + `.deleted`
}

// found writes FROM and WHERE of all resources that meet a criterion, as the row
// r, driven by the index rows of one of its parts.
func (c *criterionCompiler) found(k *compiled) string {
	parts := k.list()
	driver := likely(parts)
	if driver < 0 {
		return ` FROM resource r WHERE ` + c.isCurrent(`r`) + ` AND ` + k.test()
	}
	var b strings.Builder
	b.WriteString(` FROM (` + parts[driver].distinct() + ` OFFSET 0) d CROSS JOIN LATERAL (SELECT r.* FROM resource r WHERE r.rid = d.rid AND ` + c.isCurrent(`r`))
	for i := range parts {
		if i != driver || !parts[i].exact {
			b.WriteString(` AND ` + parts[i].test())
		}
	}
	b.WriteString(` OFFSET 0) r`)
	return b.String()
}

// lookup is the resource that the reference u.term leads to, if the term is one
// of the link. Without OFFSET 0 a planner without statistics walks the type.
func (c *criterionCompiler) lookup(link int64) string {
	return `(SELECT * FROM resource WHERE self = u.term # ` + c.sql.arg(link) + ` OFFSET 0)`
}

// begun is how many resources a set may go out from without a second thought.
const begun = 20

// begins is the condition compiled.begins of a set that goes out from the
// resources which meet a criterion. Of a nested one the outer begins are asked
// only if the inner ones are few.
func begins(inner *compiled) func() string {
	parts := inner.list()
	driver := likely(parts)
	if driver < 0 || parts[driver].joined && parts[driver].begins == nil {
		return nil
	}
	from := parts[driver]
	return func() string {
		few := `(SELECT count(*) FROM (SELECT FROM (` + from.set() + `) s LIMIT ` + strconv.Itoa(begun) + `) s) < ` + strconv.Itoa(begun)
		if from.begins != nil {
			return `CASE WHEN ` + from.begins() + ` THEN ` + few + ` ELSE false END`
		}
		return few
	}
}

// chain: https://hl7.org/fhir/R4/search.html#chaining. Its set goes from the
// targets to those that refer to them, its test from a resource to its targets.
func (c *criterionCompiler) chain(k fhir.Chain) (compiled, error) {
	target, inner, err := c.inner(k.Type, k.Criterion)
	if err != nil {
		return compiled{}, err
	}
	if k.Canonical {
		return c.byCanonical(c.canonicals(c, k.Param, target), target, inner), nil
	}
	link := c.hash.link(c.typ, k.Param)
	chain := compiled{joined: true, test: func() string {
		return `EXISTS (SELECT FROM unnest(r.terms) u(term) CROSS JOIN LATERAL (SELECT FROM ` +
			c.lookup(link) + ` r WHERE ` + target.isCurrent(`r`) + ` AND ` + inner.test() + ` OFFSET 0) t WHERE u.term & 3 = 3)`
	}}
	if inner.set != nil {
		chain.exact, chain.begins = true, begins(&inner)
		chain.set = func() string {
			return `SELECT k.rid FROM (SELECT r.self` + target.found(&inner) +
				` OFFSET 0) t CROSS JOIN LATERAL (SELECT k.rid FROM search_key k WHERE k.hash = t.self # ` + c.sql.arg(link) + ` OFFSET 0) k`
		}
	}
	return chain, nil
}

// reverse: https://hl7.org/fhir/R4/search.html#has. Its set goes from the
// resources that refer to their targets, its test from a resource to those that
// refer to it.
func (c *criterionCompiler) reverse(k fhir.Has) (compiled, error) {
	source, inner, err := c.inner(k.Type, k.Criterion)
	if err != nil {
		return compiled{}, err
	}
	if k.Canonical {
		by := c.canonicals(source, k.Param, c)
		by.referred = true
		return c.byCanonical(by, source, inner), nil
	}
	link := c.hash.link(k.Type, k.Param)
	has := compiled{joined: true, slow: true, test: func() string {
		return `EXISTS (` + source.referring(`r.self # `+c.sql.arg(link), &inner) + `)`
	}}
	if inner.set != nil {
		has.exact, has.begins = true, begins(&inner)
		has.set = func() string {
			return `SELECT t.rid FROM (SELECT r.terms` + source.found(&inner) +
				` OFFSET 0) s CROSS JOIN LATERAL unnest(s.terms) u(term) CROSS JOIN LATERAL (SELECT t.rid FROM ` +
				c.lookup(link) + ` t WHERE ` + c.isCurrent(`t`) + ` OFFSET 0) t WHERE u.term & 3 = 3`
		}
	}
	return has, nil
}

// referring are the resources, as k.rid, that have a hash in search_key and meet a
// criterion. Of a part of it that has hashes of its own, both are told in that index:
// the rids of the one are looked for, all together, among those of the other. Only
// what is left is looked up, if there is more to know of it.
func (c *criterionCompiler) referring(hash string, k *compiled) string {
	referring := `SELECT k.rid FROM search_key k WHERE k.hash = ` + hash
	rows := referring
	var tests strings.Builder
	parts := k.list()
	for i := range parts {
		part := &parts[i]
		switch {
		case !part.ordered():
		case rows == referring:
			rows = `SELECT k.rid FROM search_key k WHERE k.hash ` + c.oneOf(part.hashes) + ` AND k.rid = ANY (ARRAY (` + referring + `))`
		default:
			rows += ` AND EXISTS (SELECT FROM search_key e WHERE e.hash ` + c.oneOf(part.hashes) + ` AND e.rid = k.rid OFFSET 0)`
		}
		if !part.ordered() || !part.exact {
			tests.WriteString(` AND ` + part.test())
		}
	}
	if tests.Len() == 0 {
		return rows
	}
	return `SELECT FROM (` + rows + ` OFFSET 0) k CROSS JOIN LATERAL (SELECT FROM resource r WHERE r.rid = k.rid AND ` + c.isCurrent(`r`) + tests.String() + ` OFFSET 0) s`
}

// inner compiles the criterion on the other end of a reference; nil holds for
// all.
func (c *criterionCompiler) inner(t fhir.ResourceType, criterion fhir.Criterion) (*criterionCompiler, compiled, error) {
	other, err := c.of(t)
	if err != nil {
		return nil, compiled{}, err
	}
	if criterion == nil {
		return other, constant(true), nil
	}
	inner, err := other.compile(criterion)
	return other, inner, err
}
