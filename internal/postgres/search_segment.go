package postgres

import (
	"math"
	"strconv"

	"github.com/jackc/pgx/v5/pgtype"

	"starling/internal/fhir"
)

// segmentWalk is the walk of the index of one key, or of the type where no key
// has a value.
type segmentWalk struct {
	*searching
	segment int
	key     *fhir.SortKey // nil for the last segment
	// down says the index is walked from its end.
	down bool
	// bound says the walk begins at the cursor.
	bound bool
}

func (q *searching) segmentWalk(segment int) *segmentWalk {
	w := &segmentWalk{searching: q, segment: segment, down: q.backward()}
	if segment < len(q.query.Sort) {
		w.key = &q.query.Sort[segment]
		w.down = w.key.Descending != w.down
	}
	w.bound = q.cursor != nil && q.segmentOf(q.cursor.values) == segment
	return w
}

// compare orders values in the direction of the walk.
func (w *segmentWalk) compare(a, b sortValue) int {
	c := 0
	if w.key == nil || isTime(w.key.Kind) {
		c = compareValues(fhir.SortUpdated, a, b)
	} else {
		c = compareValues(w.key.Kind, a, b)
	}
	if w.down {
		return -c
	}
	return c
}

// valueOf reads the column value.
func (w *segmentWalk) valueOf(raw []byte) sortValue {
	if w.key == nil || isTime(w.key.Kind) {
		return timeValue(getInt8(raw))
	}
	return textValue(string(raw))
}

// isBest reports whether a row holds the value its resource is sorted by.
func (w *segmentWalk) isBest(h *hit, value sortValue) bool {
	if w.key == nil || always(w.key.Kind) {
		return true
	}
	return compareValues(w.key.Kind, w.value(w.key, h), value) == 0
}

// write writes the walk of one type.
func (w *segmentWalk) write(b *sqlBuilder, t fhir.ResourceType, limit int) error {
	value, column, from := w.source()
	b.write(`SELECT `, sortColumns, `, `, value, ` AS value FROM `, from, ` WHERE `)
	if w.key != nil {
		b.write(w.span(b, t, column))
	} else if w.bound {
		b.write(column, w.operator(), b.arg(w.cursor.RID), ` AND `)
	}
	for _, key := range w.query.Sort[:w.segment] {
		b.write(`NOT `, b.arg(w.store.hash.term(t, key.Param, termPresent)), ` = ANY (r.terms) AND `)
	}
	if err := w.store.tests(b, t, w.query.Criteria); err != nil {
		return err
	}
	order := ``
	if w.down {
		order = ` DESC`
	}
	b.write(` ORDER BY `, column, order, ` FETCH FIRST `, strconv.Itoa(limit), ` ROWS WITH TIES`)
	return nil
}

// source gives the column that is walked, also as a value to read, and the
// tables.
func (w *segmentWalk) source() (value, column, from string) {
	if w.key == nil {
		return `r.rid`, `r.rid`, `resource r`
	}
	switch w.key.Kind {
	case fhir.SortID:
		return `r.id`, `r.id`, `resource r`
	case fhir.SortUpdated:
		return `w.updated`, `w.updated`, `version w` + current(` AND r.version = w.version`)
	case fhir.SortNumber:
		return `w.low::text`, `w.low`, `search_number w` + current(``)
	case fhir.SortString:
		return `w.value`, `w.value`, `search_string w` + current(``)
	}
	column = `w.low`
	if w.key.Descending {
		column = `w.high`
	}
	return column, column, `search_date w` + current(``)
}

// current looks the current row up for each row of the walk w: OFFSET 0 keeps
// the planner from turning that round where it has no statistics.
func current(condition string) string {
	return ` CROSS JOIN LATERAL (SELECT * FROM resource r WHERE r.rid = w.rid` + condition + ` OFFSET 0) r`
}

// span is the part of the index that is walked.
func (w *segmentWalk) span(b *sqlBuilder, t fhir.ResourceType, column string) string {
	text := ``
	switch w.key.Kind {
	case fhir.SortID:
	case fhir.SortUpdated:
		text = `w.type = ` + b.arg(w.store.types.number[t]) + ` AND `
	default:
		text = `w.param = ` + b.arg(w.store.hash.param(t, w.key.Param)) + ` AND `
	}
	if !w.bound {
		return text
	}
	at := w.cursor.values[w.segment]
	text += column + w.operator()
	switch {
	case isTime(w.key.Kind):
		text += b.arg(timestamp(at.number))
	case w.key.Kind == fhir.SortNumber:
		text += b.arg(at.text) + `::text::numeric`
	default:
		text += b.arg(at.text)
	}
	return text + ` AND `
}

func (w *segmentWalk) operator() string {
	if w.down {
		return ` <= `
	}
	return ` >= `
}

// timestamp gives a time in PostgreSQL's own count, whose ends are infinite.
func timestamp(micros int64) pgtype.Timestamptz {
	switch micros {
	case math.MinInt64:
		return pgtype.Timestamptz{InfinityModifier: pgtype.NegativeInfinity, Valid: true}
	case math.MaxInt64:
		return pgtype.Timestamptz{InfinityModifier: pgtype.Infinity, Valid: true}
	}
	return pgtype.Timestamptz{Time: timeOf(micros), Valid: true}
}
