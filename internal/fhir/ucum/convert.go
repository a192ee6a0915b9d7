package ucum

import "github.com/cockroachdb/apd/v3"

// precision is the most digits a result has: those of a decimal128.
const precision = 34

// exact is arithmetic without rounding; rounded and fourteen give results.
var exact, rounded, fourteen = context(0), context(precision), context(14)

func context(digits uint32) *apd.Context {
	return &apd.Context{
		Precision: digits, Rounding: apd.RoundHalfEven, Traps: apd.DefaultTraps,
		MaxExponent: apd.MaxExponent, MinExponent: apd.MinExponent,
	}
}

// maxMagnitude bounds the decimal exponents of the values that are taken.
const maxMagnitude = 2000

// fraction is a value on its way from one unit to another, exact.
type fraction struct{ num, den apd.Decimal }

func (f *fraction) times(num, den *apd.Decimal) error {
	if _, err := exact.Mul(&f.num, &f.num, num); err != nil {
		return err
	}
	_, err := exact.Mul(&f.den, &f.den, den)
	return err
}

// add adds n × the offset.
func (f *fraction) add(offset *apd.Decimal, n int64) error {
	var moved apd.Decimal
	if _, err := exact.Mul(&moved, &f.den, offset); err != nil {
		return err
	}
	if n < 0 {
		moved.Neg(&moved)
	}
	_, err := exact.Add(&f.num, &f.num, &moved)
	return err
}

// value divides, with at most 34 digits and no zeros at the end.
func (f *fraction) value() (*apd.Decimal, error) {
	value := new(apd.Decimal)
	var err error
	if f.den.Exponent == 0 && f.den.Coeff.IsUint64() && f.den.Coeff.Uint64() == 1 {
		_, err = rounded.Round(value, &f.num)
	} else {
		_, err = rounded.Quo(value, &f.num, &f.den)
	}
	value.Reduce(value)
	return value, err
}

// calculate applies a function that is no offset.
func (f *fraction) calculate(function func(float64) float64) error {
	value, err := f.value()
	if err != nil {
		return err
	}
	result, ok := calculated(function, value)
	if !ok {
		return errRange
	}
	f.num.Set(result)
	f.den.SetInt64(1)
	return nil
}

// scaled begins a conversion: the value as a special unit's function takes it.
func (u *Unit) scaled(value *apd.Decimal) (f fraction, err error) {
	f.num.Set(value)
	f.den.SetInt64(1)
	if u.function != nil {
		err = f.times(&u.scale.num, &u.scale.den)
	}
	return f, err
}

// toBase expresses what scaled gave in base units.
func (u *Unit) toBase(f *fraction) (err error) {
	switch {
	case u.calculates():
		err = f.calculate(u.function.corresponding)
	case u.function != nil:
		err = f.add(u.function.offset, 1)
	}
	if err != nil {
		return err
	}
	return f.times(&u.factor.num, &u.factor.den)
}

// fromBase expresses a value in base units in the unit.
func (u *Unit) fromBase(f *fraction) error {
	if err := f.times(&u.factor.den, &u.factor.num); err != nil || u.function == nil {
		return err
	}
	var err error
	if u.calculates() {
		err = f.calculate(u.function.value)
	} else {
		err = f.add(u.function.offset, -1)
	}
	if err != nil {
		return err
	}
	return f.times(&u.scale.den, &u.scale.num)
}

// Convert expresses a value in unit u in unit v. The result is exact if it has
// at most 34 digits, and rounded half to even to that many otherwise; through
// a special unit that is no temperature it has 14. The error is an *Error.
func (u *Unit) Convert(value *apd.Decimal, v *Unit) (*apd.Decimal, error) {
	if !u.Comparable(v) {
		return nil, &Error{u.text, whole, "it does not measure what '" + shown(v.text) + "' does"}
	}
	if err := u.takes(value); err != nil {
		return nil, err
	}
	f, err := u.scaled(value)
	if err == nil {
		err = u.toBase(&f)
	}
	if err == nil {
		err = v.fromBase(&f)
	}
	var result *apd.Decimal
	if err == nil {
		result, err = f.value()
	}
	if err == nil && (u.calculates() || v.calculates()) {
		_, err = fourteen.Round(result, result)
		result.Reduce(result)
	}
	if err != nil {
		return nil, &Error{u.text, whole, "the value has none in '" + shown(v.text) + "'"}
	}
	return result, nil
}

// takes refuses values beyond any meaning, so that arithmetic stays bounded.
func (u *Unit) takes(value *apd.Decimal) error {
	if value.Form != apd.Finite || value.Exponent > maxMagnitude || value.Exponent < -maxMagnitude || value.Coeff.BitLen() > 4*maxMagnitude {
		return &Error{u.text, whole, "the value is out of range"}
	}
	return nil
}
