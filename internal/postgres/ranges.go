package postgres

import (
	"cmp"
	"encoding/binary"
	"errors"
	"math"
	"slices"
	"time"
)

// rangeSet holds the rows of a resource in search_date, search_number and
// search_string.
type rangeSet struct {
	dates   []dateRow
	numbers []numberRow
	texts   []textRow
}

// dateRow is an interval in microseconds since 2000; the extreme values of
// int64 are PostgreSQL's own encoding of -infinity and infinity.
type dateRow struct{ param, low, high int64 }

// numberRow has decimals as text.
type numberRow struct {
	param, unit, code, text int64
	low, high               string
}

type textRow struct {
	param int64
	value string
}

func lowMicros(t time.Time) int64 {
	if t.IsZero() {
		return math.MinInt64
	}
	return microsOf(t)
}

func highMicros(t time.Time) int64 {
	if t.IsZero() {
		return math.MaxInt64
	}
	return microsOf(t)
}

func compareDates(a, b dateRow) int {
	return cmp.Or(cmp.Compare(a.param, b.param), cmp.Compare(a.low, b.low), cmp.Compare(a.high, b.high))
}

func compareNumbers(a, b numberRow) int {
	return cmp.Or(cmp.Compare(a.param, b.param), cmp.Compare(a.low, b.low), cmp.Compare(a.high, b.high),
		cmp.Compare(a.unit, b.unit), cmp.Compare(a.code, b.code), cmp.Compare(a.text, b.text))
}

func compareTexts(a, b textRow) int {
	return cmp.Or(cmp.Compare(a.param, b.param), cmp.Compare(a.value, b.value))
}

// normalize sorts the rows and removes duplicates.
func (r *rangeSet) normalize() {
	slices.SortFunc(r.dates, compareDates)
	r.dates = slices.Compact(r.dates)
	slices.SortFunc(r.numbers, compareNumbers)
	r.numbers = slices.Compact(r.numbers)
	slices.SortFunc(r.texts, compareTexts)
	r.texts = slices.Compact(r.texts)
}

// encode gives the form kept in resource.ranges: three lists, each a count and
// its rows.
func (r *rangeSet) encode() []byte {
	if len(r.dates)+len(r.numbers)+len(r.texts) == 0 {
		return []byte{}
	}
	b := binary.AppendUvarint(nil, uint64(len(r.dates)))
	for _, d := range r.dates {
		b = appendInts(b, d.param, d.low, d.high)
	}
	b = binary.AppendUvarint(b, uint64(len(r.numbers)))
	for _, n := range r.numbers {
		b = appendInts(b, n.param, n.unit, n.code, n.text)
		b = appendPart(appendPart(b, n.low), n.high)
	}
	b = binary.AppendUvarint(b, uint64(len(r.texts)))
	for _, t := range r.texts {
		b = appendPart(appendInts(b, t.param), t.value)
	}
	return b
}

func appendInts(b []byte, values ...int64) []byte {
	for _, v := range values {
		b = binary.BigEndian.AppendUint64(b, uint64(v))
	}
	return b
}

var errRanges = errors.New("postgres: resource.ranges is damaged")

// decodeRanges is the inverse of encode.
func decodeRanges(b []byte) (r rangeSet, err error) {
	if len(b) == 0 {
		return r, nil
	}
	d := rangeDecoder{b: b}
	for range d.count() {
		r.dates = append(r.dates, dateRow{d.int(), d.int(), d.int()})
	}
	for range d.count() {
		r.numbers = append(r.numbers, numberRow{d.int(), d.int(), d.int(), d.int(), string(d.part()), string(d.part())})
	}
	for range d.count() {
		r.texts = append(r.texts, textRow{d.int(), string(d.part())})
	}
	if d.failed || len(d.b) > 0 {
		return rangeSet{}, errRanges
	}
	return r, nil
}

// scanRanges gives the rows of one parameter of an encoded set, as far as one of the
// functions wants them: what a search sorts by, of very many resources.
func scanRanges(b []byte, param int64, date func(low, high int64), number, text func(value []byte)) error {
	if len(b) == 0 {
		return nil
	}
	d := rangeDecoder{b: b}
	for range d.count() {
		if of, low, high := d.int(), d.int(), d.int(); of == param && date != nil && !d.failed {
			date(low, high)
		}
	}
	if number != nil || text != nil {
		for range d.count() {
			of, _, _, _ := d.int(), d.int(), d.int(), d.int()
			if low, _ := d.part(), d.part(); of == param && number != nil && !d.failed {
				number(low)
			}
		}
	}
	if text != nil {
		for range d.count() {
			if of, value := d.int(), d.part(); of == param && !d.failed {
				text(value)
			}
		}
	}
	if d.failed {
		return errRanges
	}
	return nil
}

type rangeDecoder struct {
	b      []byte
	failed bool
}

// count is bounded by the bytes left, so that damage cannot ask for more.
func (d *rangeDecoder) count() int {
	n, size := binary.Uvarint(d.b)
	if d.failed || size <= 0 || n > uint64(len(d.b)) {
		d.failed = true
		return 0
	}
	d.b = d.b[size:]
	return int(n)
}

func (d *rangeDecoder) int() int64 {
	if d.failed || len(d.b) < 8 {
		d.failed = true
		return 0
	}
	v := int64(binary.BigEndian.Uint64(d.b))
	d.b = d.b[8:]
	return v
}

// part gives a text where it stands.
func (d *rangeDecoder) part() []byte {
	n := d.count()
	if d.failed || n > len(d.b) {
		d.failed = true
		return nil
	}
	part := d.b[:n]
	d.b = d.b[n:]
	return part
}

// diffRows gives the rows of old that are not in now, and the reverse; both
// are sorted by compare.
func diffRows[T any](old, now []T, compare func(a, b T) int) (removed, added []T) {
	i, j := 0, 0
	for i < len(old) && j < len(now) {
		switch c := compare(old[i], now[j]); {
		case c < 0:
			removed = append(removed, old[i])
			i++
		case c > 0:
			added = append(added, now[j])
			j++
		default:
			i, j = i+1, j+1
		}
	}
	return append(removed, old[i:]...), append(added, now[j:]...)
}
