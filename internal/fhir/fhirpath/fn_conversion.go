package fhirpath

import (
	"strconv"
	"strings"

	"github.com/cockroachdb/apd/v3"
)

// http://hl7.org/fhirpath/N1/#conversion
var conversionFunctions = map[string]function{
	"toBoolean":         converter(toBoolean),
	"convertsToBoolean": converts(toBoolean),
	"toInteger":         converter(toInteger),
	"convertsToInteger": converts(toInteger),
	"toDecimal":         converter(toDecimal),
	"convertsToDecimal": converts(toDecimal),
	"toString": onItem(func(r *run, item Item) error {
		if item.isPrimitive() && item.hasValue() && item.Decimal() == nil {
			return r.pushValue(item.Text()) // a date as it was written
		}
		if value := toString(item.system()); value != nil {
			return r.pushValue(value)
		}
		return nil
	}),
	"convertsToString":   converts(toString),
	"toDate":             converter(toDate),
	"convertsToDate":     converts(toDate),
	"toDateTime":         converter(toDateTime),
	"convertsToDateTime": converts(toDateTime),
	"toTime":             converter(toTime),
	"convertsToTime":     converts(toTime),
	"toQuantity":         {0, 1, compileToQuantity},
	"convertsToQuantity": {0, 1, compileConvertsToQuantity},
}

// conversion gives the converted system value, nil if it does not convert.
type conversion func(value any) any

func converter(convert conversion) function {
	return onItem(func(r *run, item Item) error {
		if value := convert(item.system()); value != nil {
			return r.pushValue(value)
		}
		return nil
	})
}

func converts(convert conversion) function {
	return onItem(func(r *run, item Item) error {
		return r.pushValue(convert(item.system()) != nil)
	})
}

func toBoolean(value any) any {
	switch v := value.(type) {
	case bool:
		return v
	case int64:
		if v == 0 || v == 1 {
			return v == 1
		}
	case *apd.Decimal:
		if v.IsZero() || v.Cmp(apd.New(1, 0)) == 0 {
			return !v.IsZero()
		}
	case string:
		switch strings.ToLower(v) {
		case "true", "t", "yes", "y", "1", "1.0":
			return true
		case "false", "f", "no", "n", "0", "0.0":
			return false
		}
	}
	return nil
}

func toInteger(value any) any {
	switch v := value.(type) {
	case int64:
		return v
	case bool:
		if v {
			return int64(1)
		}
		return int64(0)
	case string:
		if n, err := strconv.ParseInt(v, 10, 32); err == nil {
			return n
		}
	}
	return nil
}

func toDecimal(value any) any {
	switch v := value.(type) {
	case int64:
		return apd.New(v, 0)
	case *apd.Decimal:
		return v
	case bool:
		if v {
			return apd.New(1, 0)
		}
		return apd.New(0, 0)
	case string:
		if isDecimalText(v) {
			if d, ok := parseDecimal(strings.TrimPrefix(v, "+")); ok {
				return d
			}
		}
	}
	return nil
}

// isDecimalText is (\+|-)?\d+(\.\d+)?
func isDecimalText(s string) bool {
	if s != "" && (s[0] == '+' || s[0] == '-') {
		s = s[1:]
	}
	whole, fraction, point := strings.Cut(s, ".")
	return allDigits(whole) && (!point || allDigits(fraction))
}

func allDigits(s string) bool {
	for i := range len(s) {
		if !isDigit(s[i]) {
			return false
		}
	}
	return s != ""
}

func toString(value any) any {
	switch value.(type) {
	case nil, typeInfo:
		return nil
	}
	return systemText(value)
}

func toDate(value any) any {
	switch v := value.(type) {
	case *Temporal:
		if v.Kind != KindTime {
			return v.asDate()
		}
	case string:
		if t, ok := ParseTemporal(v); ok {
			return t.asDate()
		}
	}
	return nil
}

func toDateTime(value any) any {
	switch v := value.(type) {
	case *Temporal:
		if v.Kind != KindTime {
			return v.asDateTime()
		}
	case string:
		if t, ok := ParseTemporal(v); ok {
			return t.asDateTime()
		}
	}
	return nil
}

func toTime(value any) any {
	switch v := value.(type) {
	case *Temporal:
		if v.Kind == KindTime {
			return v
		}
	case string:
		if t, ok := parseTime(strings.TrimPrefix(v, "T")); ok {
			return t
		}
	}
	return nil
}
