package fhir

import "strings"

// FoldCase is the form in which codes that ignore case are compared: lower
// case, and nothing else folded.
func FoldCase(code string) string { return strings.ToLower(code) }
