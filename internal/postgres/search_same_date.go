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
	for _, k := range sameDates(w.query) {
		text += ` AND ` + compareDate(k.Prefix, b, bound(k.Range.Low, pgtype.NegativeInfinity), bound(k.Range.High, pgtype.Infinity))
	}
	return text
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

// inOrder reports whether all there is to a search is such dates, so that the
// walk of the sort key gives matches alone.
func inOrder(query *fhir.SearchQuery) bool {
	same := sameDates(query)
	return len(same) > 0 && len(same) == len(allOf(query.Criteria))
}
