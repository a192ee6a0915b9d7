package postgres

import (
	"context"

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
	var b sqlBuilder
	if err := q.unsortedSQL(&b); err != nil {
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

func (q *searching) unsortedSQL(b *sqlBuilder) error {
	limit, at := b.arg(int64(q.wanted())), place{down: q.backward()}
	if q.cursor != nil {
		at.at = b.arg(q.cursor.RID)
	}
	b.write(`SELECT r.rid, r.type, r.id, v.version, v.updated, v.method, v.meta, v.body FROM (SELECT * FROM (`)
	for i, t := range q.query.Types {
		if i > 0 {
			b.write(` UNION ALL `)
		}
		b.write(`(SELECT r.rid, r.type, r.id, r.version`)
		column, err := q.store.from(b, t, q.query.Criteria, at)
		if err != nil {
			return err
		}
		b.write(at.order(column), ` LIMIT `, limit, `)`)
	}
	b.write(`) r`)
	if len(q.query.Types) > 1 {
		b.write(at.order(`r.rid`), ` LIMIT `, limit)
	}
	b.write(`) r JOIN version v ON v.rid = r.rid AND v.version = r.version`, at.order(`r.rid`))
	return nil
}
