package postgres

import (
	"context"
	"slices"

	"starling/internal/fhir"
)

// walk finds the next matches by walking indexes. The order has a segment for
// each key: of the resources that have no value for the keys before it, those
// that have one for it, and at the end those that have none at all. Each is an
// index's, and a statement's: a resource that loses its value between two of them
// is found by both, and belongs where it was found first.
func (q *searching) walk(ctx context.Context) ([]hit, error) {
	last := len(q.query.Sort)
	if i := slices.IndexFunc(q.query.Sort, func(key fhir.SortKey) bool { return always(key.Kind) }); i >= 0 {
		last = i
	}
	segment, step := 0, 1
	if q.backward() {
		segment, step = last, -1
	}
	if q.cursor != nil {
		segment = q.segmentOf(q.cursor.values)
	}
	var hits []hit
	for ; segment >= 0 && segment <= last; segment += step {
		found, err := q.walkSegment(ctx, segment, q.wanted()-len(hits))
		if err != nil {
			return nil, err
		}
		if hits = append(hits, found...); len(hits) >= q.wanted() {
			break // mostly in the first
		}
		if q.found == nil {
			q.found = map[int64]bool{}
		}
		for i := range found {
			q.found[found[i].rid] = true
		}
	}
	return hits, nil
}

// segmentOf gives the segment that values belong to.
func (q *searching) segmentOf(values []sortValue) int {
	for i, v := range values {
		if v.present {
			return i
		}
	}
	return len(values)
}

// walkSegment walks until it has wanted matches. Rows that are not a match's
// best value, and ties, may make a longer walk necessary.
func (q *searching) walkSegment(ctx context.Context, segment, wanted int) ([]hit, error) {
	if segment < len(q.query.Sort) && q.query.Sort[segment].Kind == fhir.SortText {
		return q.unindexed(ctx, segment)
	}
	for limit := wanted; ; limit = min(4*limit, mostWalked) {
		hits, all, err := q.walkRows(ctx, segment, limit, 0)
		if err != nil {
			return nil, err
		}
		if hits, err = q.ranked(ctx, hits); err != nil {
			return nil, err
		}
		if all || len(hits) >= wanted {
			return hits[:min(len(hits), wanted)], nil
		}
		if limit == mostWalked {
			return nil, tooCostly("Too many resources are equal in what the search sorts by; narrow the search.")
		}
	}
}

// beginning finds the page among the first rows of the index of the segment
// where it begins; full says that it is all there.
func (q *searching) beginning(ctx context.Context) (hits []hit, full bool, err error) {
	segment := 0
	if q.cursor != nil {
		segment = q.segmentOf(q.cursor.values)
	}
	if segment >= len(q.query.Sort) || q.query.Sort[segment].Kind == fhir.SortText {
		return nil, false, nil
	}
	hits, all, err := q.walkRows(ctx, segment, q.wanted(), few)
	if err != nil || all {
		return nil, false, err // all that the first rows have, no more
	}
	hits, err = q.ranked(ctx, hits)
	return hits, err == nil && len(hits) >= q.wanted(), err
}

// walkRows walks each type's index over limit rows of matches and the rows equal
// to the last, or over its first rows if first is not 0. It gives the hits up to
// where all walks have come; all says that none was cut off at the limit.
func (q *searching) walkRows(ctx context.Context, segment, limit, first int) (hits []hit, all bool, err error) {
	var b sqlBuilder
	w := q.segmentWalk(segment)
	for i, t := range q.query.Types {
		if i > 0 {
			b.write(` UNION ALL `)
		}
		b.write(`(`)
		if err := w.write(&b, t, limit, first); err != nil {
			return nil, false, err
		}
		b.write(`)`)
	}
	rows, err := b.query(ctx, q.conn)
	if err != nil {
		return nil, false, err
	}
	defer rows.Close()
	read, furthest := map[int16]int{}, map[int16]sortValue{}
	var values []sortValue
	for rows.Next() {
		v := rows.RawValues()
		h, err := q.hitOf(v)
		if err != nil {
			return nil, false, err
		}
		value := w.valueOf(v[6])
		read[h.typ]++
		if read[h.typ] == 1 || w.compare(value, furthest[h.typ]) > 0 {
			furthest[h.typ] = value
		}
		hits, values = append(hits, h), append(values, value)
	}
	if err := rows.Err(); err != nil {
		return nil, false, err
	}
	all = true
	var horizon sortValue
	for typ, n := range read {
		if n >= limit {
			if all || w.compare(furthest[typ], horizon) < 0 {
				horizon = furthest[typ]
			}
			all = false
		}
	}
	kept, seen := hits[:0], map[int64]bool{}
	for i := range hits {
		// Rows of equal value may differ in what is not sorted by.
		if (all || w.compare(values[i], horizon) <= 0) && !seen[hits[i].rid] && w.isBest(&hits[i], values[i]) {
			seen[hits[i].rid] = true
			kept = append(kept, hits[i])
		}
	}
	return kept, all, nil
}

// unindexed reads all matches of a segment whose key has no index.
func (q *searching) unindexed(ctx context.Context, segment int) ([]hit, error) {
	narrower := *q.query
	missing := fhir.And{}
	if q.query.Criteria != nil {
		missing = append(missing, q.query.Criteria)
	}
	for _, key := range q.query.Sort[:segment] {
		missing = append(missing, fhir.Missing{Param: key.Param, Missing: true})
	}
	missing = append(missing, fhir.Missing{Param: q.query.Sort[segment].Param})
	narrower.Criteria = missing
	hits, err := (&searching{store: q.store, conn: q.conn, query: &narrower}).all(ctx, textSet+1)
	if err != nil {
		return nil, err
	}
	return q.ranked(ctx, hits)
}
