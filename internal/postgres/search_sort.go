package postgres

import (
	"cmp"
	"errors"
	"strconv"
	"strings"

	"starling/internal/fhir"
)

// sortValue is the value of a sort key: a number for times (microseconds since
// 2000), else text.
type sortValue struct {
	present bool
	number  int64
	text    string
}

func textValue(s string) sortValue   { return sortValue{present: true, text: s} }
func timeValue(n int64) sortValue    { return sortValue{present: true, number: n} }
func isTime(kind fhir.SortKind) bool { return kind == fhir.SortDate || kind == fhir.SortUpdated }

// always reports whether all resources have a value for that kind of key.
func always(kind fhir.SortKind) bool { return kind == fhir.SortID || kind == fhir.SortUpdated }

// textsOf and valuesOf are the form of values in a cursor and its inverse.
func textsOf(sort []fhir.SortKey, values []sortValue) []*string {
	texts := make([]*string, len(values))
	for i, v := range values {
		if !v.present {
			continue
		}
		if isTime(sort[i].Kind) {
			v.text = strconv.FormatInt(v.number, 10)
		}
		texts[i] = &v.text
	}
	return texts
}

var errCursorKeys = errors.New("postgres: a cursor does not fit the order of its search")

func valuesOf(sort []fhir.SortKey, texts []*string) ([]sortValue, error) {
	if len(texts) != len(sort) {
		return nil, errCursorKeys
	}
	values := make([]sortValue, len(texts))
	for i, text := range texts {
		if text == nil {
			continue
		}
		values[i] = textValue(*text)
		if isTime(sort[i].Kind) {
			n, err := strconv.ParseInt(*text, 10, 64)
			if err != nil {
				return nil, err
			}
			values[i] = timeValue(n)
		}
	}
	return values, nil
}

// compareValues orders two values of a key that are there, ascending.
func compareValues(kind fhir.SortKind, a, b sortValue) int {
	switch {
	case isTime(kind):
		return cmp.Compare(a.number, b.number)
	case kind == fhir.SortNumber:
		return compareDecimals(a.text, b.text)
	}
	return strings.Compare(a.text, b.text)
}

// comparePositions is the order of the matches: by the keys, missing values
// last, then by internal id.
func comparePositions(sort []fhir.SortKey, a, b *hit) int {
	for i := range sort {
		x, y := a.keys[i], b.keys[i]
		switch {
		case !x.present && !y.present:
			continue
		case !x.present:
			return 1
		case !y.present:
			return -1
		}
		if c := compareValues(sort[i].Kind, x, y); c != 0 {
			if sort[i].Descending {
				return -c
			}
			return c
		}
	}
	return cmp.Compare(a.rid, b.rid)
}

// keyed computes the keys of a hit whose ranges these are; those of SortText are left
// for when its resource is read.
func (q *searching) keyed(h *hit, ranges []byte) (err error) {
	h.keys = make([]sortValue, len(q.query.Sort))
	for i := range q.query.Sort {
		key := &q.query.Sort[i]
		best := &h.keys[i]
		better := func(v sortValue) {
			if best.present {
				if c := compareValues(key.Kind, v, *best); c > 0 != key.Descending || c == 0 {
					return
				}
			}
			*best = v
		}
		var date func(low, high int64)
		var number, text func(value []byte)
		switch key.Kind {
		case fhir.SortID:
			*best = textValue(h.id)
			continue
		case fhir.SortUpdated:
			*best = timeValue(h.updated)
			continue
		case fhir.SortText:
			continue
		case fhir.SortDate:
			date = func(low, high int64) {
				if key.Descending {
					low = high
				}
				better(timeValue(low))
			}
		case fhir.SortNumber:
			number = func(value []byte) { better(textValue(string(value))) }
		case fhir.SortString:
			text = func(value []byte) { better(textValue(string(value))) }
		}
		param := q.store.hash.param(q.store.types.name[h.typ], key.Param)
		if err := scanRanges(ranges, param, date, number, text); err != nil {
			return err
		}
	}
	return nil
}

// keyedByText computes a key of SortText.
func keyedByText(key *fhir.SortKey, h *hit) sortValue {
	least, greatest, ok := key.Text(h.resource)
	switch {
	case !ok:
		return sortValue{}
	case key.Descending:
		return textValue(firstCharacters(greatest, maxText))
	}
	return textValue(firstCharacters(least, maxText))
}
