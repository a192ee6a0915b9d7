package ucum

import (
	"strings"

	"github.com/cockroachdb/apd/v3"
)

// Valid reports whether a text is a unit.
func Valid(unit string) bool {
	_, err := Parse(unit)
	return err == nil
}

// Comparable reports whether two texts are units that measure the same.
func Comparable(a, b string) bool {
	u, errU := Parse(a)
	v, errV := Parse(b)
	return errU == nil && errV == nil && u.Comparable(v)
}

// Convert expresses a value in unit from in unit to, as Unit.Convert does. The
// error is an *Error.
func Convert(value *apd.Decimal, from, to string) (*apd.Decimal, error) {
	u, err := Parse(from)
	if err != nil {
		return nil, err
	}
	v, err := Parse(to)
	if err != nil {
		return nil, err
	}
	return u.Convert(value, v)
}

// Multiply gives the unit of a product of quantities. The error is an *Error.
func Multiply(a, b string) (string, error) { return combine(a, '.', b) }

// Divide gives the unit of a quotient of quantities. The error is an *Error.
func Divide(a, b string) (string, error) { return combine(a, '/', b) }

func combine(a string, operator byte, b string) (string, error) {
	v, err := Parse(b)
	if err != nil {
		return "", err
	}
	switch {
	case v.text[0] == '/':
		b = "(1" + b + ")" // "/s", which no bracket may begin with
	case strings.ContainsAny(b, "./"):
		b = "(" + b + ")"
	}
	u, err := Parse(a + string(operator) + b)
	if err != nil {
		return "", err
	}
	return u.text, nil
}
