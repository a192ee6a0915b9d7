package postgres

import (
	"github.com/jackc/pgx/v5/pgtype"

	"starling/internal/fhir"
)

// Where the dates that are searched for are those sorted by, and a resource has
// one of them, a row of search_date tells by itself whether it is a match's: the
// others are passed over without a look at their resources.

// sameDates are the conditions of the criteria on the rows w of the walk.
func (w *segmentWalk) sameDates(b *sqlBuilder) (text string) {
	if w.segment > 0 {
		return ``
	}
	same := sameDates(w.query)
	for _, k := range same {
		text += ` AND ` + compareDate(k.Prefix, b, bound(k.Range.Low, pgtype.NegativeInfinity), bound(k.Range.High, pgtype.Infinity))
	}
	span := spanOf(same)
	return text + span.bounds(b, w.query.Sort[0].Descending)
}

// writeDates writes the first n rows of the walk and those equal to the last, as a
// table w. Where the walk begins far from what is searched for, the long intervals
// are taken from an index of their own, and it begins near by. ok is false, and
// nothing written, if it is no such walk.
func (w *segmentWalk) writeDates(b *sqlBuilder, span func() string, column string, n int) (ok bool) {
	if w.segment > 0 {
		return false
	}
	bounds := spanOf(sameDates(w.query))
	far, near, ok := bounds.far(b, w.query.Sort[0].Descending)
	if !ok {
		return false
	}
	for i, part := range []func() string{func() string { return longDate + ` AND ` + far() }, near} {
		b.write([]string{`((`, `) UNION ALL (`}[i], `SELECT w.rid, w.low, w.high FROM search_date w WHERE `, span(), ` AND `, part(), w.sameDates(b), w.behind(b, column))
		w.order(b, column, n)
	}
	b.write(`)) w`)
	return true
}

// behind leaves out the rows that equal the cursor's and were shown before it:
// many may, and a walk over them alone would have to be made again, longer.
func (w *segmentWalk) behind(b *sqlBuilder, column string) string {
	if !w.bound || len(w.query.Sort) > 1 {
		return ``
	}
	shown := ` <= `
	if w.backward() {
		shown = ` >= `
	}
	return ` AND NOT (` + column + ` = ` + b.arg(timestamp(w.cursor.values[w.segment].number)) + ` AND w.rid` + shown + b.arg(w.cursor.RID) + `)`
}

// sameDates are the criteria on the one date that is the first sort key.
func sameDates(query *fhir.SearchQuery) (same []fhir.Date) {
	if len(query.Sort) == 0 || len(query.Types) != 1 || query.Sort[0].Kind != fhir.SortDate || !query.Sort[0].Single {
		return nil
	}
	for _, criterion := range allOf(query.Criteria) {
		if k, ok := criterion.(fhir.Date); ok && k.Param == query.Sort[0].Param {
			same = append(same, k)
		}
	}
	return same
}

// allOf gives the parts of an And, or the criterion itself.
func allOf(criteria fhir.Criterion) []fhir.Criterion {
	if all, ok := criteria.(fhir.And); ok {
		return all
	}
	return []fhir.Criterion{criteria}
}

// withoutDates are the criteria that sameDates leaves to be tested.
func (w *segmentWalk) withoutDates() fhir.Criterion {
	if w.segment > 0 || len(sameDates(w.query)) == 0 {
		return w.query.Criteria
	}
	rest := fhir.And{}
	for _, criterion := range allOf(w.query.Criteria) {
		if k, ok := criterion.(fhir.Date); !ok || k.Param != w.query.Sort[0].Param {
			rest = append(rest, criterion)
		}
	}
	return rest
}

// inOrder reports whether all there is to a search is such dates, so that the
// walk of the sort key gives matches alone.
func inOrder(query *fhir.SearchQuery) bool {
	same := sameDates(query)
	return len(same) > 0 && len(same) == len(allOf(query.Criteria))
}
