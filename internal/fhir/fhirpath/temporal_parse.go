package fhirpath

import "strings"

// ParseTemporal reads a date or dateTime as FHIR writes it, of any precision:
// 2015, 2015-02, 2015-02-04, 2015-02-04T14:34:28.123+10:00. The hour or minute
// may be the last part, as in FHIRPath. Without a time it is a Date.
func ParseTemporal(text string) (*Temporal, bool) {
	t := &Temporal{Kind: KindDate}
	date, clock, timed := strings.Cut(text, "T")
	if !t.parseDate(date) {
		return nil, false
	}
	if !timed {
		return t, true
	}
	t.Kind = KindDateTime
	if t.Precision != PrecisionDay {
		return nil, false
	}
	clock, ok := t.parseOffset(clock)
	return t, ok && t.parseClock(clock)
}

// parseTemporalLiteral reads what follows @ in an expression: 2015, 2015T,
// 2015-02-04T14:34, T14:34.
func parseTemporalLiteral(text string) (*Temporal, bool) {
	if clock, ok := strings.CutPrefix(text, "T"); ok {
		return parseTime(clock)
	}
	if date, ok := strings.CutSuffix(text, "T"); ok {
		t := &Temporal{Kind: KindDateTime}
		return t, t.parseDate(date)
	}
	return ParseTemporal(text)
}

// parseTime reads a time of day: 14, 14:34, 14:34:28.123.
func parseTime(text string) (*Temporal, bool) {
	t := &Temporal{Kind: KindTime}
	return t, t.parseClock(text)
}

func (t *Temporal) parseDate(text string) bool {
	parts := [3]int{0, 1, 1}
	n := 0
	for part := range strings.SplitSeq(text, "-") {
		width := 2
		if n == 0 {
			width = 4
		}
		if n == 3 || !number(part, width, &parts[n]) {
			return false
		}
		n++
	}
	t.Year, t.Month, t.Day = parts[0], parts[1], parts[2]
	t.Precision = PrecisionYear + Precision(n-1)
	return t.Year > 0 && t.Month >= 1 && t.Month <= 12 && t.Day >= 1 && t.Day <= daysIn(t.Year, t.Month)
}

func (t *Temporal) parseClock(text string) bool {
	clock, fraction, fractional := strings.Cut(text, ".")
	parts := [3]int{}
	n := 0
	for part := range strings.SplitSeq(clock, ":") {
		if n == 3 || !number(part, 2, &parts[n]) {
			return false
		}
		n++
	}
	t.Hour, t.Minute, t.Second = parts[0], parts[1], parts[2]
	t.Precision = PrecisionHour + Precision(n-1)
	if t.Hour > 23 || t.Minute > 59 || t.Second > 60 {
		return false
	}
	if !fractional {
		return true
	}
	return n == 3 && t.parseFraction(fraction)
}

func (t *Temporal) parseFraction(text string) bool {
	if text == "" {
		return false
	}
	for i := range len(text) {
		if !isDigit(text[i]) {
			return false
		}
	}
	t.FractionDigits = min(len(text), 9)
	for i := range 9 {
		t.Nanosecond *= 10
		if i < len(text) {
			t.Nanosecond += int(text[i] - '0')
		}
	}
	return true
}

// parseOffset takes the time zone off the end of a clock.
func (t *Temporal) parseOffset(text string) (clock string, ok bool) {
	if clock, ok := strings.CutSuffix(text, "Z"); ok {
		t.HasOffset = true
		return clock, true
	}
	at := strings.LastIndexAny(text, "+-")
	if at < 0 {
		return text, true
	}
	var hours, minutes int
	h, m, colon := strings.Cut(text[at+1:], ":")
	if !colon || !number(h, 2, &hours) || !number(m, 2, &minutes) || hours > 14 || minutes > 59 {
		return "", false
	}
	t.HasOffset, t.Offset = true, hours*60+minutes
	if text[at] == '-' {
		t.Offset = -t.Offset
	}
	return text[:at], true
}

// number reads exactly width digits.
func number(text string, width int, into *int) bool {
	if len(text) != width {
		return false
	}
	n := 0
	for i := range len(text) {
		if !isDigit(text[i]) {
			return false
		}
		n = n*10 + int(text[i]-'0')
	}
	*into = n
	return true
}

// daysIn is the number of days of a month of the Gregorian calendar.
func daysIn(year, month int) int {
	switch month {
	case 2:
		if year%4 == 0 && (year%100 != 0 || year%400 == 0) {
			return 29
		}
		return 28
	case 4, 6, 9, 11:
		return 30
	}
	return 31
}
