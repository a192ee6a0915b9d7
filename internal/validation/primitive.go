package validation

import (
	"starling/internal/fhir"
	"starling/internal/fhir/element"
)

// primitive is the format of a primitive type
// (https://hl7.org/fhir/R4/datatypes.html#primitive).
type primitive struct {
	kind element.Kind // of its JSON; True for a boolean
	// fault checks the value's text, which is not empty; nil if JSON's own
	// grammar is enough.
	fault func(text string) *fault
}

// fault says what is wrong with a value.
type fault struct {
	code    fhir.IssueType
	message string
	key     string // of an invariant
}

// about is the fault with what it is about.
func (f *fault) about(what string) *fault {
	of := *f
	of.message += ": " + shorten(what)
	return &of
}

// format makes the check of a format: what accepts does not accept is not what
// was expected.
func format(accepts func(string) bool, expected string) func(string) *fault {
	wrong := &fault{code: fhir.IssueInvalid, message: "expected " + expected}
	return func(text string) *fault {
		if accepts(text) {
			return nil
		}
		return wrong
	}
}

var primitives = map[string]*primitive{
	"boolean": {kind: element.True},
	// The parser has bounded a decimal's digits and exponent.
	"decimal":     {kind: element.Number},
	"integer":     {element.Number, format(isInteger, "a whole number from -2147483648 to 2147483647")},
	"unsignedInt": {element.Number, format(isUnsignedInt, "a whole number from 0 to 2147483647")},
	"positiveInt": {element.Number, format(isPositiveInt, "a whole number from 1 to 2147483647")},

	"string":   {element.String, stringFault},
	"markdown": {element.String, stringFault},
	"code":     {element.String, format(isCode, "a code: no white space around it, and only single spaces within")},
	"id":       {element.String, format(fhir.ValidID, "1 to 64 characters of A-Z, a-z, 0-9, - and .")},

	"uri":       {element.String, uriFault},
	"url":       {element.String, uriFault},
	"canonical": {element.String, format(isURI, "a canonical URL, without white space")},
	"oid":       {element.String, format(isOID, "an OID as URI: urn:oid:1.2.3")},
	"uuid":      {element.String, format(isUUID, "a UUID as URI, in lower case: urn:uuid:c757873d-ec9a-4326-a141-556f43239520")},

	"date":     {element.String, format(isDate, "a date of the calendar: YYYY, YYYY-MM or YYYY-MM-DD")},
	"dateTime": {element.String, format(isDateTime, "a date of the calendar, or YYYY-MM-DDThh:mm:ss with a time zone")},
	"instant":  {element.String, format(isInstant, "YYYY-MM-DDThh:mm:ss with a time zone")},
	"time":     {element.String, format(isTime, "a time of day: hh:mm:ss")},

	"base64Binary": {element.String, format(isBase64, "base64")},
	"xhtml":        {element.String, narrativeFault},
}
