package ucum

import "github.com/cockroachdb/apd/v3"

// Canonical expresses a value in base units: "185" pounds, "[lb_av]", is
// "83914.58845" "g". Values of units that are Comparable get the same
// canonical unit, and equal quantities the same text:
//
//   - The value is a decimal without exponent and without zeros at the end. It is
//     computed exactly and then rounded half to even to 34 digits, so values that
//     are equal have equal text, and values with equal text differ by less than
//     one part in 10^33. The order of values is kept: all factors are positive.
//   - The unit is the base units with their powers, in the order of their codes:
//     "g.m-1.s-2"; "1" for numbers, so for the mole and % too. An arbitrary unit
//     is a base unit: "k[IU]" has "[iU]".
//   - Temperatures are in "K".
//   - Special units that are no temperatures have a canonical unit of their own,
//     without its prefix: "7.4" "[pH]", and "3" "dB" is "0.3" "B". So pH is not
//     found among mol/l, though Convert knows how. [pH] would also turn the order
//     around.
//
// Precision is not kept: it is for the caller to make ranges of a value first.
// The error is an *Error.
func Canonical(value, unit string) (canonicalValue, canonicalUnit string, err error) {
	u, err := Parse(unit)
	if err != nil {
		return "", "", err
	}
	if len(value) > maxMagnitude {
		return "", "", &Error{u.text, whole, "the value is out of range"}
	}
	var d apd.Decimal
	if _, _, err := d.SetString(value); err != nil {
		return "", "", &Error{u.text, whole, "the value is no number"}
	}
	result, err := u.ToCanonical(&d)
	if err != nil {
		return "", "", err
	}
	return result.Text('f'), u.canonical, nil
}

// Canonical is the unit of ToCanonical.
func (u *Unit) Canonical() string { return u.canonical }

// ToCanonical expresses a value in the unit u.Canonical(), as the function
// Canonical does.
func (u *Unit) ToCanonical(value *apd.Decimal) (*apd.Decimal, error) {
	if err := u.takes(value); err != nil {
		return nil, err
	}
	f, err := u.scaled(value)
	if err == nil && !u.calculates() {
		err = u.toBase(&f)
	}
	var result *apd.Decimal
	if err == nil {
		result, err = f.value()
	}
	if err != nil {
		return nil, &Error{u.text, whole, "the value is out of range"}
	}
	if result.IsZero() {
		return new(apd.Decimal), nil // no -0
	}
	return result, nil
}
