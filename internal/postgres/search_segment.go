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
	return compareValues(w.key.Kind, h.keys[w.segment], value) == 0
}

// write writes the walk of one type: over limit matches, and those equal to the
// last in the column walked; among the first rows alone if first is not 0.
func (w *segmentWalk) write(b *sqlBuilder, t fhir.ResourceType, limit, first int) error {
	value, column, table := w.source()
	b.write(`SELECT `, sortColumns, `, `, value, ` AS value FROM `)
	all := func() string { return w.span(b, t, column) }
	most := limit
	if first > 0 {
		most = first
	}
	span, rest := `true`, w.query.Criteria
	if first > 0 || inOrder(w.query) {
		rest = w.withoutDates()
	}
	switch {
	case (first > 0 || inOrder(w.query)) && w.writeDates(b, all, column, most):
	case first > 0:
		b.write(`(SELECT * FROM `, table, ` WHERE `, all(), w.sameDates(b))
		w.order(b, column, first)
		b.write(`) `, table[len(table)-1:])
	case w.segment == 0 && inOrder(w.query):
		// As a subquery it would be sorted as a whole, and not walked to the page's end.
		b.write(table)
		span = all() + w.sameDates(b) + w.behind(b, column)
	case w.large():
		// A long walk: what is no match is told from the sets of the criteria, read
		// once, and not looked up. CASE keeps the planner from making it a join.
		one, err := w.store.scan(b, t, w.query.Criteria, w.sizes)
		if err != nil {
			return err
		}
		row := table[len(table)-1:]
		b.write(`(SELECT * FROM `, table, ` WHERE `, all(), ` AND CASE WHEN `, row, `.rid IN (`, one.common(everywhere), `) THEN true END ORDER BY `, column, w.direction(), `) `, row)
	default:
		b.write(table)
		span = all()
	}
	if w.key != nil && w.key.Kind != fhir.SortID {
		condition := ``
		if w.key.Kind == fhir.SortUpdated {
			condition = ` AND r.version = w.version`
		}
		// OFFSET 0 keeps the planner from turning the walk and the look-up of the
		// current row round where it has no statistics.
		b.write(` CROSS JOIN LATERAL (SELECT * FROM resource r WHERE r.rid = w.rid`, condition, ` OFFSET 0) r`)
	}
	b.write(` WHERE `, span, ` AND `)
	for _, key := range w.query.Sort[:w.segment] {
		b.write(`NOT `, b.arg(w.store.hash.term(t, key.Param, termPresent)), ` = ANY (r.terms) AND `)
	}
	if err := w.store.tests(b, t, rest); err != nil {
		return err
	}
	w.order(b, column, limit)
	return nil
}

func (w *segmentWalk) order(b *sqlBuilder, column string, limit int) {
	b.write(` ORDER BY `, column, w.direction(), ` FETCH FIRST `, strconv.Itoa(limit), ` ROWS WITH TIES`)
}

func (w *segmentWalk) direction() string {
	if w.down {
		return ` DESC`
	}
	return ``
}

// source gives the column that is walked, also as a value to read, and the
// table.
func (w *segmentWalk) source() (value, column, table string) {
	if w.key == nil {
		return `r.rid`, `r.rid`, `resource r`
	}
	switch w.key.Kind {
	case fhir.SortID:
		return `r.id`, `r.id`, `resource r`
	case fhir.SortUpdated:
		return `w.updated`, `w.updated`, `version w`
	case fhir.SortNumber:
		return `w.low::text`, `w.low`, `search_number w`
	case fhir.SortString:
		return `w.value`, `w.value`, `search_string w`
	}
	column = `w.low`
	if w.key.Descending {
		column = `w.high`
	}
	return column, column, `search_date w`
}

// span is the part of the index that is walked, as a condition.
func (w *segmentWalk) span(b *sqlBuilder, t fhir.ResourceType, column string) string {
	text := `r.type = `
	switch {
	case w.key == nil || w.key.Kind == fhir.SortID:
		text += b.arg(w.store.types.number[t])
	case w.key.Kind == fhir.SortUpdated:
		text = `w.type = ` + b.arg(w.store.types.number[t])
	default:
		text = `w.param = ` + b.arg(w.store.hash.param(t, w.key.Param))
	}
	if !w.bound {
		return text
	}
	text += ` AND ` + column + w.operator()
	if w.key == nil {
		return text + b.arg(w.cursor.RID)
	}
	at := w.cursor.values[w.segment]
	switch {
	case isTime(w.key.Kind):
		return text + b.arg(timestamp(at.number))
	case w.key.Kind == fhir.SortNumber:
		return text + b.arg(at.text) + `::text::numeric`
	}
	return text + b.arg(at.text)
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
