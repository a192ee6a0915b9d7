package validation

// The number formats take the text of a JSON number.

func isInteger(s string) bool {
	negative := s[0] == '-'
	if negative {
		s = s[1:]
	}
	n, ok := whole(s)
	if negative {
		return ok && n >= 1 && n <= 1<<31
	}
	return ok && n <= 1<<31-1
}

func isUnsignedInt(s string) bool {
	n, ok := whole(s)
	return ok && n <= 1<<31-1
}

func isPositiveInt(s string) bool {
	n, ok := whole(s)
	return ok && n >= 1 && n <= 1<<31-1
}

// whole reads up to ten digits.
func whole(s string) (n uint64, ok bool) {
	if s == "" || len(s) > 10 {
		return 0, false
	}
	for i := range len(s) {
		c := s[i] - '0'
		if c > 9 {
			return 0, false
		}
		n = n*10 + uint64(c)
	}
	return n, true
}
