package search

import (
	"net/url"
	"strconv"
	"strings"
	"unicode/utf8"

	"starling/internal/fhir"
)

// queryParameter is one name=value of a search.
type queryParameter struct {
	name string // as sent, decoded: "subject:Patient.name:exact"
	// code is the search parameter's: "subject". For what follows it,
	// modifier has "Patient" and chain "name:exact".
	code, modifier, chain string
	value                 string // decoded once; its \ escapes are still in it
}

// Bounds of a query, so that a hostile one costs little.
const (
	maxParameters = 200
	maxChoices    = 1000 // values joined by commas
)

// parseQuery reads the parameters of a URL's query or of a form, in order.
// Names and values are percent-decoded exactly once.
func parseQuery(raw string) ([]queryParameter, error) {
	var out []queryParameter
	for part := range strings.SplitSeq(strings.TrimPrefix(raw, "?"), "&") {
		if part == "" {
			continue
		}
		rawName, rawValue, _ := strings.Cut(part, "=")
		name, err := url.QueryUnescape(rawName)
		if err != nil || !isText(name) {
			return nil, invalid("A parameter's name is not percent-encoded UTF-8 text.")
		}
		value, err := url.QueryUnescape(rawValue)
		if err != nil || !isText(value) {
			return nil, invalid("The value of the parameter " + quote(name) + " is not percent-encoded UTF-8 text.")
		}
		if out = append(out, splitName(name)); len(out) > maxParameters {
			return nil, fhir.NewError(fhir.KindInvalid, fhir.IssueTooCostly, "The search has too many parameters.")
		}
		out[len(out)-1].value = value
	}
	return out, nil
}

func isText(s string) bool { return utf8.ValidString(s) && strings.IndexByte(s, 0) < 0 }

// splitName takes a name apart: code[:modifier][.chain]. What follows _has is
// all modifier.
func splitName(name string) queryParameter {
	p := queryParameter{name: name}
	at := strings.IndexAny(name, ":.")
	if at < 0 {
		p.code = name
		return p
	}
	p.code = name[:at]
	rest := name[at+1:]
	switch {
	case p.code == "_has":
		p.modifier = rest
	case name[at] == '.':
		p.chain = rest
	default:
		p.modifier, p.chain, _ = strings.Cut(rest, ".")
	}
	return p
}

// splitEscaped cuts at a separator that no backslash precedes; the parts keep
// their escapes.
func splitEscaped(s string, separator byte) []string {
	var parts []string
	start := 0
	for i := 0; i < len(s); i++ {
		switch s[i] {
		case '\\':
			i++
		case separator:
			parts = append(parts, s[start:i])
			start = i + 1
		}
	}
	return append(parts, s[start:])
}

// unescape takes the backslash from \, \| \$ and \\
// (https://hl7.org/fhir/R4/search.html#escaping). Before anything else it is
// itself.
func unescape(s string) string {
	if strings.IndexByte(s, '\\') < 0 {
		return s
	}
	out := make([]byte, 0, len(s))
	for i := 0; i < len(s); i++ {
		if s[i] == '\\' && i+1 < len(s) && strings.IndexByte(`,|$\`, s[i+1]) >= 0 {
			i++
		}
		out = append(out, s[i])
	}
	return string(out)
}

func invalid(diagnostics string) *fhir.Error {
	return fhir.NewError(fhir.KindInvalid, fhir.IssueInvalid, diagnostics)
}

// badValue refuses a parameter's value and says what was expected.
func (p *queryParameter) badValue(value, expected string) *fhir.Error {
	return fhir.NewError(fhir.KindInvalid, fhir.IssueValue,
		"The value "+quote(value)+" of the parameter "+quote(p.name)+" is not acceptable: "+expected+" was expected.")
}

// unsupported refuses a parameter or a use of it.
func (p *queryParameter) unsupported(reason string) *fhir.Error {
	return fhir.NewError(fhir.KindInvalid, fhir.IssueNotSupported, "The parameter "+quote(p.name)+" is not supported: "+reason+".")
}

func (p *queryParameter) tooMany() *fhir.Error {
	return fhir.NewError(fhir.KindInvalid, fhir.IssueTooCostly,
		"The parameter "+quote(p.name)+" has more than "+strconv.Itoa(maxChoices)+" values.")
}

// mostQuoted is how many bytes of a client's text an error repeats.
const mostQuoted = 200

// quote gives a client's text for an error's diagnostics.
func quote(s string) string {
	if len(s) > mostQuoted {
		end := mostQuoted
		for !utf8.RuneStart(s[end]) {
			end--
		}
		s = s[:end] + "…"
	}
	return "'" + s + "'"
}
