package ucum

import (
	"math/big"

	"github.com/cockroachdb/apd/v3"
)

// maxBits bounds numerator and denominator of a factor: about 1e308.
const maxBits = 1024

// raised gives the power of a positive factor; ok is false if it leaves its
// bounds.
func raised(f *big.Rat, n int) (power *big.Rat, ok bool) {
	num, den := f.Num(), f.Denom()
	if n < 0 {
		num, den, n = den, num, -n
	}
	if (num.BitLen()-1)*n > maxBits || (den.BitLen()-1)*n > maxBits {
		return nil, false
	}
	e := big.NewInt(int64(n))
	return bounded(new(big.Rat).SetFrac(new(big.Int).Exp(num, e, nil), new(big.Int).Exp(den, e, nil)))
}

func bounded(f *big.Rat) (*big.Rat, bool) {
	return f, f.Num().BitLen() <= maxBits && f.Denom().BitLen() <= maxBits
}

// ratio is a factor made for arithmetic with decimals: num / den, where den has
// no factor that a decimal point can express. It is 1 for every factor whose
// decimal expansion ends.
type ratio struct {
	num, den apd.Decimal
}

var two, five, ten = big.NewInt(2), big.NewInt(5), big.NewInt(10)

func ratioOf(f *big.Rat) ratio {
	num, den := new(big.Int).Set(f.Num()), new(big.Int).Set(f.Denom())
	twos, fives, tens := divideOut(den, two), divideOut(den, five), divideOut(num, ten)
	places := max(twos, fives)
	scale := func(base *big.Int, n int) {
		num.Mul(num, new(big.Int).Exp(base, big.NewInt(int64(n)), nil))
	}
	scale(two, places-twos)
	scale(five, places-fives)
	return ratio{decimalOf(num, tens-places), decimalOf(den, 0)}
}

// divideOut divides n by d as often as it can, and says how often.
func divideOut(n, d *big.Int) (times int) {
	var quotient, rest big.Int
	for {
		if quotient.QuoRem(n, d, &rest); rest.Sign() != 0 {
			return times
		}
		n.Set(&quotient)
		times++
	}
}

func decimalOf(n *big.Int, exponent int) apd.Decimal {
	return apd.Decimal{Coeff: *new(apd.BigInt).SetMathBigInt(n), Exponent: int32(exponent)}
}
