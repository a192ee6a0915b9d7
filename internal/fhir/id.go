package fhir

// MaxIDLength is the most characters a logical id may have.
const MaxIDLength = 64

// ValidID reports whether s is a FHIR id: [A-Za-z0-9\-\.]{1,64}
// (https://hl7.org/fhir/R4/datatypes.html#id).
func ValidID(s string) bool {
	if s == "" || len(s) > MaxIDLength {
		return false
	}
	for i := range len(s) {
		c := s[i]
		switch {
		case c >= 'a' && c <= 'z', c >= 'A' && c <= 'Z', c >= '0' && c <= '9', c == '-', c == '.':
		default:
			return false
		}
	}
	return true
}
