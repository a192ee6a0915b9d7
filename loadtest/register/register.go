// Package register makes a register of a profile: its one rule names a number,
// which validation repeats, so an answer tells which version of the profile it
// rests on, on any FHIR server that gives the reason of a refusal.
package register

import (
	"bytes"
	"fmt"
	"strconv"
)

// Register is a profile of Basic that demands of code.text one text, which
// names the register's value. Each value excludes the others.
type Register struct{ Name string }

// URL of the profile.
func (r Register) URL() string { return "http://example.org/register/" + r.Name }

// Path of the profile below the FHIR base.
func (r Register) Path() string { return "/StructureDefinition/" + r.Name }

// Profile is the body that sets the register.
func (r Register) Profile(value int64) []byte {
	return fmt.Appendf(nil, `{"resourceType":"StructureDefinition","id":%q,"url":%q,"name":"Register","status":"active","kind":"resource",`+
		`"abstract":false,"type":"Basic","baseDefinition":"http://hl7.org/fhir/StructureDefinition/Basic","derivation":"constraint",`+
		`"differential":{"element":[{"id":"Basic","path":"Basic"},{"id":"Basic.code.text","path":"Basic.code.text","min":1,"fixedString":%q}]}}`,
		r.Name, r.URL(), Text(value))
}

// Resource is a Basic that the profile accepts while the register has a value.
// The mark is found again in what is stored.
func (r Register) Resource(value int64, mark string) []byte {
	return fmt.Appendf(nil, `{"resourceType":"Basic","meta":{"profile":[%q]},"identifier":[{"system":"urn:starling:register","value":%q}],"code":{"text":%q}}`,
		r.URL(), mark, Text(value))
}

// Probe is a Basic that no value accepts: what refuses it tells the value.
func (r Register) Probe() []byte { return r.Resource(0, "probe") }

// Text of a value, as it stands in code.text.
func Text(value int64) string { return "v" + strconv.FormatInt(value, 10) }

// ParseText reads Text.
func ParseText(text string) (int64, bool) {
	if len(text) < 2 || text[0] != 'v' {
		return 0, false
	}
	value, err := strconv.ParseInt(text[1:], 10, 64)
	return value, err == nil
}

// demand is how a refusal names what the rule asks for, as it stands in JSON.
var demand = []byte(`must be \"v`)

// Value finds the register's value in the outcome of a refusal.
func Value(outcome []byte) (int64, bool) {
	_, rest, ok := bytes.Cut(outcome, demand)
	digits, _, end := bytes.Cut(rest, []byte(`\"`))
	if !ok || !end {
		return 0, false
	}
	value, err := strconv.ParseInt(string(digits), 10, 64)
	return value, err == nil
}
