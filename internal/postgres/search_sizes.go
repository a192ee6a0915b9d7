package postgres

import (
	"context"
	"slices"
	"strconv"

	"github.com/jackc/pgx/v5"

	"starling/internal/fhir"
)

// sizes are how many rids the sets of a search's criteria have, by type and
// part; of more than few, few.
type sizes map[fhir.ResourceType][]int

// mostSized is for how many types the sets of a search are looked at.
const mostSized = 8

// looks are how sets are looked at, in turn, until one is found to be small:
// first over a few rids, since most searches have a set that is smaller. Walks
// over other resources are among them if they begin at a few, since to test a
// candidate for them costs several look-ups; other such walks come last.
var looks = []look{{limit: few / 10}, {limit: few}, {limit: few, wide: true}}

type look struct {
	limit int
	// wide says that walks over other resources are looked at, whatever they begin
	// with, and nothing else.
	wide bool
}

// sizesOf looks at the sets of a search in which it matters which one drives:
// the planner's guess would rest on statistics that may be old, and that know
// nothing of values common in one parameter and rare in another.
func (s *Store) sizesOf(ctx context.Context, conn *pgx.Conn, query *fhir.SearchQuery) (sizes, error) {
	if query.Criteria == nil || len(query.Types) > mostSized {
		return nil, nil
	}
	found, looks := sizes{}, looks
	if inOrder(query) {
		looks = looks[:1] // beyond that the sort key is walked in any case
	}
	for _, look := range looks {
		var b sqlBuilder
		into, err := s.sizesSQL(&b, query, found, look)
		if err != nil {
			return nil, err
		}
		if len(into) == 0 {
			continue
		}
		if err := b.scan(ctx, conn, into...); err != nil {
			return nil, err
		}
	}
	return found, nil
}

// sizesSQL counts the sets of the types that have none known to be small, and
// says where the counts belong.
func (s *Store) sizesSQL(b *sqlBuilder, query *fhir.SearchQuery, found sizes, look look) (into []any, err error) {
	for _, t := range query.Types {
		one, err := s.scan(b, t, query.Criteria, nil)
		if err != nil {
			return nil, err
		}
		if !one.choosable(query) {
			continue
		}
		of := found[t]
		if of == nil {
			of = slices.Repeat([]int{few}, len(one.parts))
			found[t] = of
		}
		for i := range one.parts {
			if most := one.parts[i].most; most > 0 {
				of[i] = min(most, few)
			}
		}
		if slices.Min(of) < few {
			continue
		}
		for i := range one.parts {
			part := &one.parts[i]
			bounded := !part.joined || part.begins != nil
			if part.set == nil || part.most > 0 || !bounded && !look.wide || !part.joined && look.wide {
				continue
			}
			limit := look.limit
			if part.slow {
				limit = min(limit, fewJoined)
			}
			between := `, `
			if len(into) == 0 {
				between = `SELECT `
			}
			b.write(between)
			if part.joined && !look.wide {
				b.write(`CASE WHEN `, part.begins(), ` THEN `)
			}
			b.write(`(SELECT CASE WHEN count(*) < `, strconv.Itoa(limit), ` THEN count(*)::int ELSE `, strconv.Itoa(few), ` END FROM (SELECT FROM (`,
				part.set(), `) s LIMIT `, strconv.Itoa(limit), `) s)`)
			if part.joined && !look.wide {
				b.write(` ELSE `, strconv.Itoa(few), ` END`)
			}
			into = append(into, &of[i])
		}
	}
	return into, nil
}

// choosable reports whether there is something to choose: between sets, or
// between one and a walk that stops when the page is full.
func (c *scan) choosable(query *fhir.SearchQuery) bool {
	sets, single := 0, false
	for i := range c.parts {
		if part := &c.parts[i]; part.set != nil {
			sets, single = sets+1, len(part.hashes) == 1
		}
	}
	return sets > 1 || sets == 1 && (!single || len(query.Sort) > 0)
}
