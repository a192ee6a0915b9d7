package postgres

import (
	"cmp"
	"strconv"
	"strings"
)

// compareDecimals orders decimals as text: what FHIR's decimal allows, and
// Infinity with either sign.
func compareDecimals(a, b string) int {
	x, y := readDecimal(a), readDecimal(b)
	if c := cmp.Compare(x.sign, y.sign); c != 0 || x.sign == 0 {
		return c
	}
	c := cmp.Compare(x.magnitude, y.magnitude)
	if c == 0 {
		c = strings.Compare(x.digits, y.digits)
	}
	return c * x.sign
}

// decimal is sign × 0.digits × 10^magnitude, the digits without zeros at
// either end, so that digits of equal magnitude compare as text.
type decimal struct {
	sign      int
	magnitude int
	digits    string
}

func readDecimal(s string) (d decimal) {
	d.sign = 1
	if rest, negative := strings.CutPrefix(s, "-"); negative {
		d.sign, s = -1, rest
	}
	s = strings.TrimPrefix(s, "+")
	if strings.HasPrefix(s, "Inf") {
		d.magnitude = 1 << 40
		return d
	}
	exponent := 0
	if i := strings.IndexAny(s, "eE"); i >= 0 {
		exponent, _ = strconv.Atoi(strings.TrimPrefix(s[i+1:], "+"))
		s = s[:i]
	}
	whole, fraction, _ := strings.Cut(s, ".")
	all := whole + fraction
	digits := strings.TrimLeft(all, "0")
	d.magnitude = len(whole) - (len(all) - len(digits)) + exponent
	if d.digits = strings.TrimRight(digits, "0"); d.digits == "" {
		return decimal{}
	}
	return d
}
