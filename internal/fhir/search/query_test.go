package search

import (
	"strings"
	"testing"

	"pgregory.net/rapid"
)

func TestSplitName(t *testing.T) {
	for in, want := range map[string]queryParameter{
		"code":                          {code: "code"},
		"code:not":                      {code: "code", modifier: "not"},
		"subject.name":                  {code: "subject", chain: "name"},
		"subject:Patient.name:exact":    {code: "subject", modifier: "Patient", chain: "name:exact"},
		"a.b.c:d":                       {code: "a", chain: "b.c:d"},
		"_has:Observation:patient:code": {code: "_has", modifier: "Observation:patient:code"},
		"_has:Observation:patient:_has:AuditEvent:entity:x": {code: "_has", modifier: "Observation:patient:_has:AuditEvent:entity:x"},
		"":  {},
		":": {},
	} {
		want.name = in
		if got := splitName(in); got != want {
			t.Errorf("%q: %+v, want %+v", in, got, want)
		}
	}
}

// Whatever values are joined with their separators escaped come apart as they
// were.
func TestEscapesRoundTrip(t *testing.T) {
	escape := strings.NewReplacer(`\`, `\\`, `,`, `\,`, `|`, `\|`, `$`, `\$`)
	rapid.Check(t, func(t *rapid.T) {
		values := rapid.SliceOfN(rapid.StringOf(rapid.SampledFrom([]rune(`ab,|$\`))), 1, 5).Draw(t, "values")
		escaped := make([]string, len(values))
		for i, v := range values {
			escaped[i] = escape.Replace(v)
		}
		separator := rapid.SampledFrom([]string{",", "|", "$"}).Draw(t, "separator")
		got := splitEscaped(strings.Join(escaped, separator), separator[0])
		if len(got) != len(values) {
			t.Fatalf("%q: %q", values, got)
		}
		for i := range got {
			if unescape(got[i]) != values[i] {
				t.Fatalf("%q: %q", values, got)
			}
		}
	})
}

func TestParseQueryIsBounded(t *testing.T) {
	if _, err := parseQuery(strings.Repeat("a=b&", maxParameters+1)); err == nil {
		t.Error("too many parameters were accepted")
	}
	if _, err := r4.PlanConditional("Patient", "identifier="+strings.Repeat("a,", maxChoices+1), base); err == nil {
		t.Error("too many values were accepted")
	}
}
