package postgres

import (
	"time"

	"github.com/jackc/pgx/v5/pgtype"

	"starling/internal/fhir"
)

// longDate says of a row of search_date that it is in the index search_date_long: in
// the words of that index, so that the planner sees it. All others are at most
// shortDate long.
const (
	longDate  = `CASE WHEN isfinite(low) AND isfinite(high) THEN high - low > interval '31 days' ELSE true END`
	shortDate = 31 * 24 * time.Hour
)

// dateSpan are bounds that dates which meet criteria keep; a zero one is none.
type dateSpan struct {
	lowFrom, highFrom   time.Time // low >= lowFrom, high >= highFrom
	lowBelow, highBelow time.Time
}

// spanOf gives the bounds of criteria that all are to be met.
func spanOf(criteria []fhir.Date) (s dateSpan) {
	for _, k := range criteria {
		from, to := k.Range.Low, k.Range.High
		switch k.Prefix {
		case fhir.PrefixEqual:
			s.begins(from)
			s.ends(to)
		case fhir.PrefixStartsAfter:
			s.begins(to)
		case fhir.PrefixEndsBefore:
			s.ends(from)
		case fhir.PrefixGreater:
			later(&s.highFrom, to)
		case fhir.PrefixGreaterOrEqual:
			later(&s.highFrom, from)
		case fhir.PrefixLess:
			earlier(&s.lowBelow, from)
		case fhir.PrefixLessOrEqual:
			earlier(&s.lowBelow, to)
		case fhir.PrefixApproximate:
			later(&s.highFrom, from)
			earlier(&s.lowBelow, to)
		}
	}
	return s
}

// begins and ends say that the whole interval is on one side of a time.
func (s *dateSpan) begins(at time.Time) {
	later(&s.lowFrom, at)
	later(&s.highFrom, at)
}

func (s *dateSpan) ends(at time.Time) {
	earlier(&s.lowBelow, at)
	earlier(&s.highBelow, at)
}

func later(bound *time.Time, at time.Time) {
	if !at.IsZero() && (bound.IsZero() || at.After(*bound)) {
		*bound = at
	}
}

func earlier(bound *time.Time, at time.Time) {
	if !at.IsZero() && (bound.IsZero() || at.Before(*bound)) {
		*bound = at
	}
}

// bounds are those of the end that a walk goes by, as conditions for its index.
func (s *dateSpan) bounds(b *sqlBuilder, descending bool) (text string) {
	from, below, column := s.lowFrom, s.lowBelow, `low`
	if descending {
		from, below, column = s.highFrom, s.highBelow, `high`
	}
	if !from.IsZero() {
		text += ` AND ` + column + ` >= ` + b.arg(bound(from, pgtype.NegativeInfinity))
	}
	if !below.IsZero() {
		text += ` AND ` + column + ` < ` + b.arg(bound(below, pgtype.Infinity))
	}
	return text
}

// far gives a condition on the end that a walk goes by which among the dates within
// the bounds only long ones meet; near is its contrary. ok is false where the walk
// has a bound where it begins, and passes over nothing.
func (s *dateSpan) far(b *sqlBuilder, descending bool) (far, near func() string, ok bool) {
	column, beyond, within, at := `low`, ` < `, ` >= `, s.highFrom.Add(-shortDate)
	ok = s.lowFrom.IsZero() && !s.highFrom.IsZero()
	if descending {
		column, beyond, within, at = `high`, ` >= `, ` < `, s.lowBelow.Add(shortDate)
		ok = s.highBelow.IsZero() && !s.lowBelow.IsZero()
	}
	end := func(operator string) func() string {
		return func() string { return column + operator + b.arg(bound(at, pgtype.Infinity)) }
	}
	return end(beyond), end(within), ok
}
