package postgres

import (
	"context"
	"slices"

	"starling/internal/fhir"
)

// The sizes that decide how a sorted page is found.
const (
	// smallSet is the number of matches up to which all are read and sorted.
	smallSet = 2000
	// textSet is the same where a key has no index, so that resources have to
	// be read for it.
	textSet = 10_000
	// mostWalked is how many rows of an index a page may take.
	mostWalked = 20_000
)

// sorted finds matches in the order of the sort keys. A few are read and
// sorted; of many the index of the first key is walked. Neither needs an index
// by resource: the keys of a row found stand in resource.ranges.
func (q *searching) sorted(ctx context.Context) ([]hit, error) {
	limit := smallSet
	switch {
	case q.query.Sort[0].Kind == fhir.SortText:
		limit = textSet
	case q.query.Criteria == nil:
		return q.walk(ctx)
	case q.large() && inOrder(q.query):
		return q.walkSegment(ctx, 0, q.wanted())
	case q.large():
		// Among many a page is mostly full soon.
		hits, full, err := q.beginning(ctx)
		if err != nil || full {
			return hits, err
		}
	}
	hits, err := q.all(ctx, limit+1)
	switch {
	case err != nil:
		return nil, err
	case len(hits) <= limit:
		return q.ranked(ctx, hits)
	case q.query.Sort[0].Kind == fhir.SortText:
		return nil, tooCostly("More than 10,000 resources match, too many to sort by '" + q.query.Sort[0].Param +
			"', which has no index to sort by; narrow the search.")
	}
	return q.walk(ctx)
}

// sortColumns are what hits are made of.
const sortColumns = `r.rid, r.type, r.id, r.version, r.updated, r.ranges`

func (q *searching) hitOf(v [][]byte) (h hit, err error) {
	h = hit{rid: getInt8(v[0]), typ: getInt2(v[1]), id: string(v[2]), version: getInt4(v[3]), updated: getInt8(v[4])}
	return h, q.keyed(&h, v[5])
}

// all finds matches, at most limit, in no order.
func (q *searching) all(ctx context.Context, limit int) ([]hit, error) {
	var b sqlBuilder
	between := ``
	for _, t := range q.query.Types {
		one, err := q.store.scan(&b, t, q.query.Criteria, q.sizes)
		switch {
		case err != nil:
			return nil, err
		case one.never:
			continue
		}
		b.write(between, `(SELECT `, sortColumns)
		one.from(everywhere, ``)
		b.write(`)`)
		between = ` UNION ALL `
	}
	if between == `` {
		return nil, nil
	}
	b.write(` LIMIT `, b.arg(int64(limit)))
	rows, err := b.query(ctx, q.conn)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	var hits []hit
	for rows.Next() {
		h, err := q.hitOf(rows.RawValues())
		if err != nil {
			return nil, err
		}
		hits = append(hits, h)
	}
	return hits, rows.Err()
}

// ranked sorts hits and gives the first of them behind the cursor, in the
// direction of the walk.
func (q *searching) ranked(ctx context.Context, hits []hit) ([]hit, error) {
	if slices.ContainsFunc(q.query.Sort, func(key fhir.SortKey) bool { return key.Kind == fhir.SortText }) {
		if len(hits) > textSet {
			return nil, tooCostly("Too many resources are equal in the first keys to sort them by the others; narrow the search.")
		}
		if err := q.load(ctx, hits); err != nil {
			return nil, err
		}
		for i := range hits {
			for k := range q.query.Sort {
				if key := &q.query.Sort[k]; key.Kind == fhir.SortText {
					hits[i].keys[k] = keyedByText(key, &hits[i])
				}
			}
		}
	}
	hits = slices.DeleteFunc(hits, func(h hit) bool { return q.found[h.rid] || !q.follows(&h) })
	slices.SortFunc(hits, func(a, b hit) int { return q.compare(&a, &b) })
	return hits[:min(len(hits), q.wanted())], nil
}

// compare is comparePositions in the direction of the walk.
func (q *searching) compare(a, b *hit) int {
	if q.backward() {
		a, b = b, a
	}
	return comparePositions(q.query.Sort, a, b)
}

// follows reports whether a hit comes behind the cursor.
func (q *searching) follows(h *hit) bool {
	return q.cursor == nil || q.compare(h, &hit{rid: q.cursor.RID, keys: q.cursor.values}) > 0
}
