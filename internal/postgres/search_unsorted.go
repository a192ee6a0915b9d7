package postgres

import (
	"context"
	"slices"

	"starling/internal/fhir"
)

// hit is a match found.
type hit struct {
	rid      int64
	typ      int16
	version  int32
	updated  int64 // microseconds since 2000
	id       string
	keys     []sortValue // of the sort keys
	resource *fhir.Resource
}

// unsorted finds matches in the order of their internal ids. The page's rows
// are found first, and only their bodies read.
func (q *searching) unsorted(ctx context.Context) ([]hit, error) {
	if q.large() {
		// Among many a page is mostly full soon.
		hits, err := q.page(ctx, (*scan).begin)
		if err != nil || len(hits) >= q.wanted() {
			return hits, err
		}
	}
	return q.page(ctx, (*scan).from)
}

// large reports whether the search is of one type and all sets of its criteria
// are large.
func (q *searching) large() bool {
	if len(q.query.Types) > 1 || len(q.sizes) == 0 {
		return false
	}
	return slices.Min(q.sizes[q.query.Types[0]]) >= few
}

func (q *searching) page(ctx context.Context, from func(c *scan, at place, limit string) string) ([]hit, error) {
	var b sqlBuilder
	if err := q.unsortedSQL(&b, from); err != nil {
		return nil, err
	}
	rows, err := b.query(ctx, q.conn)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	var hits []hit
	for rows.Next() {
		v := rows.RawValues()
		if v[2] != nil {
			hits = append(hits, hit{rid: getInt8(v[0]), version: getInt4(v[1]), typ: getInt2(v[2]), id: string(v[3])})
			continue
		}
		// A version of the page's, or one of another number that is some other
		// resource's on the page.
		if i := slices.IndexFunc(hits, func(h hit) bool { return h.rid == getInt8(v[0]) }); i >= 0 && hits[i].version == getInt4(v[1]) {
			hits[i].resource = resourceOf(fhir.Key{Type: q.store.types.name[hits[i].typ], ID: hits[i].id}, v[4:9])
		}
	}
	return hits, rows.Err()
}

// versionsOf are the versions of rids, in the columns that resourceOf reads. All
// are looked up together, by each of the numbers that any of them has: there are
// few, and mostly one.
func versionsOf(columns, rids, numbers string) string {
	return `SELECT ` + columns + `, v.version, v.updated, v.method, v.meta, v.body FROM version v WHERE v.rid = ANY (` + rids + `) AND v.version = ANY (` + numbers + `)`
}

// unsortedSQL finds the page's rows, and after them gives their versions.
func (q *searching) unsortedSQL(b *sqlBuilder, from func(c *scan, at place, limit string) string) error {
	limit, at := b.arg(int64(q.wanted())), place{down: q.backward()}
	if q.cursor != nil {
		at.at = b.arg(q.cursor.RID)
	}
	b.write(`WITH page AS MATERIALIZED (SELECT * FROM (`)
	searched := 0
	for _, t := range q.query.Types {
		one, err := q.store.scan(b, t, q.query.Criteria, q.sizes)
		switch {
		case err != nil:
			return err
		case one.never:
			continue
		case searched > 0:
			b.write(` UNION ALL `)
		}
		searched++
		b.write(`(SELECT r.rid, r.version, r.type, r.id`)
		column := from(one, at, limit)
		b.write(at.order(column), ` LIMIT `, limit, `)`)
	}
	if searched == 0 {
		b.write(`SELECT rid, version, type, id FROM resource WHERE false LIMIT `, limit)
		if at.at != "" {
			b.write(` OFFSET 0 * `, at.at)
		}
	}
	b.write(`) r`)
	if searched > 1 {
		b.write(at.order(`r.rid`), ` LIMIT `, limit)
	}
	b.write(`) SELECT rid, version, type, id, NULL::integer, NULL::timestamptz, NULL::smallint, NULL::text, NULL::text FROM page UNION ALL `,
		versionsOf(`v.rid, v.version, NULL, NULL`, `ARRAY (SELECT rid FROM page)`, `ARRAY (SELECT version FROM page)`))
	return nil
}
