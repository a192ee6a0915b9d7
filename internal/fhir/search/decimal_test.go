package search

import (
	"math/big"
	"testing"

	"pgregory.net/rapid"
)

func TestDecimalInterval(t *testing.T) {
	for in, want := range map[string][2]string{
		"100":                              {"99.5", "100.5"},
		"100.00":                           {"99.995", "100.005"},
		"1e2":                              {"95", "105"},
		"1E+2":                             {"95", "105"},
		"0":                                {"-0.5", "0.5"},
		"0.1":                              {"0.05", "0.15"},
		"-5.4":                             {"-5.45", "-5.35"},
		"72.5":                             {"72.45", "72.55"},
		"0.0010":                           {"0.00095", "0.00105"},
		"+3":                               {"2.5", "3.5"},
		"007":                              {"6.5", "7.5"},
		"1e-3":                             {"0.00095", "0.00105"},
		"1e1000":                           {"95e998", "105e998"},
		"1e-1000":                          {"95e-1002", "105e-1002"},
		"123456789012345678901234567890.5": {"123456789012345678901234567890.45", "123456789012345678901234567890.55"},
	} {
		d, ok := parseDecimal(in)
		if low, high := d.interval(); !ok || low != want[0] || high != want[1] {
			t.Errorf("%s: [%s, %s), %v, want %v", in, low, high, ok, want)
		}
	}
	for _, in := range []string{"", "-", "+", ".", "1.", ".5", "1e", "e1", "1e1001", "1e-1001", "0x1", "1_0", "--1", "+-1", "1 ", "NaN", "Inf", "1e1e1", "1,0", "1E1e1"} {
		if d, ok := parseDecimal(in); ok {
			t.Errorf("parseDecimal(%q) = %v", in, d)
		}
	}
}

func TestDecimalTenth(t *testing.T) {
	for in, want := range map[string][2]string{"100": {"90.0", "110.0"}, "-100": {"-110.0", "-90.0"}, "0": {"0.0", "0.0"}, "1.5": {"1.35", "1.65"}} {
		d, _ := parseDecimal(in)
		if low, high := d.tenth(); low != want[0] || high != want[1] {
			t.Errorf("%s: [%s, %s], want %v", in, low, high, want)
		}
	}
}

// A decimal printed is the same number, and lies in the middle of its interval.
func TestDecimalKeepsValue(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		text := rapid.StringMatching(`-?(0|[1-9][0-9]{0,24})(\.[0-9]{1,20})?([eE][+-]?[0-9]{1,2})?`).Draw(t, "text")
		d, ok := parseDecimal(text)
		want, _ := new(big.Rat).SetString(text)
		if got, _ := new(big.Rat).SetString(d.String()); !ok || got == nil || got.Cmp(want) != 0 {
			t.Fatalf("%s printed as %s", text, d)
		}
		low, high := d.interval()
		l, _ := new(big.Rat).SetString(low)
		h, _ := new(big.Rat).SetString(high)
		if middle := new(big.Rat).Add(l, h); middle.Cmp(new(big.Rat).Add(want, want)) != 0 || l.Cmp(h) >= 0 {
			t.Fatalf("%s: [%s, %s)", text, low, high)
		}
	})
}
