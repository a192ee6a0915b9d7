package oracle

import (
	"math/big"
	"slices"
	"strings"

	"starling/internal/fhir/definition"
	"starling/internal/fhir/element"
	"starling/internal/fhir/fhirpath"
)

// amount is a number or a range; a nil end is open.
type amount struct {
	low, high          *big.Rat
	system, code, unit string
}

func numberAt(n element.Node) *big.Rat {
	if n.Kind() != element.Number {
		return nil
	}
	r, _ := new(big.Rat).SetString(n.Literal())
	return r
}

func amountOf(item fhirpath.Item) (a amount, ok bool) {
	n := item.Node()
	switch item.Type() {
	case "decimal", "integer", "positiveInt", "unsignedInt":
		a.low = numberAt(n)
		a.high = a.low
	case "Quantity", "Age", "Count", "Distance", "Duration":
		v := numberAt(n.Get("value"))
		a = amount{v, v, n.Get("system").Str(), n.Get("code").Str(), n.Get("unit").Str()}
		switch comparator := n.Get("comparator").Str(); {
		case strings.HasPrefix(comparator, "<"):
			a.low = nil
		case strings.HasPrefix(comparator, ">"):
			a.high = nil
		}
	case "Money":
		v := numberAt(n.Get("value"))
		a = amount{low: v, high: v, code: n.Get("currency").Str()}
		if a.code != "" {
			a.system = "urn:iso:std:iso:4217"
		}
	case "Range":
		low, high := n.Get("low"), n.Get("high")
		of := high
		if !high.Exists() {
			of = low
		}
		a = amount{numberAt(low.Get("value")), numberAt(high.Get("value")), of.Get("system").Str(), of.Get("code").Str(), of.Get("unit").Str()}
		if a.low != nil && a.high != nil && a.low.Cmp(a.high) > 0 {
			a.low, a.high = a.high, a.low
		}
	}
	return a, a.low != nil || a.high != nil
}

// sought is the number of a search: its value, and the interval it stands for,
// which the upper end belongs to if closed.
type sought struct {
	prefix           string
	value, low, high *big.Rat
	closed           bool
}

var comparisons = []string{"eq", "ne", "gt", "lt", "ge", "le", "sa", "eb", "ap"}

func prefixOf(value string) (prefix, rest string) {
	if len(value) > 2 && slices.Contains(comparisons, value[:2]) {
		return value[:2], value[2:]
	}
	return "eq", value
}

func readSought(value string, whole bool) sought {
	prefix, number := prefixOf(value)
	s := sought{prefix: prefix}
	s.value, _ = new(big.Rat).SetString(number)
	mantissa, exponent, scientific := strings.Cut(strings.ToLower(number), "e")
	_, decimals, _ := strings.Cut(mantissa, ".")
	unit := power(10, -len(decimals))
	if scientific {
		e, _ := new(big.Int).SetString(strings.TrimPrefix(exponent, "+"), 10)
		// Half a unit of the digit after the last one: 1e2 is [95, 105).
		unit = power(10, int(e.Int64())-len(decimals)-1)
	}
	half := new(big.Rat).Mul(unit, big.NewRat(1, 2))
	switch {
	case prefix == "ap" && s.value.Sign() != 0:
		half = new(big.Rat).Abs(new(big.Rat).Mul(s.value, big.NewRat(1, 10)))
		s.closed = true
	case whole && !scientific && prefix != "ap":
		half, s.closed = new(big.Rat), true
	}
	s.low, s.high = new(big.Rat).Sub(s.value, half), new(big.Rat).Add(s.value, half)
	return s
}

func power(base int64, exponent int) *big.Rat {
	r := big.NewRat(1, 1)
	for range max(exponent, -exponent) {
		r.Mul(r, big.NewRat(base, 1))
	}
	if exponent < 0 {
		r.Inv(r)
	}
	return r
}

// against compares as the prefix says.
func (s sought) against(a amount) bool {
	above := func(limit *big.Rat) int { // of the upper end
		if a.high == nil {
			return 1
		}
		return a.high.Cmp(limit)
	}
	below := func(limit *big.Rat) int { // of the lower end
		if a.low == nil {
			return -1
		}
		return a.low.Cmp(limit)
	}
	within := below(s.low) >= 0 && (above(s.high) < 0 || s.closed && above(s.high) == 0)
	switch s.prefix {
	case "eq":
		return within
	case "ne":
		return !within
	case "gt":
		return above(s.value) > 0
	case "lt":
		return below(s.value) < 0
	case "ge":
		return above(s.value) >= 0
	case "le":
		return below(s.value) <= 0
	case "sa":
		return below(s.value) > 0
	case "eb":
		return above(s.value) < 0
	case "ap":
		return below(s.high) <= 0 && above(s.low) >= 0
	}
	panic(s.prefix)
}

func askNumber(item fhirpath.Item, value string, whole bool) bool {
	a, ok := amountOf(item)
	return ok && readSought(unescaped(value), whole).against(a)
}

// whollyIntegers says whether all elements of a parameter are integers.
func whollyIntegers(d *definition.SearchParameter, typ string) bool {
	for _, branch := range strings.Split(d.Expression, "|") {
		branch = strings.Trim(branch, " ()")
		if !strings.HasPrefix(branch, typ+".") {
			continue
		}
		at := registry.Type(typ).Root
		var types []definition.TypeRef
		for _, name := range strings.Split(branch, ".")[1:] {
			for _, child := range at.Children {
				if child.Name == name {
					at, types = child, child.Types
				}
			}
		}
		for _, t := range types {
			if t.Code == "decimal" || t.Code == "Range" {
				return false
			}
		}
	}
	return true
}

// unitsOfMeasure are the UCUM units that occur: the dimension, what one is in its
// base unit, and where its zero is.
var unitsOfMeasure = map[string]struct {
	dimension  string
	factor, at *big.Rat
}{
	"g": {"mass", big.NewRat(1, 1), new(big.Rat)}, "kg": {"mass", big.NewRat(1000, 1), new(big.Rat)},
	"mg": {"mass", big.NewRat(1, 1000), new(big.Rat)}, "[lb_av]": {"mass", big.NewRat(45359237, 100000), new(big.Rat)},
	"m": {"length", big.NewRat(1, 1), new(big.Rat)}, "cm": {"length", big.NewRat(1, 100), new(big.Rat)},
	"h": {"time", big.NewRat(3600, 1), new(big.Rat)}, "min": {"time", big.NewRat(60, 1), new(big.Rat)}, "d": {"time", big.NewRat(86400, 1), new(big.Rat)},
	"K": {"heat", big.NewRat(1, 1), new(big.Rat)}, "Cel": {"heat", big.NewRat(1, 1), big.NewRat(27315, 100)},
}

const ucum = "http://unitsofmeasure.org"

func askQuantity(item fhirpath.Item, value string) bool {
	a, ok := amountOf(item)
	if !ok {
		return false
	}
	pieces := split(value, '|')
	s := readSought(unescaped(pieces[0]), false)
	if len(pieces) == 1 {
		return s.against(a)
	}
	system, code := unescaped(pieces[1]), unescaped(pieces[2])
	unit, known := unitsOfMeasure[code]
	if system == ucum && known {
		of, also := unitsOfMeasure[a.code]
		if a.system != ucum || !also || of.dimension != unit.dimension {
			return false
		}
		base := func(r, factor, at *big.Rat) *big.Rat {
			if r == nil {
				return nil
			}
			r = new(big.Rat).Mul(r, factor)
			return r.Add(r, at)
		}
		a.low, a.high = base(a.low, of.factor, of.at), base(a.high, of.factor, of.at)
		s.value, s.low, s.high = base(s.value, unit.factor, unit.at), base(s.low, unit.factor, unit.at), base(s.high, unit.factor, unit.at)
		return s.against(a)
	}
	switch {
	case code == "":
	case system == "" && code != a.code && code != a.unit:
		return false
	case system != "" && (system != a.system || code != a.code):
		return false
	}
	return s.against(a)
}
