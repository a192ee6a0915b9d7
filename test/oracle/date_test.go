package oracle

import (
	"strings"
	"time"

	"starling/internal/fhir/element"
	"starling/internal/fhir/fhirpath"
)

// span is a time from low on, up to next and without it.
type span struct{ low, next time.Time }

// Open ends.
var (
	dawn = time.Date(-9000, 1, 1, 0, 0, 0, 0, time.UTC)
	dusk = time.Date(19000, 1, 1, 0, 0, 0, 0, time.UTC)
)

// forms are those a date has, and how long what each stands for lasts.
var forms = []struct {
	layout string
	next   func(time.Time) time.Time
}{
	{"2006", func(t time.Time) time.Time { return t.AddDate(1, 0, 0) }},
	{"2006-01", func(t time.Time) time.Time { return t.AddDate(0, 1, 0) }},
	{"2006-01-02", func(t time.Time) time.Time { return t.AddDate(0, 0, 1) }},
	{"2006-01-02T15:04Z07:00", func(t time.Time) time.Time { return t.Add(time.Minute) }},
	{"2006-01-02T15:04", func(t time.Time) time.Time { return t.Add(time.Minute) }},
	{"2006-01-02T15:04:05Z07:00", func(t time.Time) time.Time { return t.Add(time.Second) }},
	{"2006-01-02T15:04:05", func(t time.Time) time.Time { return t.Add(time.Second) }},
	{"2006-01-02T15:04:05.0Z07:00", func(t time.Time) time.Time { return t.Add(time.Second / 10) }},
	{"2006-01-02T15:04:05.000Z07:00", func(t time.Time) time.Time { return t.Add(time.Millisecond) }},
}

func readSpan(text string) (s span, ok bool) {
	for _, form := range forms {
		if strings.Contains(text, ".") != strings.Contains(form.layout, ".") {
			continue // Go reads a fraction that the layout has not
		}
		if t, err := time.Parse(form.layout, text); err == nil {
			return span{t, form.next(t)}, true
		}
	}
	return s, false
}

func spanOf(item fhirpath.Item) (s span, ok bool) {
	n := item.Node()
	switch item.Type() {
	case "date", "dateTime", "instant":
		return readSpan(n.Str())
	case "Period":
		return period(n)
	case "Timing":
		s, ok = period(n.Get("repeat").Get("boundsPeriod"))
		for event := range n.Get("event").Children() {
			one, is := readSpan(event.Str())
			switch {
			case !is:
			case !ok:
				s, ok = one, true
			default:
				if one.low.Before(s.low) {
					s.low = one.low
				}
				if one.next.After(s.next) {
					s.next = one.next
				}
			}
		}
		return s, ok
	}
	return s, false
}

func period(n element.Node) (s span, ok bool) {
	s = span{dawn, dusk}
	start, end := n.Get("start"), n.Get("end")
	first, starts := readSpan(start.Str())
	last, ends := readSpan(end.Str())
	if !start.Exists() && !end.Exists() || start.Exists() && !starts || end.Exists() && !ends {
		return s, false
	}
	if starts {
		s.low = first.low
	}
	if ends {
		s.next = last.next
	}
	if starts && ends && !s.next.After(s.low) { // ends in the wrong order
		s = span{last.next.Add(-time.Microsecond), first.low.Add(time.Microsecond)}
	}
	return s, true
}

func (s span) against(prefix string, wanted span) bool {
	within := !s.low.Before(wanted.low) && !s.next.After(wanted.next)
	after, before := s.next.After(wanted.next), s.low.Before(wanted.low)
	switch prefix {
	case "eq":
		return within
	case "ne":
		return !within
	case "gt":
		return after
	case "lt":
		return before
	case "ge":
		return after || within
	case "le":
		return before || within
	case "sa":
		return !s.low.Before(wanted.next)
	case "eb":
		return !s.next.After(wanted.low)
	case "ap", "po":
		return s.low.Before(wanted.next) && s.next.After(wanted.low)
	}
	panic(prefix)
}

// askSpan compares with a date of a search. What ap says may hang on how late the
// server asks.
func (w *world) askSpan(has span, value string, updated bool) (bool, error) {
	prefix, text := prefixOf(unescaped(value))
	if strings.HasPrefix(value, "po") {
		prefix, text = "po", value[2:]
	}
	wanted, ok := readSpan(text)
	if !ok {
		return false, errRefused
	}
	if prefix != "ap" {
		return has.against(prefix, wanted), nil
	}
	if updated {
		prefix = "eq"
	}
	var answers [2]bool
	for i, now := range []time.Time{w.now(), w.now().Add(10 * time.Minute)} {
		margin := now.Sub(wanted.low).Abs() / 10
		answers[i] = has.against(prefix, span{wanted.low.Add(-margin), wanted.next.Add(margin)})
	}
	if answers[0] != answers[1] {
		return false, errUnsure
	}
	return answers[0], nil
}

func (w *world) askDate(item fhirpath.Item, value string) (bool, error) {
	has, ok := spanOf(item)
	if !ok {
		return false, nil
	}
	return w.askSpan(has, value, false)
}

func (w *world) askUpdated(r *resource, value string) (bool, error) {
	updated := r.outer().updated // one that is contained has no other
	return w.askSpan(span{updated, updated.Add(time.Microsecond)}, value, true)
}
