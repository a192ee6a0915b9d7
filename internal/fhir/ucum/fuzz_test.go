package ucum

import (
	"errors"
	"strconv"
	"strings"
	"testing"
	"time"
)

// FuzzCanonical: whatever the texts, the answer comes soon, errors are of the
// package, and a canonical value is its own canonical form.
func FuzzCanonical(f *testing.F) {
	for _, unit := range []string{
		"kg.m/s2", "mm[Hg]", "10*3/uL", "/100{WBC}", "Cel", "10.dB[SPL]", "m/(s.(g/m))", "[degF]", "[pH]", "U{25Cel}/L", "((((m))))", "Ym99", "10*999", "m+", "{",
	} {
		f.Add("185.0", unit)
	}
	f.Add("1e1999", "Ym9")
	f.Add("-0", "Cel")
	f.Fuzz(func(t *testing.T, value, unit string) {
		began := time.Now()
		canonical, base, err := Canonical(value, unit)
		if took := time.Since(began); took > time.Second {
			t.Errorf("%s %s took %s", value, unit, took)
		}
		if err != nil {
			var e *Error
			if !errors.As(err, &e) || e.Offset > len(e.Unit) {
				t.Errorf("%q %q: %#v", value, unit, err)
			}
			return
		}
		if again, baseAgain, err := Canonical(canonical, base); len(canonical) < maxMagnitude && len(base) <= maxLength &&
			(err != nil || again != canonical || baseAgain != base) {
			t.Errorf("%s %s is %s %s, and that %s %s, %v", value, unit, canonical, base, again, baseAgain, err)
		}
	})
}

// TestBounds: the costliest texts that are taken are quick, and the cache stays
// small whatever it is asked for.
func TestBounds(t *testing.T) {
	costly := strings.Repeat("(", maxDepth) + strings.Repeat("[lne].", 30) + "m" + strings.Repeat(")", maxDepth)
	digits := strings.Repeat("9", maxMagnitude-1)
	began := time.Now()
	for range 20 {
		p := parser{text: costly, prefixes: load().prefixes, atom: func(code string) *atom { return load().atoms[code] }}
		if _, err := p.parse(); err != nil {
			t.Fatal(err)
		}
		if _, _, err := Canonical(digits, "[lne]8/[mi_us]8"); err != nil {
			t.Fatal(err)
		}
		if _, _, err := Canonical("1e-1999", "[lne]8/[mi_us]8"); err != nil {
			t.Fatal(err)
		}
	}
	if took := time.Since(began) / 20; took > 50*time.Millisecond {
		t.Errorf("a unit and two values took %s", took)
	}
	for i := range 3 * units.size {
		if !Valid("m{" + strconv.Itoa(i) + "}") {
			t.Fatal("no unit")
		}
		if _, err := Parse("kg"); err != nil {
			t.Fatal(err)
		}
	}
	if n := len(units.young) + len(units.old); n > 2*units.size {
		t.Errorf("%d units are kept", n)
	}
	if units.get("kg") == nil || units.get("m{0}") != nil {
		t.Error("what is used is kept, and what is not is forgotten")
	}
}

func BenchmarkCanonical(b *testing.B) {
	for _, c := range [][2]string{{"185.50", "[lb_av]"}, {"72", "/min"}, {"98.6", "[degF]"}} {
		b.Run(c[1], func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if _, _, err := Canonical(c[0], c[1]); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
