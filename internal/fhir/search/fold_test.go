package search

import (
	"testing"

	"pgregory.net/rapid"
)

func TestFold(t *testing.T) {
	for in, want := range map[string]string{
		"":                        "",
		"peter":                   "peter",
		"Peter  James\tChalmers":  "peter james chalmers",
		" O'Brien ":               "obrien",
		"O’Brien":                 "obrien",
		"Rodríguez-López":         "rodriguez lopez",
		"Müller":                  "muller",
		"Weiß":                    "weiss",
		"WEISS":                   "weiss",
		"Łukasz Sørensen":         "lukasz sorensen",
		"ＡＢＣ　１２３":                 "abc 123",
		"U.S.A.":                  "usa",
		"St. John's, Apt. #4":     "st johns apt 4",
		"---":                     "",
		"A+":                      "a+",
		"İstanbul":                "istanbul",
		"Ångström":                "angstrom",
		"김철수":                     "김철수",
		"がぎ":                      "がぎ",
		"हिन्दी":                  "हिन्दी",
		"Ærø":                     "aero",
		"Jos\u00e9 = Jose\u0301":  "jose = jose",
		"a\u00a0b\u2014c\u200bd":  "a b cd",
		"\U0001d400\ufb01\u2460x": "afi1x",
	} {
		if got := Fold(in); got != want {
			t.Errorf("Fold(%q) = %q, want %q", in, got, want)
		}
	}
}

func TestFoldTwiceIsFoldOnce(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := rapid.String().Draw(t, "s")
		once := Fold(s)
		if twice := Fold(once); twice != once {
			t.Fatalf("Fold(%q) = %q, folded again %q", s, once, twice)
		}
	})
}

// The two paths of Fold must agree where both can run.
func TestFoldPathsAgree(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := rapid.StringOfN(rapid.RuneFrom(nil, europe), 0, 20, -1).Draw(t, "s")
		if fast, slow := Fold(s), foldUnicode(s); fast != slow {
			t.Fatalf("%q: fast %q, slow %q", s, fast, slow)
		}
	})
}

func FuzzFold(f *testing.F) {
	f.Add("Rodríguez-López")
	f.Fuzz(func(t *testing.T, s string) {
		once := Fold(s)
		if twice := Fold(once); twice != once {
			t.Fatalf("Fold(%q) = %q, folded again %q", s, once, twice)
		}
	})
}
