package validation

// The formats of dates and times
// (https://hl7.org/fhir/R4/datatypes.html#dateTime). Years are 0001 to 9999,
// days are days of the calendar, zones reach from -14:00 to +14:00 and
// seconds to 60, a leap second.

func isDate(s string) bool {
	rest, _, ok := cutDate(s)
	return ok && rest == ""
}

func isDateTime(s string) bool {
	rest, full, ok := cutDate(s)
	return ok && (rest == "" || full && rest[0] == 'T' && isZonedTime(rest[1:]))
}

func isInstant(s string) bool {
	rest, full, ok := cutDate(s)
	return ok && full && rest != "" && rest[0] == 'T' && isZonedTime(rest[1:])
}

func isTime(s string) bool {
	rest, ok := cutTime(s)
	return ok && rest == ""
}

func isZonedTime(s string) bool {
	zone, ok := cutTime(s)
	return ok && isZone(zone)
}

func isZone(s string) bool {
	if s == "Z" {
		return true
	}
	if len(s) != len("+00:00") || s[0] != '+' && s[0] != '-' || s[3] != ':' {
		return false
	}
	hour, minute := two(s[1:]), two(s[4:])
	return hour >= 0 && minute >= 0 && minute < 60 && (hour < 14 || hour == 14 && minute == 0)
}

// cutDate reads YYYY, YYYY-MM or YYYY-MM-DD at the beginning of s; full says
// the day was there.
func cutDate(s string) (rest string, full, ok bool) {
	if len(s) < len("2000") {
		return s, false, false
	}
	century, years := two(s), two(s[2:])
	if century < 0 || years < 0 || century+years == 0 {
		return s, false, false
	}
	if s = s[4:]; s == "" || s[0] != '-' {
		return s, false, true
	}
	if len(s) < len("-01") {
		return s, false, false
	}
	month := two(s[1:])
	if month < 1 || month > 12 {
		return s, false, false
	}
	if s = s[3:]; s == "" || s[0] != '-' {
		return s, false, true
	}
	if len(s) < len("-01") {
		return s, false, false
	}
	day := two(s[1:])
	return s[3:], true, day >= 1 && day <= daysIn(century*100+years, month)
}

func daysIn(year, month int) int {
	switch month {
	case 4, 6, 9, 11:
		return 30
	case 2:
		if year%4 == 0 && (year%100 != 0 || year%400 == 0) {
			return 29
		}
		return 28
	}
	return 31
}

// cutTime reads hh:mm:ss, with or without a fraction, at the beginning of s.
func cutTime(s string) (rest string, ok bool) {
	if len(s) < len("00:00:00") || s[2] != ':' || s[5] != ':' {
		return s, false
	}
	hour, minute, second := two(s), two(s[3:]), two(s[6:])
	if hour < 0 || hour > 23 || minute < 0 || minute > 59 || second < 0 || second > 60 {
		return s, false
	}
	if s = s[8:]; s == "" || s[0] != '.' {
		return s, true
	}
	i := 1
	for i < len(s) && s[i]-'0' <= 9 {
		i++
	}
	return s[i:], i > 1
}

// two is the number of the first two digits, negative if they are none.
func two(s string) int {
	tens, ones := s[0]-'0', s[1]-'0'
	if tens > 9 || ones > 9 {
		return -1
	}
	return int(tens)*10 + int(ones)
}
