package validation

import "strings"

func isURI(s string) bool {
	for i := range len(s) {
		if s[i] <= ' ' {
			return false
		}
	}
	return true
}

func isOID(s string) bool {
	s, ok := strings.CutPrefix(s, "urn:oid:")
	if !ok || len(s) < len("1.2") || s[0] < '0' || s[0] > '2' || s[1] != '.' {
		return false
	}
	for arc := range strings.SplitSeq(s[2:], ".") {
		if arc == "" || len(arc) > 1 && arc[0] == '0' || !digits(arc) {
			return false
		}
	}
	return true
}

// isUUID wants lower case, as the regular expression of the type has it.
func isUUID(s string) bool {
	s, ok := strings.CutPrefix(s, "urn:uuid:")
	if !ok || len(s) != 36 {
		return false
	}
	for i := range len(s) {
		switch c := s[i]; {
		case i == 8 || i == 13 || i == 18 || i == 23:
			if c != '-' {
				return false
			}
		case c < '0' || c > '9' && c < 'a' || c > 'f':
			return false
		}
	}
	return true
}

func digits(s string) bool {
	for i := range len(s) {
		if s[i]-'0' > 9 {
			return false
		}
	}
	return true
}
