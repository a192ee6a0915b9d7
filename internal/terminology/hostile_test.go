package terminology

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"starling/internal/fhir"
)

// TestHostile gives compositions made to cost much; each has to be answered or
// refused in bounded time.
func TestHostile(t *testing.T) {
	large := strings.Builder{}
	large.WriteString(`{"resourceType":"CodeSystem","url":"http://large","content":"complete","caseSensitive":true,"concept":[`)
	for i := range 50_000 {
		if i > 0 {
			large.WriteByte(',')
		}
		fmt.Fprintf(&large, `{"code":"c%d","property":[{"code":"parent","valueCode":"c%d"}]}`, i, (i+1)%50_000)
	}
	large.WriteString(`]}`)
	chain := func(n int, of func(next string) string) []string {
		var all []string
		for i := range n {
			all = append(all, set(fmt.Sprintf("http://v/%d", i), of(fmt.Sprintf("http://v/%d", i+1))))
		}
		return all
	}
	once := func(next string) string { return `{"include":[{"valueSet":["` + next + `"]}]}` }
	twice := func(next string) string {
		return `{"include":[{"valueSet":["` + next + `"]},{"valueSet":["` + next + `"]}]}`
	}
	end := func(n int, compose string) string { return set(fmt.Sprintf("http://v/%d", n), compose) }
	const nothing, small = `{"include":[]}`, `{"include":[{"system":"http://x","concept":[{"code":"a"}]}]}`
	ring := chain(10, once)
	ring[9] = end(9, once("http://v/0"))
	for name, c := range map[string]struct {
		texts []string
		code  fhir.IssueType // of the refusal to expand; "" for none
	}{
		"a ring":                 {ring, fhir.IssueInvalid},
		"a long chain":           {append(chain(5000, once), end(5000, small)), fhir.IssueTooCostly},
		"a chain not too long":   {append(chain(50, once), end(50, small)), ""},
		"doubled at every level": {append(chain(60, twice), end(60, nothing)), fhir.IssueTooCostly},
		"doubled, with a code":   {append(chain(60, twice), end(60, small)), fhir.IssueTooCostly},
		"many sets in common":    {[]string{set("http://v/0", `{"include":[{"valueSet":[`+strings.Repeat(`"http://v/1",`, 100_000)+`"http://v/1"]}]}`), end(1, small)}, ""},
		"a hierarchy in circles": {[]string{large.String(), set("http://v/0", `{"include":[{"system":"http://large","filter":[{"property":"concept","op":"descendent-of","value":"c7"}]}]}`)}, fhir.IssueTooCostly},
		"many filters": {[]string{large.String(), set("http://v/0", `{"include":[`+strings.Repeat(
			`{"system":"http://large","filter":[{"property":"concept","op":"is-a","value":"c1"}]},`, 5000)+`{"system":"http://large"}]}`)}, fhir.IssueTooCostly},
		"an expression that explodes":   {[]string{large.String(), set("http://v/0", `{"include":[{"system":"http://large","filter":[{"property":"code","op":"regex","value":"(c*)*(c|cc)*((a{1,100}){1,100})?x"}]}]}`)}, fhir.IssueNotSupported},
		"an expression that backtracks": {[]string{large.String(), set("http://v/0", `{"include":[{"system":"http://large","filter":[{"property":"code","op":"regex","value":"(c+)+(c|cc)*[0-9]*x"}]}]}`)}, ""},
		"a long expression":             {[]string{large.String(), set("http://v/0", `{"include":[{"system":"http://large","filter":[{"property":"code","op":"regex","value":"`+strings.Repeat("(a|b)*", 500)+`"}]}]}`)}, fhir.IssueNotSupported},
	} {
		t.Run(name, func(t *testing.T) {
			x := of(t, c.texts...)
			before := time.Now()
			v, err := x.ValueSet("http://v/0")
			if err == nil {
				_, err = x.Expand(context.Background(), v, Expansion{Count: -1})
			}
			_, _ = x.Member(t.Context(), "http://v/0", "http://x", "b")
			_, _ = x.Member(t.Context(), "http://v/0", "", "b")
			if took := time.Since(before); took > 5*time.Second {
				t.Errorf("took %v", took)
			}
			var failure *fhir.Error
			switch {
			case c.code == "" && err != nil:
				t.Errorf("refused: %v", err)
			case c.code != "" && (!errors.As(err, &failure) || failure.Issues[0].Code != c.code):
				t.Errorf("%v, want %s", err, c.code)
			}
		})
	}
}

func TestExpansionEndsWithItsContext(t *testing.T) {
	x := of(t)
	v, err := x.ValueSet("http://hl7.org/fhir/ValueSet/all-types")
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	e := expander{ctx: ctx, steps: 1023}
	if err := e.each(v, func(*Code) bool { return true }); !errors.Is(err, context.Canceled) {
		t.Errorf("%v", err)
	}
}

// FuzzValueSet gives any composition: it is answered or refused, without a
// fault, and what an expansion has is a member.
func FuzzValueSet(f *testing.F) {
	for _, compose := range []string{
		`{"include":[{"system":"http://zoo","filter":[{"property":"concept","op":"is-a","value":"pet"}]}],"exclude":[{"valueSet":["http://v/it"]}]}`,
		`{"inactive":false,"include":[{"system":"http://zoo","concept":[{"code":"dog"}]},{"valueSet":["http://hl7.org/fhir/ValueSet/administrative-gender"]}]}`,
		`{"include":[{"system":"","concept":[{"code":""}],"filter":[{"property":"code","op":"regex","value":"a{2}"}]}]}`,
		`{"include":null}`, `[]`, `{"include":[{"valueSet":[null,""]}]}`,
	} {
		f.Add(compose)
	}
	base := zoo
	f.Fuzz(func(t *testing.T, compose string) {
		text := set("http://v/it", compose)
		if _, err := newSource([]byte(text)); err != nil {
			t.Skip("no ValueSet")
		}
		x := of(t, base, text)
		v, err := x.ValueSet("http://v/it")
		if err != nil {
			var failure *fhir.Error
			if !errors.As(err, &failure) {
				t.Fatalf("no error for clients: %v", err)
			}
			return
		}
		expanded, err := x.Expand(context.Background(), v, Expansion{Count: 100})
		if err != nil {
			return
		}
		for _, c := range expanded.Codes {
			if c.System != "" && in(x, "http://v/it", c.System, c.Code) != Yes {
				t.Errorf("%s|%s is expanded, but no member", c.System, c.Code)
			}
		}
	})
}

func FuzzCodeSystem(f *testing.F) {
	f.Add(zoo, "dog", "pet")
	f.Add(`{"resourceType":"CodeSystem","concept":[{"property":[{"code":"parent","valueCoding":{"code":1}}]}]}`, "", "")
	f.Fuzz(func(t *testing.T, text, a, b string) {
		s, err := newCodeSystem([]byte(text))
		if err != nil {
			return
		}
		there, err1 := s.Subsumes(a, b)
		back, err2 := s.Subsumes(b, a)
		if (err1 == nil) != (err2 == nil) {
			t.Errorf("%v, %v", err1, err2)
		}
		// In a circle both are above the other; else the answers mirror each other.
		if err1 == nil && there == "equivalent" != (back == "equivalent") || there == "not-subsumed" != (back == "not-subsumed") {
			t.Errorf("%s, %s", there, back)
		}
	})
}

func FuzzCompareVersions(f *testing.F) {
	f.Add("1.10", "1.9")
	f.Add("2021-01", "")
	f.Fuzz(func(t *testing.T, a, b string) {
		if fhir.CompareVersions(a, b) != -fhir.CompareVersions(b, a) || fhir.CompareVersions(a, a) != 0 {
			t.Errorf("%q, %q: %d, %d", a, b, fhir.CompareVersions(a, b), fhir.CompareVersions(b, a))
		}
	})
}
