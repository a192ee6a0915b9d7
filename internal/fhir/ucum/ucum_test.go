package ucum

import (
	"strings"
	"testing"

	"github.com/cockroachdb/apd/v3"
)

func decimal(t testing.TB, text string) *apd.Decimal {
	t.Helper()
	d, _, err := apd.NewFromString(text)
	if err != nil {
		t.Fatal(err)
	}
	return d
}

func TestCanonical(t *testing.T) {
	for _, c := range [][4]string{
		{"1", "m", "1", "m"},
		{"185.00", "[lb_av]", "83914.58845", "g"},
		{"5.40", "mmol/L", "3251956.0104E+18", "m-3"},
		{"120", "mm[Hg]", "15998640", "g.m-1.s-2"},
		{"60", "/min", "1", "s-1"},
		{"70", "/min", "1.166666666666666666666666666666667", "s-1"},
		{"37", "Cel", "310.15", "K"},
		{"98.6", "[degF]", "310.15", "K"},
		{"-273.15", "Cel", "0", "K"},
		{"29.6", "[degRe]", "310.15", "K"},
		{"3700", "cCel", "310.15", "K"},
		{"3.7", "10.Cel", "310.15", "K"},
		{"7.40", "[pH]", "7.4", "[pH]"},
		{"30", "dB", "3", "B"},
		{"30", "dB[SPL]", "3", "B[SPL]"},
		{"2", "10*3.[IU]/mL", "2000000000", "[iU].m-3"},
		{"4", "10*3/uL", "4000000000000", "m-3"},
		{"50", "%", "0.5", "1"},
		{"3", "{RBC}/[HPF]", "3", "1"},
		{"5", "/100{WBC}", "0.05", "1"},
		{"-0.0", "kg", "0", "g"},
		{"1", "kg.m/s2", "1000", "g.m.s-2"},
		{"1", "J/s", "1000", "g.m2.s-3"},
		{"1", "m0", "1", "1"},
		{"1", "KiBy", "8192", "1"},
		{"1", "m/(s.(g/m))", "1", "g-1.m2.s-1"},
		{"1e3", "10^-3.m", "1", "m"},
		{"180", "deg", "3.141592653589793238462643383279503", "rad"},
	} {
		value, unit, err := Canonical(c[0], c[1])
		if err != nil {
			t.Errorf("%s %s: %v", c[0], c[1], err)
			continue
		}
		if want := decimal(t, c[2]).Text('f'); value != want || unit != c[3] {
			t.Errorf("%s %s: got %s %s, want %s %s", c[0], c[1], value, unit, want, c[3])
		}
	}
}

func TestConvert(t *testing.T) {
	for _, c := range [][4]string{
		{"1", "[in_i]", "cm", "2.54"},
		{"2.54", "cm", "[in_i]", "1"},
		{"1", "cm", "[in_i]", "0.3937007874015748031496062992125984"},
		{"100", "Cel", "[degF]", "212"},
		{"-40", "[degF]", "Cel", "-40"},
		{"310.15", "K", "Cel", "37"},
		{"7", "[pH]", "mol/l", "0.0000001"},
		{"0.001", "mol/L", "[pH]", "3"},
		{"20", "dB", "1", "100"},
		{"100", "1", "dB", "20"},
		{"1", "Np", "1", "2.718281828459"},
		{"2", "B[V]", "V", "10"},
		{"20", "dB[mV]", "mV", "10"},
		{"4", "bit_s", "1", "16"},
		{"100", "[p'diop]", "deg", "45"},
		{"100", "%[slope]", "deg", "45"},
		{"2", "[hp'_C]", "1", "0.0001"},
		{"3", "[m/s2/Hz^(1/2)]", "m2/s3", "9"},
		{"1", "[IU]", "[iU]", "1"},
		{"1", "mol", "mmol", "1000"},
		{"1", "meq/L", "mmol/l", "1"},
	} {
		got, err := Convert(decimal(t, c[0]), c[1], c[2])
		if err != nil {
			t.Errorf("%s %s in %s: %v", c[0], c[1], c[2], err)
		} else if got.Text('f') != c[3] {
			t.Errorf("%s %s in %s: got %s, want %s", c[0], c[1], c[2], got.Text('f'), c[3])
		}
	}
	for _, c := range [][3]string{
		{"1", "m", "s"},
		{"1", "[iU]", "1"},
		{"1", "[iU]", "[arb'U]"},
		{"1", "m", "nonsense"},
		{"1", "nonsense", "m"},
		{"-1", "mol/l", "[pH]"},
		{"1e9", "[pH]", "mol/l"},
		{"1e3000", "m", "cm"},
		{"NaN", "m", "cm"},
	} {
		if got, err := Convert(decimal(t, c[0]), c[1], c[2]); err == nil {
			t.Errorf("%v: got %s, want an error", c, got)
		}
	}
}

func TestNoUnit(t *testing.T) {
	for text, want := range map[string]string{
		"":                        "a unit is not empty",
		"Meter":                   "column 1: unknown unit 'Meter'",
		"2m":                      "column 2: unexpected 'm'",
		"m2s":                     "column 3: unexpected 's'",
		"m.":                      "column 3: a unit is missing",
		"m//s":                    "column 3: unexpected '/'",
		"(/m)":                    "column 2: unexpected '/'",
		"(m":                      "column 1: the bracket is not closed",
		"m)":                      "column 2: unexpected ')'",
		"(m/s)2":                  "column 6: unexpected '2'",
		"m{a}{b}":                 "column 5: unexpected '{'",
		"m{a":                     "column 2: the annotation is not closed",
		"m{a{b}}":                 "column 2: the annotation is not closed",
		"{a}m":                    "column 4: unexpected 'm'",
		"m s":                     "column 1: unknown unit 'm s'",
		"m{a\tb}":                 "column 4: units have visible ASCII characters alone",
		"µg":                      "column 1: units have visible ASCII characters alone",
		"0":                       "column 1: a number in a unit is positive",
		"1234567890123456789":     "column 1: a number in a unit is positive",
		"m+":                      "column 2: an exponent is missing",
		"m1000":                   "column 2: an exponent has at most 3 digits",
		"k[in_i]":                 "unknown unit 'k[in_i]'",
		"kkg":                     "unknown unit 'kkg'",
		"[in_i":                   "column 1: unexpected '['",
		"Cel/min":                 "column 4: 'Cel' cannot be multiplied",
		"Cel2":                    "column 1: 'Cel' cannot be multiplied",
		"/Cel":                    "column 1: 'Cel' cannot be multiplied",
		"m.Cel":                   "column 2: 'Cel' cannot be multiplied",
		"Ym99":                    "column 1: the unit is out of range",
		"m999.m":                  "column 5: the unit is out of range",
		"[c]99":                   "out of range",
		strings.Repeat("(", 20):   "column 17: too many brackets",
		strings.Repeat("m.", 200): "it is too long",
	} {
		_, err := Parse(text)
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: got %v, want %s", text, err, want)
		}
	}
}

func TestCombine(t *testing.T) {
	for _, c := range [][4]string{
		{"cm", ".", "m", "cm.m"},
		{"g", "/", "m", "g/m"},
		{"g", "/", "m.s", "g/(m.s)"},
		{"g/m", ".", "/s", "g/m.(1/s)"},
		{"g", "/", "/s", "g/(1/s)"},
		{"/s", ".", "{a}", "/s.{a}"},
		{"Cel", "/", "m", ""},
		{"m", ".", "Cel", ""},
		{"x", "/", "m", ""},
		{"m", "/", "x", ""},
	} {
		f := Multiply
		if c[1] == "/" {
			f = Divide
		}
		got, err := f(c[0], c[2])
		if got != c[3] || (err != nil) != (c[3] == "") {
			t.Errorf("%v: got %s, %v", c, got, err)
		}
	}
}
