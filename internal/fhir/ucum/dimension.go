package ucum

import (
	"slices"
	"strconv"
	"strings"
)

// dimension is what a unit measures: the powers of base units, sorted by code,
// none of them 0. An arbitrary unit is a base of its own.
type dimension []power

type power struct {
	base     string
	exponent int
}

// maxExponent bounds a base unit's exponent.
const maxExponent = 999

// times adds the exponents of o, each multiplied by n; ok is false if one
// leaves its bounds.
func (d dimension) times(o dimension, n int) (product dimension, ok bool) {
	product = slices.Clone(d)
	for _, p := range o {
		i, found := slices.BinarySearchFunc(product, p.base, func(p power, base string) int { return strings.Compare(p.base, base) })
		if !found {
			product = slices.Insert(product, i, power{base: p.base})
		}
		product[i].exponent += p.exponent * n
		switch e := product[i].exponent; {
		case e > maxExponent || e < -maxExponent:
			return nil, false
		case e == 0:
			product = slices.Delete(product, i, i+1)
		}
	}
	return product, true
}

// String writes the base units as a UCUM expression: "g.m-1.s-2", "1" for none.
func (d dimension) String() string {
	if len(d) == 0 {
		return "1"
	}
	var b strings.Builder
	for i, p := range d {
		if i > 0 {
			b.WriteByte('.')
		}
		b.WriteString(p.base)
		if p.exponent != 1 {
			b.WriteString(strconv.Itoa(p.exponent))
		}
	}
	return b.String()
}
