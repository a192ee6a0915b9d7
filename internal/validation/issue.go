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

func (r *run) full() bool { return len(r.issues) >= MaxIssues }

// issue reports an error in a value.
func (r *run) issue(n element.Node, code fhir.IssueType, format string, args ...any) {
	if !r.full() {
		r.issueAt(r.location(n), code, format, args...)
	}
}

func (r *run) issueAt(expression string, code fhir.IssueType, format string, args ...any) {
	if r.full() {
		return
	}
	r.issues = append(r.issues, fhir.Issue{
		Severity: fhir.SeverityError, Code: code, Expression: expression, Diagnostics: fmt.Sprintf(format, args...),
	})
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
func shorten(s string) string {
	if len(s) <= maxShown {
		return s
	}
	at := 0
	for range maxShown {
		_, size := utf8.DecodeRuneInString(s[at:])
		if at += size; at >= len(s) {
			return s
		}
	}
	return s[:at] + "…"
}
