package validation

import (
	"unicode/utf8"

	"starling/internal/fhir"
)

// maxString is the most characters of a string
// (https://hl7.org/fhir/R4/datatypes.html#string).
const maxString = 1 << 20

var (
	stringTooLong = &fault{code: fhir.IssueTooLong, message: "a string may have at most 1048576 characters"}
	stringControl = &fault{code: fhir.IssueInvalid, message: "control characters other than tab, carriage return and line feed are not allowed"}
)

func stringFault(s string) *fault {
	for i := range len(s) {
		if c := s[i]; c < ' ' && c != '\t' && c != '\n' && c != '\r' {
			return stringControl
		}
	}
	if len(s) > maxString && utf8.RuneCountInString(s) > maxString {
		return stringTooLong
	}
	return nil
}

func isSpace(c byte) bool { return c == ' ' || c >= '\t' && c <= '\r' }

func isCode(s string) bool {
	space := true // a space here would be the first or the second
	for i := range len(s) {
		c := s[i]
		if c < ' ' || c == ' ' && space {
			return false
		}
		space = c == ' '
	}
	return !space
}

// isBase64 accepts white space anywhere, as lines are wrapped where they are.
func isBase64(s string) bool {
	digits, padding := 0, 0
	for i := range len(s) {
		switch c := s[i]; {
		case c == '=':
			padding++
		case c >= 'a' && c <= 'z', c >= 'A' && c <= 'Z', c >= '0' && c <= '9', c == '+', c == '/':
			if padding > 0 {
				return false
			}
			digits++
		case !isSpace(c):
			return false
		}
	}
	return digits > 0 && padding <= 2 && (digits+padding)%4 == 0
}
