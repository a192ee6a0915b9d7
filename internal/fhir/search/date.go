package search

import (
	"time"

	"starling/internal/fhir"
	"starling/internal/fhir/element"
)

// https://hl7.org/fhir/R4/search.html#date
var dateReaders = map[string]reader{
	"date":     readDate,
	"dateTime": readDate,
	"instant":  readDate,
	"Period":   readPeriod,
	"Timing":   readTiming,
}

// span is a closed interval; a zero end is open.
type span struct{ low, high time.Time }

func readDate(x *extraction, t *take, n element.Node) {
	if s, ok := dateSpan(n); ok {
		x.date(t.param, s)
	}
}

func readPeriod(x *extraction, t *take, n element.Node) {
	if s, ok := periodSpan(n); ok {
		x.date(t.param, s)
	}
}

// readTiming takes the outer limits of a schedule: its events and the period
// that bounds it. What happens between is ignored, as the specification says.
func readTiming(x *extraction, t *take, n element.Node) {
	limits, some := periodSpan(n.Get("repeat").Get("boundsPeriod"))
	for event := range n.Get("event").Children() {
		s, ok := dateSpan(event)
		if !ok {
			continue
		}
		if !some {
			limits, some = s, true
			continue
		}
		if !limits.low.IsZero() && s.low.Before(limits.low) {
			limits.low = s.low
		}
		if !limits.high.IsZero() && s.high.After(limits.high) {
			limits.high = s.high
		}
	}
	if some {
		x.date(t.param, limits)
	}
}

func (x *extraction) date(param string, s span) {
	x.dates.add(fhir.DateValue{Param: param, Low: s.low, High: s.high})
}

func dateSpan(n element.Node) (span, bool) {
	low, next, ok := parseDate(n.Str())
	return span{low, next.Add(-resolution)}, ok
}

// periodSpan reads a Period; one without either end, or with an end that is no
// date, is none. Ends in the wrong order, which zones left out can make of a
// good one, are exchanged.
func periodSpan(n element.Node) (s span, ok bool) {
	start, end := n.Get("start"), n.Get("end")
	if start.Exists() {
		first, ok := dateSpan(start)
		if !ok {
			return s, false
		}
		s.low = first.low
	}
	if end.Exists() {
		last, ok := dateSpan(end)
		if !ok {
			return s, false
		}
		s.high = last.high
	}
	if start.Exists() && end.Exists() && s.high.Before(s.low) {
		s.low, s.high = s.high, s.low
	}
	return s, start.Exists() || end.Exists()
}

// prefixes are the comparison prefixes
// (https://hl7.org/fhir/R4/search.html#prefix).
var prefixes = map[string]fhir.Prefix{
	"eq": fhir.PrefixEqual, "ne": fhir.PrefixNotEqual, "gt": fhir.PrefixGreater, "lt": fhir.PrefixLess,
	"ge": fhir.PrefixGreaterOrEqual, "le": fhir.PrefixLessOrEqual, "sa": fhir.PrefixStartsAfter,
	"eb": fhir.PrefixEndsBefore, "ap": fhir.PrefixApproximate,
}

// cutPrefix takes the prefix off a value; without one it is eq.
func cutPrefix(value string) (fhir.Prefix, string) {
	if len(value) > 2 {
		if prefix, ok := prefixes[value[:2]]; ok {
			return prefix, value[2:]
		}
	}
	return fhir.PrefixEqual, value
}

// dateValue reads a prefix and a date. ap widens it by a tenth of its distance
// from now on either side.
func (p *planning) dateValue(q *queryParameter, value string) (fhir.Prefix, fhir.TimeRange, error) {
	prefix, text := cutPrefix(unescape(value))
	low, next, ok := parseDate(text)
	if !ok {
		return prefix, fhir.TimeRange{}, q.badValue(value, "a date such as 2012, 2012-05, 2012-05-31 or 2012-05-31T10:00:00Z, with a prefix or without,")
	}
	if prefix == fhir.PrefixApproximate {
		margin := p.search.now().Sub(low).Abs() / 10
		low, next = low.Add(-margin), next.Add(margin)
	}
	return prefix, fhir.TimeRange{Low: low, High: next}, nil
}

// planDate reads a date with a prefix
// (https://hl7.org/fhir/R4/search.html#date).
func planDate(p *planning, t *term, value string) (fhir.Criterion, error) {
	prefix, wanted, err := p.dateValue(t.queryParameter, value)
	if err != nil {
		return nil, err
	}
	if p.operator == "po" { // an overlap, with nothing widened
		prefix = fhir.PrefixApproximate
	}
	return fhir.Date{Param: t.code, Prefix: prefix, Range: wanted}, nil
}
