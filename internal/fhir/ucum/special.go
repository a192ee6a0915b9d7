package ucum

import (
	"math"

	"github.com/cockroachdb/apd/v3"
)

// function relates a special unit to its corresponding unit
// (https://ucum.org/ucum#section-Special-Units-on-non-ratio-Scales). One that
// moves the zero has an offset, and is exact; the others are calculated.
type function struct {
	offset        *apd.Decimal // to add to the special unit's value
	value         func(corresponding float64) float64
	corresponding func(value float64) float64
}

// functions are the functions of the table's special units.
var functions = map[string]*function{
	"Cel":         {offset: apd.New(27315, -2)},
	"degF":        {offset: apd.New(45967, -2)},
	"degRe":       {offset: apd.New(21852, -2)},
	"pH":          logarithm(-1, 10),
	"ln":          logarithm(1, math.E),
	"lg":          logarithm(1, 10),
	"lgTimes2":    logarithm(2, 10),
	"ld":          logarithm(1, 2),
	"hpX":         logarithm(-1, 10),
	"hpC":         logarithm(-1, 100),
	"hpM":         logarithm(-1, 1000),
	"hpQ":         logarithm(-1, 50000),
	"tanTimes100": tangent(1),
	"100tan":      tangent(math.Pi / 180),
	"sqrt":        {value: math.Sqrt, corresponding: func(v float64) float64 { return v * v }},
}

// logarithm is factor × log of the corresponding value.
func logarithm(factor, base float64) *function {
	log := func(x float64) float64 { return math.Log(x) / math.Log(base) }
	if base == 10 {
		log = math.Log10
	}
	return &function{
		value: func(x float64) float64 { return factor * log(x) },
		corresponding: func(v float64) float64 {
			if x := math.Pow(base, v/factor); x > 0 {
				return x
			}
			return math.NaN() // too small for a float64
		},
	}
}

// tangent is 100 × tan of the corresponding angle, which is in radians × unit.
func tangent(unit float64) *function {
	return &function{
		value:         func(x float64) float64 { return 100 * math.Tan(x*unit) },
		corresponding: func(v float64) float64 { return math.Atan(v/100) / unit },
	}
}

// calculated applies a function that is no offset. The result has 14 digits,
// which leaves out what float64 adds.
func calculated(f func(float64) float64, value *apd.Decimal) (*apd.Decimal, bool) {
	x, err := value.Float64()
	if err != nil {
		return nil, false
	}
	y := f(x)
	if math.IsNaN(y) || math.IsInf(y, 0) {
		return nil, false
	}
	result, err := new(apd.Decimal).SetFloat64(y)
	if err != nil {
		return nil, false
	}
	_, err = fourteen.Round(result, result)
	result.Reduce(result)
	return result, err == nil
}
