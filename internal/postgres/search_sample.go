package postgres

import (
	"context"
	"math"

	"github.com/jackc/pgx/v5"

	"starling/internal/fhir"
)

// sampling is when and how totals are estimated.
type sampling struct {
	// mostLooked is how many resources a count looks at.
	mostLooked int64
	// of is about how many of all resources there are a sample has, when all are
	// candidates.
	of int64
	// leastFound is how many matches a sample needs for an estimate that is off by a
	// tenth at the most, twice in three times; of fewer all are counted.
	leastFound int64
}

var defaultSampling = sampling{mostLooked: 50_000, of: 8192, leastFound: 100}

// sample estimates how many of very many candidates match, where each would have to
// be looked at: the candidates are counted in their index, and a random sample of them
// is looked at. ok is false if there are not so many, or few of them match: those are
// counted.
func (s *Store) sample(ctx context.Context, conn *pgx.Conn, query *fhir.SearchQuery, sizes sizes) (t total, ok bool, err error) {
	if len(query.Types) != 1 || query.AsContained {
		return t, false, nil
	}
	var b sqlBuilder
	one, err := s.scan(&b, query.Types[0], query.Criteria, sizes)
	if err != nil || one.never {
		return t, false, err
	}
	candidates := one.candidates()
	if candidates == `` {
		return t, false, nil
	}
	// Before the first ANALYZE nobody knows how many resources there are; then the sample
	// is of the first.
	b.write(`SELECT count(*), coalesce((array_agg(d.rid) FILTER (WHERE (hashint8(d.rid) & 2147483647) %
		greatest(1, (SELECT reltuples FROM pg_class WHERE oid = 'resource'::regclass)::bigint / `, b.arg(s.sampling.of), `::bigint) = 0))[1:`, b.arg(int32(s.sampling.mostLooked)), `], '{}') FROM (`, candidates, `) d`)
	var all int64
	var rids []int64
	if err := b.scan(ctx, conn, &all, &rids); err != nil {
		return t, false, err
	}
	if all <= s.sampling.mostLooked || int64(len(rids)) < s.sampling.leastFound {
		return t, false, nil
	}
	b = sqlBuilder{}
	if one, err = s.scan(&b, query.Types[0], query.Criteria, sizes); err != nil {
		return t, false, err
	}
	b.write(`SELECT count(*) FROM (SELECT * FROM resource g WHERE g.rid = ANY (`, b.arg(rids), `) OFFSET 0) r WHERE `, one.current(), one.tests(-1))
	var found int64
	if err := b.scan(ctx, conn, &found); err != nil || found < s.sampling.leastFound {
		return t, false, err
	}
	return total{int64(math.Round(float64(all) * float64(found) / float64(len(rids)))), true}, true, nil
}

// candidates is a subquery of the rids that would have to be looked at to count the
// matches, from one index alone; empty if indexes tell the count, or if the
// candidates are few or not to be had so.
func (c *scan) candidates() string {
	driver, large := c.driver()
	switch {
	case driver >= 0 && !large && c.sizes != nil, c.told():
		return ``
	case driver < 0:
		return `SELECT r.rid FROM resource r WHERE ` + c.current()
	}
	for i := range c.parts {
		if part := &c.parts[i]; part.set != nil && !part.joined {
			return part.set()
		}
	}
	return ``
}
