package postgres

import (
	"context"
	"slices"
	"strconv"
	"strings"

	"github.com/jackc/pgx/v5"

	"starling/internal/fhir"
)

// A contained resource has the terms and ranges it would have as a resource, in
// the row of its container and under a type of its own: "Patient#0" for the first
// Patient of a container. So searches for resources never meet them, and criteria
// compiled for one such type hold for one contained resource.

// innerType is that type.
func innerType(t fhir.ResourceType, place int) fhir.ResourceType {
	return t + fhir.ResourceType("#"+strconv.Itoa(place))
}

// contains is the term of search_key that says that there is such a resource.
func (h hasher) contains(t fhir.ResourceType, place int) int64 {
	return h.term(innerType(t, place), "", termContains)
}

// contained adds what contained resources are found by, and the references to
// them.
func (h hasher) contained(e *entries, t fhir.ResourceType, index *fhir.Index) {
	count := map[fhir.ResourceType]int{}
	at := map[string]fhir.ResourceType{}
	for i := range index.Contained {
		c := &index.Contained[i]
		inner := innerType(c.Type, count[c.Type])
		if _, known := at["#"+c.ID]; !known && c.ID != "" {
			at["#"+c.ID] = inner
		}
		more := h.valuesOf(inner, c.Index)
		e.terms = append(append(e.terms, h.contains(c.Type, count[c.Type]), h.term(inner, "_id", termCode, c.ID)), more.terms...)
		e.ranges.dates = append(e.ranges.dates, more.ranges.dates...)
		e.ranges.numbers = append(e.ranges.numbers, more.ranges.numbers...)
		e.ranges.texts = append(e.ranges.texts, more.ranges.texts...)
		e.names = append(e.names, more.names...)
		count[c.Type]++
	}
	link := func(t fhir.ResourceType, index *fhir.Index) {
		for i := range index.References {
			if to, ok := at[index.References[i].URL]; ok {
				e.terms = append(e.terms, h.term(t, index.References[i].Param, termInner, string(to)))
			}
		}
	}
	link(t, index)
	clear(count)
	for i := range index.Contained {
		c := &index.Contained[i]
		link(innerType(c.Type, count[c.Type]), c.Index)
		count[c.Type]++
	}
}

// aware are criteria with what the database has of the contained resources they
// may be about.
type aware struct {
	fhir.Criterion
	contained map[fhir.ResourceType]int
}

// awareOfContained looks up how many contained resources of the types that a
// search may lead to one resource has. Mostly there are none, and one look tells.
func (s *Store) awareOfContained(ctx context.Context, conn *pgx.Conn, query *fhir.SearchQuery) (*fhir.SearchQuery, error) {
	types := map[fhir.ResourceType]bool{}
	containedTypes(query.Criteria, types)
	if len(types) == 0 {
		return query, nil
	}
	found := map[fhir.ResourceType]int{}
	for from, to := 0, 1; len(types) > 0; from, to = to, fhir.MostContained {
		var of []fhir.ResourceType
		var terms []int64
		for t := range types {
			for place := from; place < to; place++ {
				of, terms = append(of, t), append(terms, s.hash.contains(t, place))
			}
		}
		clear(types)
		rows, err := conn.Query(ctx, `SELECT t.n FROM unnest($1::bigint[]) WITH ORDINALITY AS t(term, n)
			WHERE EXISTS (SELECT FROM search_key k WHERE k.hash = t.term OFFSET 0)`, terms)
		if err != nil {
			return nil, err
		}
		ns, err := pgx.CollectRows(rows, pgx.RowTo[int64])
		if err != nil {
			return nil, err
		}
		for _, n := range ns {
			t := of[n-1]
			found[t]++
			if to == 1 {
				types[t] = true
			}
		}
	}
	known := *query
	known.Criteria = aware{query.Criteria, found}
	return &known, nil
}

// containedTypes gathers the types of contained resources that criteria may be
// about.
func containedTypes(criterion fhir.Criterion, types map[fhir.ResourceType]bool) {
	switch k := criterion.(type) {
	case fhir.And:
		for _, part := range k {
			containedTypes(part, types)
		}
	case fhir.Or:
		for _, part := range k {
			containedTypes(part, types)
		}
	case fhir.Not:
		containedTypes(k.Criterion, types)
	case fhir.Has:
		containedTypes(k.Criterion, types)
	case fhir.Chain:
		if !k.Outside {
			types[k.Type] = true
		}
		containedTypes(k.Criterion, types)
	case fhir.Contained:
		types[k.Type] = true
		containedTypes(k.Criterion, types)
	}
}

// innerOf is the compiler for the criteria of a contained resource.
func (c *criterionCompiler) innerOf(t fhir.ResourceType, place int) *criterionCompiler {
	return &criterionCompiler{sql: c.sql, hash: c.hash, typ: innerType(t, place), types: c.types, contained: c.contained, followed: c.followed, inside: true}
}

// contain compiles a criterion for one contained resource; nil holds for any.
func (c *criterionCompiler) contain(t fhir.ResourceType, place int, criterion fhir.Criterion) (compiled, error) {
	there := c.hash.contains(t, place)
	exists := c.keys(true, c.has(there), there)
	if criterion == nil {
		return exists, nil
	}
	one, err := c.innerOf(t, place).compile(criterion)
	switch {
	case err != nil || one.fixed && !one.holds:
		return one, err
	case one.fixed:
		return exists, nil
	case one.set == nil:
		return c.together(exists, one), nil
	}
	return one, nil
}

// together holds when all of several criteria do; the first set drives.
func (c *criterionCompiler) together(parts ...compiled) compiled {
	var all compiled
	var tests []func() string
	for i := range parts {
		tests = append(tests, parts[i].test)
		all.joined = all.joined || parts[i].joined
		if all.set == nil {
			all.set, all.most = parts[i].set, parts[i].most
		}
	}
	test := join(tests, ` AND `)
	all.test = func() string { return `(` + test() + `)` }
	return all
}

// ways are a Contained, one for each place and last, if wanted, the resource
// itself.
func (c *criterionCompiler) ways(k fhir.Contained) (ways []compiled, places []int, err error) {
	add := func(one compiled, err error, place int) error {
		if err == nil && !one.fixed {
			ways, places = append(ways, one), append(places, place)
		}
		return err
	}
	for place := range c.contained[k.Type] {
		one, err := c.contain(k.Type, place, k.Criterion)
		if err := add(one, err, place); err != nil {
			return nil, nil, err
		}
	}
	if !k.Itself {
		return ways, places, nil
	}
	own, one, err := c.inner(k.Type, k.Criterion)
	if err != nil || one.fixed && !one.holds {
		return ways, places, err
	}
	current := func(row string) func() string { return func() string { return own.isCurrent(row) } }
	typed := compiled{test: current(`r`), exact: true, set: func() string { return `SELECT t.rid FROM resource t WHERE ` + own.isCurrent(`t`) }}
	if !one.fixed {
		if one.set != nil {
			typed.set = nil
		}
		typed = c.together(typed, one)
	}
	return ways, places, add(typed, nil, fhir.Itself)
}

// containing: https://hl7.org/fhir/R4/search.html#contained
func (c *criterionCompiler) containing(k fhir.Contained) (compiled, error) {
	ways, _, err := c.ways(k)
	return c.anyOf(ways), err
}

// ofContained compiles what of contained resources is elsewhere, or nowhere:
// nothing else refers to them, they have no words indexed, and the time of their
// container.
func (c *criterionCompiler) ofContained(criterion fhir.Criterion) (one compiled, ok bool) {
	switch k := criterion.(type) {
	case fhir.Has, fhir.Text:
		return constant(false), true
	case fhir.Updated:
		return compiled{test: c.updated(k).test}, true
	case fhir.IDIn:
		terms := make([]int64, len(k))
		for i, id := range k {
			terms[i] = c.hash.term(c.typ, "_id", termCode, id)
		}
		slices.Sort(terms)
		terms = slices.Compact(terms)
		return c.keys(true, func() string { return `r.terms && ` + c.sql.arg(terms) }, terms...), true
	}
	return compiled{}, false
}

// mostInner bounds the ways of a search through contained resources.
const mostInner = 400

// chains follows references to resources and to contained ones.
func (c *criterionCompiler) chains(k fhir.Chain) (compiled, error) {
	chain, err := c.chain(k)
	if err != nil || k.Outside || c.contained[k.Type] == 0 {
		return chain, err
	}
	// Each place has a copy of all that follows, with the places in that.
	if *c.followed += c.contained[k.Type]; *c.followed > mostInner {
		return compiled{}, tooCostly("The chain has too many ways through contained resources; say which type is meant, or make it shorter.")
	}
	ways := []compiled{chain}
	for place := range c.contained[k.Type] {
		one, err := c.contain(k.Type, place, k.Criterion)
		switch {
		case err != nil:
			return compiled{}, err
		case one.fixed:
			continue
		}
		link := compiled{test: c.has(c.hash.term(c.typ, k.Param, termInner, string(innerType(k.Type, place))))}
		ways = append(ways, c.together(link, one))
	}
	return c.anyOf(ways), nil
}

// innerMatches is an array of the places at which the row r meets a Contained.
func (s *Store) innerMatches(b *sqlBuilder, criteria fhir.Criterion) (string, error) {
	known, ok := criteria.(aware)
	contained, is := known.Criterion.(fhir.Contained)
	if !ok || !is {
		return `'{}'::integer[]`, nil
	}
	c := &criterionCompiler{sql: b, hash: s.hash, types: s.types.number, contained: known.contained, followed: new(int)}
	ways, places, err := c.ways(contained)
	if err != nil {
		return ``, err
	}
	list := make([]string, len(ways))
	for i := range ways {
		list[i] = `CASE WHEN ` + ways[i].test() + ` THEN ` + strconv.Itoa(places[i]) + ` END`
	}
	return `array_remove(ARRAY[` + strings.Join(list, `, `) + `]::integer[], NULL)`, nil
}

// within says which contained resources of a page's matches meet the criteria:
// none of a match that has changed since it was found.
func (q *searching) within(ctx context.Context, page *fhir.SearchPage, hits []hit) error {
	var b sqlBuilder
	places, err := q.store.innerMatches(&b, q.query.Criteria)
	if err != nil {
		return err
	}
	var rids []int64
	var versions []int32
	for i := range hits {
		rids, versions = append(rids, hits[i].rid), append(versions, int32(hits[i].resource.VersionID))
	}
	b.write(`SELECT k.n, `, places, ` FROM unnest(`, b.arg(rids), `::bigint[], `, b.arg(versions), `::integer[]) WITH ORDINALITY AS k(rid, version, n)`,
		` CROSS JOIN LATERAL (SELECT * FROM resource r WHERE r.rid = k.rid AND r.version = k.version OFFSET 0) r`)
	rows, err := b.query(ctx, q.conn)
	if err != nil {
		return err
	}
	defer rows.Close()
	page.Contained = make([][]int, len(hits))
	for rows.Next() {
		var n int64
		var of []int
		if err := rows.Scan(&n, &of); err != nil {
			return err
		}
		page.Contained[n-1] = of
	}
	return rows.Err()
}
