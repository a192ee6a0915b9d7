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
	ranges   rangeSet    // for sorting
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

func (q *searching) page(ctx context.Context, from func(*scan, place) string) ([]hit, error) {
	var b sqlBuilder
	if err := q.unsortedSQL(&b, from); err != nil {
		return nil, err
	}
	rows, err := q.conn.Query(ctx, b.String(), b.args...)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	var hits []hit
	for rows.Next() {
		v := rows.RawValues()
		h := hit{rid: getInt8(v[0]), typ: getInt2(v[1]), id: string(v[2])}
		h.resource = resourceOf(fhir.Key{Type: q.store.types.name[h.typ], ID: h.id}, v[3:8])
		hits = append(hits, h)
	}
	return hits, rows.Err()
}

func (q *searching) unsortedSQL(b *sqlBuilder, from func(*scan, place) string) error {
	limit, at := b.arg(int64(q.wanted())), place{down: q.backward()}
	if q.cursor != nil {
		at.at = b.arg(q.cursor.RID)
	}
	b.write(`SELECT r.rid, r.type, r.id, v.version, v.updated, v.method, v.meta, v.body FROM (SELECT * FROM (`)
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
		b.write(`(SELECT r.rid, r.type, r.id, r.version`)
		column := from(one, at)
		b.write(at.order(column), ` LIMIT `, limit, `)`)
	}
	if searched == 0 {
		b.write(`SELECT rid, type, id, version FROM resource WHERE false LIMIT `, limit)
		if at.at != "" {
			b.write(` OFFSET 0 * `, at.at)
		}
	}
	b.write(`) r`)
	if searched > 1 {
		b.write(at.order(`r.rid`), ` LIMIT `, limit)
	}
	b.write(`) r CROSS JOIN LATERAL (SELECT * FROM version v WHERE v.rid = r.rid AND v.version = r.version OFFSET 0) v`, at.order(`r.rid`))
	return nil
}
