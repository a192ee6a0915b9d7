package search

import (
	"time"
)

// resolution is the finest time that is told apart; the closed interval a
// value stands for ends this much before the next value begins.
const resolution = time.Microsecond

// parseDate gives the half-open interval that a date, dateTime or instant
// stands for: a year, month, day, minute, second or fraction of one
// (https://hl7.org/fhir/R4/search.html#date). Without a zone it is in UTC. A
// time without seconds, which elements may not have but searches may, is a
// whole minute. A space stands for the + of a zone, which a client forgot to
// percent-encode.
func parseDate(s string) (low, next time.Time, ok bool) {
	p := dateText{rest: s}
	year, ok := p.number(4, 1, 9999)
	if !ok {
		return low, next, false
	}
	if p.rest == "" {
		low = day(year, 1, 1)
		return low, low.AddDate(1, 0, 0), true
	}
	month, ok := p.part('-', 1, 12)
	if !ok {
		return low, next, false
	}
	if p.rest == "" {
		low = day(year, month, 1)
		return low, low.AddDate(0, 1, 0), true
	}
	date, ok := p.part('-', 1, 31)
	if !ok {
		return low, next, false
	}
	low = day(year, month, date)
	if low.Day() != date { // 30 February
		return low, next, false
	}
	if p.rest == "" {
		return low, low.AddDate(0, 0, 1), true
	}
	return p.time(low)
}

func day(year, month, day int) time.Time {
	return time.Date(year, time.Month(month), day, 0, 0, 0, 0, time.UTC)
}

// dateText is what is left to read of a date.
type dateText struct{ rest string }

// number reads exactly digits digits, a number from low to high.
func (p *dateText) number(digits, low, high int) (int, bool) {
	if len(p.rest) < digits {
		return 0, false
	}
	n := 0
	for i := range digits {
		c := p.rest[i]
		if c < '0' || c > '9' {
			return 0, false
		}
		n = n*10 + int(c-'0')
	}
	p.rest = p.rest[digits:]
	return n, n >= low && n <= high
}

// skip steps over one character if it is next.
func (p *dateText) skip(c byte) bool {
	if p.rest == "" || p.rest[0] != c {
		return false
	}
	p.rest = p.rest[1:]
	return true
}

// part reads a separator and two digits.
func (p *dateText) part(separator byte, low, high int) (int, bool) {
	if !p.skip(separator) {
		return 0, false
	}
	return p.number(2, low, high)
}

// time reads what follows the day: Thh:mm[:ss[.f]][zone].
func (p *dateText) time(midnight time.Time) (low, next time.Time, ok bool) {
	hour, ok1 := p.part('T', 0, 23)
	minute, ok2 := p.part(':', 0, 59)
	if !ok1 || !ok2 {
		return low, next, false
	}
	low = midnight.Add(time.Duration(hour)*time.Hour + time.Duration(minute)*time.Minute)
	width := time.Minute
	if p.rest != "" && p.rest[0] == ':' {
		second, ok := p.part(':', 0, 60) // 60: a leap second
		if !ok {
			return low, next, false
		}
		low, width = low.Add(time.Duration(second)*time.Second), time.Second
		if p.skip('.') {
			var fraction time.Duration
			if fraction, width, ok = p.fraction(); !ok {
				return low, next, false
			}
			low = low.Add(fraction)
		}
	}
	offset, ok := p.zone()
	if !ok {
		return low, next, false
	}
	low = low.Add(-offset)
	return low, low.Add(width), true
}

// fraction reads digits after the point, as many as resolution can hold.
func (p *dateText) fraction() (fraction, width time.Duration, ok bool) {
	width = time.Second
	digits := 0
	for ; digits < len(p.rest) && p.rest[digits] >= '0' && p.rest[digits] <= '9'; digits++ {
		if width > resolution {
			width /= 10
			fraction += width * time.Duration(p.rest[digits]-'0')
		}
	}
	p.rest = p.rest[digits:]
	return fraction, width, digits > 0
}

// zone reads Z, ±hh:mm or nothing to the end of the text.
func (p *dateText) zone() (offset time.Duration, ok bool) {
	if p.rest == "" || p.rest == "Z" {
		return 0, true
	}
	sign := time.Duration(1)
	switch p.rest[0] {
	case '+', ' ':
	case '-':
		sign = -1
	default:
		return 0, false
	}
	p.rest = p.rest[1:]
	hours, ok1 := p.number(2, 0, 14)
	minutes, ok2 := p.part(':', 0, 59)
	if !ok1 || !ok2 || p.rest != "" {
		return 0, false
	}
	return sign * (time.Duration(hours)*time.Hour + time.Duration(minutes)*time.Minute), true
}
