package search

import (
	"math/big"
	"strconv"
	"strings"
)

// decimal is an exact number coefficient × 10^exponent. Its coefficient is
// small unless large is set, so that the usual number needs no allocation.
type decimal struct {
	small    int64
	large    *big.Int
	exponent int
	// scientific says the text had an exponent.
	scientific bool
}

// maxExponent is the largest exponent in either direction.
const maxExponent = 1000

// smallDigits is how many digits a small coefficient may have, so that two
// more still fit.
const smallDigits = 16

// parseDecimal reads a FHIR decimal or the number of a search, which may also
// begin with a plus sign or zeros.
func parseDecimal(s string) (d decimal, ok bool) {
	rest := strings.TrimPrefix(s, "-")
	negative := len(rest) < len(s)
	if !negative {
		rest = strings.TrimPrefix(s, "+")
	}
	mantissa, exponent, scientific := strings.Cut(strings.Replace(rest, "E", "e", 1), "e")
	whole, fraction, point := strings.Cut(mantissa, ".")
	if !areDigits(whole) || point && !areDigits(fraction) {
		return d, false
	}
	d.scientific = scientific
	if scientific {
		n, err := strconv.Atoi(exponent)
		if err != nil || n > maxExponent || n < -maxExponent {
			return d, false
		}
		d.exponent = n
	}
	d.exponent -= len(fraction)
	whole = strings.TrimLeft(whole, "0")
	if len(whole)+len(fraction) <= smallDigits {
		for _, digits := range [...]string{whole, fraction} {
			for i := range len(digits) {
				d.small = d.small*10 + int64(digits[i]-'0')
			}
		}
		if negative {
			d.small = -d.small
		}
		return d, true
	}
	d.large, _ = new(big.Int).SetString(whole+fraction, 10)
	if negative {
		d.large.Neg(d.large)
	}
	return d, true
}

func areDigits(s string) bool {
	for i := range len(s) {
		if s[i] < '0' || s[i] > '9' {
			return false
		}
	}
	return s != ""
}

// interval is what the digits of a number imply: half a unit of the last digit
// to either side (https://hl7.org/fhir/R4/search.html#number). 100 is
// [99.5, 100.5). For a number with an exponent the specification has one
// example, 1e2 for [95, 105): half a unit of the digit after the last.
func (d decimal) interval() (low, high string) {
	if d.scientific {
		d = d.times(10)
		d.exponent--
	}
	d = d.times(10)
	d.exponent--
	return d.plus(-5).String(), d.plus(5).String()
}

// tenth is the interval of a tenth of the number to either side.
func (d decimal) tenth() (low, high string) {
	less, more := d.times(9), d.times(11)
	less.exponent--
	more.exponent--
	if d.sign() < 0 {
		less, more = more, less
	}
	return less.String(), more.String()
}

func (d decimal) sign() int {
	switch {
	case d.large != nil:
		return d.large.Sign()
	case d.small < 0:
		return -1
	case d.small > 0:
		return 1
	}
	return 0
}

func (d decimal) times(n int64) decimal {
	if d.large != nil {
		d.large = new(big.Int).Mul(d.large, big.NewInt(n))
	} else {
		d.small *= n
	}
	return d
}

// plus adds to the coefficient.
func (d decimal) plus(n int64) decimal {
	if d.large != nil {
		d.large = new(big.Int).Add(d.large, big.NewInt(n))
	} else {
		d.small += n
	}
	return d
}

// String is the number in the plain form "99.5", without an exponent unless
// that would take many zeros.
func (d decimal) String() string {
	var array [48]byte
	digits := array[:0]
	if d.large != nil {
		digits = d.large.Append(digits, 10)
	} else {
		digits = strconv.AppendInt(digits, d.small, 10)
	}
	sign := ""
	if digits[0] == '-' {
		sign, digits = "-", digits[1:]
	}
	switch places := -d.exponent; {
	case places == 0:
		return sign + string(digits)
	case places > 40 || places < -20:
		return sign + string(digits) + "e" + strconv.Itoa(d.exponent)
	case places < 0:
		return sign + string(digits) + strings.Repeat("0", -places)
	case places >= len(digits):
		return sign + "0." + strings.Repeat("0", places-len(digits)) + string(digits)
	default:
		point := len(digits) - places
		return sign + string(digits[:point]) + "." + string(digits[point:])
	}
}
