package validation

import (
	"strings"

	"starling/internal/fhir/fhirpath"
	"starling/internal/fhir/ucum"
)

// grammar is a value set of all codes of a form. Nobody can list them, but what does
// not have the form is not in it.
type grammar struct {
	system string // of its codes
	accept func(code string) bool
}

const (
	mimeTypes  = "urn:ietf:bcp:13"
	languages  = "urn:ietf:bcp:47"
	currencies = "urn:iso:std:iso:4217"
)

// grammars are those of the specification, by canonical without version.
var grammars = map[string]grammar{
	"http://hl7.org/fhir/ValueSet/mimetypes": {mimeTypes, isFormat},
	// A few codes besides, which have the form, too.
	"http://hl7.org/fhir/ValueSet/expression-language": {mimeTypes, isMIMEType},
	"http://hl7.org/fhir/ValueSet/all-languages":       {languages, isLanguageTag},
	// New ones come every few years, so that no list would do.
	"http://hl7.org/fhir/ValueSet/currencies":         {currencies, isCurrency},
	"http://hl7.org/fhir/ValueSet/ucum-units":         {fhirpath.UCUM, ucum.Valid},
	"http://hl7.org/fhir/ValueSet/all-time-units":     {fhirpath.UCUM, func(code string) bool { return ucum.Comparable(code, "a") }},
	"http://hl7.org/fhir/ValueSet/all-distance-units": {fhirpath.UCUM, func(code string) bool { return ucum.Comparable(code, "m") }},
}

// member says whether a code is in a value set: by the terminology, and where that
// does not know by the form of the code.
func (v *Validator) member(valueSet, system, code string) Membership {
	answer := v.terminology.Member(valueSet, system, code)
	if answer != Unknown {
		return answer
	}
	url, _, _ := strings.Cut(valueSet, "|")
	if g, ok := grammars[url]; ok && (system == "" || system == g.system) && !g.accept(code) {
		return No
	}
	return Unknown
}

// isFormat reports whether a code is a MIME type, or one of the short names that
// CapabilityStatement.format and TestScript have for those of FHIR.
func isFormat(code string) bool {
	switch code {
	case "xml", "json", "ttl", "none":
		return true
	}
	return isMIMEType(code)
}

// isMIMEType reports whether a code is type/subtype, with or without parameters
// (RFC 2045, 5.1).
func isMIMEType(code string) bool {
	code, _, _ = strings.Cut(code, ";")
	kind, subtype, ok := strings.Cut(strings.TrimSpace(code), "/")
	return ok && isToken(kind) && isToken(subtype)
}

// isCurrency reports whether a code is three capital letters (ISO 4217).
func isCurrency(code string) bool {
	return len(code) == 3 && strings.Trim(code, "ABCDEFGHIJKLMNOPQRSTUVWXYZ") == ""
}

func isToken(text string) bool {
	for i := range len(text) {
		if c := text[i]; c <= ' ' || c > '~' || strings.IndexByte(`()<>@,;:\"/[]?=`, c) >= 0 {
			return false
		}
	}
	return text != ""
}

// isLanguageTag reports whether a code is well-formed by BCP 47: subtags of one to
// eight letters and digits, the first a language (or x or i before others).
func isLanguageTag(code string) bool {
	subtags := strings.Split(code, "-")
	for n, subtag := range subtags {
		if subtag == "" || len(subtag) > 8 {
			return false
		}
		for i := range len(subtag) {
			c := subtag[i] | 0x20
			letter := c >= 'a' && c <= 'z'
			if digit := subtag[i] >= '0' && subtag[i] <= '9'; !letter && (!digit || n == 0) {
				return false
			}
		}
	}
	return len(subtags[0]) > 1 || len(subtags) > 1 && strings.Contains("xXiI", subtags[0])
}
