package validation

import (
	"strings"

	"starling/internal/fhir"
)

var (
	uriSpace = &fault{code: fhir.IssueInvalid, message: "expected a URI, without white space"}
	uriOID   = &fault{code: fhir.IssueInvalid, message: "expected an OID after urn:oid:, such as urn:oid:1.2.3"}
	uriUUID  = &fault{code: fhir.IssueInvalid, message: "expected a UUID after urn:uuid:, such as urn:uuid:c757873d-ec9a-4326-a141-556f43239520"}
)

// uriFault checks a uri or url: OIDs and UUIDs have their form there, too, but for the
// case of a UUID, which many systems write with capital letters (RFC 4122, 3, takes
// both).
func uriFault(text string) *fault {
	switch {
	case !isURI(text):
		return uriSpace
	case strings.HasPrefix(text, "urn:oid:") && !isOID(text):
		return uriOID
	case strings.HasPrefix(text, "urn:uuid:") && !isUUID(strings.ToLower(text)):
		return uriUUID
	}
	return nil
}

func isURI(s string) bool {
	for i := range len(s) {
		if s[i] <= ' ' {
			return false
		}
	}
	return true
}

// isAbsolute reports whether a URI begins with a scheme (RFC 3986, 3.1).
func isAbsolute(uri string) bool {
	scheme, _, ok := strings.Cut(uri, ":")
	if !ok || scheme == "" {
		return false
	}
	for i := range len(scheme) {
		c := scheme[i] | 0x20
		if letter := c >= 'a' && c <= 'z'; !letter && (i == 0 || !strings.Contains("0123456789+-.", scheme[i:i+1])) {
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
