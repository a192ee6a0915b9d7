package validation

import (
	"fmt"
	"strconv"
	"unicode/utf8"

	"starling/internal/fhir"
	"starling/internal/fhir/element"
)

// MaxIssues is the most issues one validation reports.
const MaxIssues = 100

// maxWarnings keeps room for errors.
const maxWarnings = MaxIssues / 2

func (r *run) full() bool { return len(r.issues) >= MaxIssues }

// issue reports an error in a value.
func (r *run) issue(n element.Node, code fhir.IssueType, format string, args ...any) {
	r.add(n, fhir.SeverityError, code, "", format, args...)
}

// breach reports an error against an invariant that is checked by hand.
func (r *run) breach(n element.Node, code fhir.IssueType, key, format string, args ...any) {
	r.add(n, fhir.SeverityError, code, key, key+": "+format, args...)
}

func (r *run) warn(n element.Node, code fhir.IssueType, key, format string, args ...any) {
	r.add(n, fhir.SeverityWarning, code, key, format, args...)
}

// add reports an issue in a value, unless there are enough of its kind.
func (r *run) add(n element.Node, severity fhir.Severity, code fhir.IssueType, key, format string, args ...any) {
	if r.full() || severity != fhir.SeverityError && r.warnings >= maxWarnings {
		return
	}
	if severity == fhir.SeverityError {
		r.errors++
	} else {
		r.warnings++
	}
	if r.probing > 0 {
		return
	}
	text := fmt.Sprintf(format, args...)
	if r.by != "" {
		text += " (profile " + shortenTo(r.by, 200) + ")"
	}
	r.issues = append(r.issues, fhir.Issue{Severity: severity, Code: code, Expression: r.location(n), Constraint: key, Diagnostics: text})
}

// issueBelow reports an error in an element that a value lacks.
func (r *run) issueBelow(n element.Node, name string, code fhir.IssueType, format string, args ...any) {
	before := len(r.issues)
	r.issue(n, code, format, args...)
	if len(r.issues) > before {
		r.issues[before].Expression += "." + name
	}
}

// maxShown is the most characters of a value that an issue shows.
const maxShown = 80

// describe names a value within a sentence: the text of a primitive, the kind
// of a container.
func describe(n element.Node) string {
	switch n.Kind() {
	case element.Object:
		return "an object"
	case element.Array:
		return "an array"
	case element.String:
		return quote(n.Str())
	case 0:
		return "nothing"
	}
	return shorten(string(n.Raw()))
}

func quote(s string) string { return strconv.Quote(shorten(s)) }

// shorten cuts a text to maxShown characters.
func shorten(s string) string { return shortenTo(s, maxShown) }

func shortenTo(s string, most int) string {
	if len(s) <= most {
		return s
	}
	at := 0
	for range most {
		_, size := utf8.DecodeRuneInString(s[at:])
		if at += size; at >= len(s) {
			return s
		}
	}
	return s[:at] + "…"
}
