package fhirpath

import "github.com/cockroachdb/apd/v3"

// decimals is the arithmetic of decimals: 38 digits, as PostgreSQL and FHIR's
// other engines have at least 28. Overflow and the like are errors, which
// operators turn into empty results.
var decimals = func() apd.Context {
	c := apd.BaseContext.WithPrecision(38)
	c.Rounding = apd.RoundHalfUp
	c.MaxExponent, c.MinExponent = 2000, -2000
	c.Traps = apd.DefaultTraps
	return *c
}()

// maxNumber bounds the text of a number, in bytes. FHIR asks for 18 digits.
const maxNumber = 256

// parseDecimal reads a number, keeping its digits. Digits and exponents beyond
// any meaning are refused, so that arithmetic stays bounded.
func parseDecimal(text string) (*apd.Decimal, bool) {
	if len(text) > maxNumber {
		return nil, false
	}
	d, _, err := apd.NewFromString(text)
	if err != nil || d.Form != apd.Finite || d.Exponent > 1000 || d.Exponent < -2000 {
		return nil, false
	}
	return d, true
}
