package ucum

import (
	"os"
	"strings"
	"testing"

	"github.com/cockroachdb/apd/v3"
	"pgregory.net/rapid"
)

// TestConversions compares with what other implementations calculate.
func TestConversions(t *testing.T) {
	data, err := os.ReadFile("testdata/conversions.tsv")
	if err != nil {
		t.Fatal(err)
	}
	rows := 0
	for line := range strings.Lines(string(data)) {
		f := strings.Split(strings.TrimSpace(line), "\t")
		if strings.HasPrefix(line, "#") || len(f) != 4 {
			continue
		}
		rows++
		got, err := Convert(decimal(t, f[0]), f[1], f[2])
		if err != nil {
			t.Errorf("%s %s in %s: %v", f[0], f[1], f[2], err)
			continue
		}
		if !near(got, decimal(t, f[3]), -11) {
			t.Errorf("%s %s in %s: got %s, want %s", f[0], f[1], f[2], got, f[3])
		}
	}
	if rows < 400 {
		t.Errorf("only %d conversions were found", rows)
	}
}

// near reports whether two values differ by less than 10^exponent of one.
func near(a, b *apd.Decimal, exponent int32) bool {
	var difference, most apd.Decimal
	_, _ = exact.Sub(&difference, a, b)
	_, _ = exact.Mul(&most, b, apd.New(1, exponent))
	return difference.Abs(&difference).Cmp(most.Abs(&most)) <= 0
}

// anyUnit draws a unit that is no special one, by the grammar.
func anyUnit(t *rapid.T, depth int) string {
	table := load()
	var b strings.Builder
	for i := range rapid.IntRange(1, 3).Draw(t, "components") {
		if i > 0 {
			b.WriteString(rapid.SampledFrom([]string{".", "/"}).Draw(t, "operator"))
		}
		switch kind := rapid.IntRange(0, 9).Draw(t, "kind"); {
		case kind == 0 && depth > 0:
			b.WriteString("(" + anyUnit(t, depth-1) + ")")
		case kind == 1:
			b.WriteString(rapid.SampledFrom([]string{"{a}", "7", "10*", "10^-3", "100{b}"}).Draw(t, "other"))
		default:
			a := table.atoms[rapid.SampledFrom(ordinary).Draw(t, "unit")]
			if a.metric {
				b.WriteString(rapid.SampledFrom([]string{"", "k", "m", "u", "da", "Y"}).Draw(t, "prefix"))
			}
			b.WriteString(a.code + rapid.SampledFrom([]string{"", "", "2", "-1", "+3"}).Draw(t, "exponent"))
		}
	}
	return b.String()
}

var ordinary = func() []string {
	var codes []string
	for line := range strings.Lines(text) {
		if f := strings.Split(line, "\t"); f[0] == "unit" && (f[2] == "ratio" || f[2] == "base" || f[2] == "arbitrary") && !strings.HasPrefix(f[1], "10") {
			codes = append(codes, f[1])
		}
	}
	return codes
}()

// TestProperties: what the arithmetic of units promises, for any units.
func TestProperties(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		a, b, c := anyUnit(t, 2), anyUnit(t, 1), anyUnit(t, 1)
		value := apd.New(rapid.Int64Range(-1e9, 1e9).Draw(t, "value"), rapid.Int32Range(-6, 3).Draw(t, "exponent"))
		u, err := Parse(a)
		if err != nil {
			t.Skip("no unit") // out of range: astronomical units to the third power of others
		}
		same := func(what, x, y string) {
			valueX, unitX, errX := Canonical(value.String(), x)
			valueY, unitY, errY := Canonical(value.String(), y)
			if errX == nil && errY == nil && (valueX != valueY || unitX != unitY) {
				t.Fatalf("%s: %s is %s %s, %s is %s %s", what, x, valueX, unitX, y, valueY, unitY)
			}
		}
		same("product", a+".("+b+")", b+".("+a+")")
		same("association", a+".("+b+".("+c+"))", "("+a+".("+b+")).("+c+")")
		same("quotient", a+"/("+b+")/("+c+")", a+"/(("+b+").("+c+"))")
		same("inverse", a+".("+b+")/("+b+")", a)
		same("annotation", "("+a+"){x}", a)

		canonical, unit, err := Canonical(value.String(), a)
		if err != nil {
			t.Fatal(err)
		}
		again, unitAgain, err := Canonical(canonical, unit)
		if err != nil || again != canonical || unitAgain != unit {
			t.Fatalf("%s %s is %s %s, which is %s %s, %v", value, a, canonical, unit, again, unitAgain, err)
		}
		d, _, _ := apd.NewFromString(canonical)
		back, err := Convert(d, unit, a)
		if err != nil || !near(back, value, -32) {
			t.Fatalf("%s %s is %s %s and back %s, %v", value, a, canonical, unit, back, err)
		}
		if !u.Comparable(u) || !Comparable(a, unit) {
			t.Fatalf("%s is not comparable with itself", a)
		}
	})
}

// TestExact: a value converts to another unit and back without loss where the
// factor's decimal expansion ends.
func TestExact(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		pair := rapid.SampledFrom([][2]string{{"[lb_av]", "g"}, {"mm[Hg]", "Pa"}, {"mmol/L", "umol/dL"}, {"Cel", "K"}, {"[in_i]", "cm"}, {"wk", "s"}}).Draw(t, "pair")
		value := apd.New(rapid.Int64().Draw(t, "value"), rapid.Int32Range(-9, 0).Draw(t, "exponent"))
		there, err := Convert(value, pair[0], pair[1])
		if err != nil {
			t.Fatal(err)
		}
		back, err := Convert(there, pair[1], pair[0])
		if err != nil || back.Cmp(value) != 0 {
			t.Fatalf("%s %s is %s %s and back %s, %v", value, pair[0], there, pair[1], back, err)
		}
	})
}
