package element_test

import (
	"errors"
	"strconv"
	"strings"
	"testing"
	"time"

	"starling/internal/fhir/element"
)

func parse(t testing.TB, text string) element.Node {
	t.Helper()
	tree, err := element.Parse([]byte(text), element.DefaultLimits)
	if err != nil {
		t.Fatalf("%.80q: %v", text, err)
	}
	return tree.Root()
}

func TestParseKeepsText(t *testing.T) {
	root := parse(t, `{"a":[1.10,{"b":"x\u00e9\n\ud83d\ude00"}],"c":null,"\u0064":[true,false],"é":{}}`)
	if got := root.Get("a").At(0).Literal(); got != "1.10" {
		t.Errorf("number = %q", got)
	}
	if got := root.Get("a").At(1).Get("b").Str(); got != "xé\n😀" {
		t.Errorf("string = %q", got)
	}
	if root.Len() != 4 || root.IsEmpty() || !root.Get("é").IsEmpty() || !root.Get("x").IsEmpty() || !root.Get("c").IsEmpty() || root.Get("c").Kind() != element.Null || root.Get("x").Exists() {
		t.Error("members wrong")
	}
	if d := root.Get("d"); d.Name() != "d" || d.At(0).Kind() != element.True || d.At(1).Literal() != "false" || d.At(2).Exists() {
		t.Error("escaped name or its items wrong")
	}
	if e := root.Get("é"); e.Kind() != element.Object || e.Len() != 0 || string(e.Raw()) != "{}" {
		t.Error("empty object wrong")
	}
}

func TestParseAccepts(t *testing.T) {
	for _, text := range []string{
		` {} `, "\t[\r\n1 , 2]", `""`, `0`, `-0`, `-0.0e+10`, `1E1000`, `1e-1000`, `123456789012345678901234567890.10`,
		`"\"\\\/\b\f\n\r\t\u0001\uFFFF"`, `"😀 \ud83d\ude00"`, "\"\u007f\u0080\u2028\ufeff\"", `{"":0}`, `[[],{},null,true,false]`,
		`{"a":1,"A":1,"ab":1,"ba":1,"aa":1}`, strings.Repeat(`[`, 100) + strings.Repeat(`]`, 100),
	} {
		if _, err := element.Parse([]byte(text), element.DefaultLimits); err != nil {
			t.Errorf("%q: %v", text, err)
		}
	}
}

func TestParseRefuses(t *testing.T) {
	for _, test := range []struct {
		text, message string
		line, column  int
	}{
		{``, `expected a value, found end of document`, 1, 1},
		{` `, `expected a value, found end of document`, 1, 2},
		{`{`, `expected a member name in quotes, found end of document`, 1, 2},
		{"\ufeff{}", `expected a value, found '\ufeff'`, 1, 1},
		{`{"a":1,"a":2}`, `the name "a" stands twice`, 1, 8},
		{`{"a":1,"\u0061":2}`, `the name "a" stands twice`, 1, 8},
		{`{"\u0061":1,"b":{"a":2},"a":2}`, `the name "a" stands twice`, 1, 25},
		{`{"` + strings.Repeat("x", 200) + `":1,"` + strings.Repeat("x", 200) + `":2}`, `the name "` + strings.Repeat("x", 80) + `" stands twice`, 1, 207},
		{`{"":1,"":2}`, `the name "" stands twice`, 1, 7},
		{`{"a":1,}`, `expected a member name in quotes, found '}'`, 1, 8},
		{`{a:1}`, `expected a member name in quotes, found 'a'`, 1, 2},
		{`{"a" 1}`, `expected : after a member name, found '1'`, 1, 6},
		{`{"a":}`, `expected a value, found '}'`, 1, 6},
		{`{"a":1 "b":2}`, `expected , or } in an object, found '"'`, 1, 8},
		{`{"a":1]`, `expected , or } in an object, found ']'`, 1, 7},
		{`[1,]`, `expected a value, found ']'`, 1, 4},
		{`[1 2]`, `expected , or ] in an array, found '2'`, 1, 4},
		{`[1`, `expected , or ] in an array, found end of document`, 1, 3},
		{`1 2`, `expected the document's end, found '2'`, 1, 3},
		{"[1,\n 2,\n\té]", `expected a value, found 'é'`, 3, 2},
		{`nul`, `expected a value, found 'n'`, 1, 1},
		{`TRUE`, `expected a value, found 'T'`, 1, 1},
		{`NaN`, `expected a value, found 'N'`, 1, 1},
		{`// x`, `expected a value, found '/'`, 1, 1},
		{"{\"a\":\f1}", `expected a value, found '\f'`, 1, 6},

		{`01`, `a number must not begin with 0`, 1, 1},
		{`-01`, `a number must not begin with 0`, 1, 2},
		{`1.`, `expected a digit after the decimal point, found end of document`, 1, 3},
		{`.5`, `expected a value, found '.'`, 1, 1},
		{`+1`, `expected a value, found '+'`, 1, 1},
		{`-`, `expected a digit, found end of document`, 1, 2},
		{`-a`, `expected a digit, found 'a'`, 1, 2},
		{`1e`, `expected a digit in the exponent, found end of document`, 1, 3},
		{`1e+x`, `expected a digit in the exponent, found 'x'`, 1, 4},
		{`1e1001`, `the exponent is over 1000`, 1, 3},
		{`[1E-99999999999999999999]`, `the exponent is over 1000`, 1, 5},
		{`0x1`, `expected the document's end, found 'x'`, 1, 2},
		{strings.Repeat("1", 1001), `a number of more than 1000 characters`, 1, 1},

		{`"abc`, `the string that begins here does not end`, 1, 1},
		{`"abc\"`, `the string that begins here does not end`, 1, 1},
		{`"abc\`, `unfinished escape`, 1, 5},
		{"\"\x01\"", `control character U+0001`, 1, 2},
		{"\"0123456789\n\"", `control character U+000A`, 1, 12},
		{`"\x"`, `unknown escape: a backslash before 'x'`, 1, 2},
		{`"\u12g4"`, `\u needs four hexadecimal digits`, 1, 2},
		{`"\u12`, `\u needs four hexadecimal digits`, 1, 2},
		{`"\u0000"`, `U+0000 is not allowed`, 1, 2},
		{`"\ud800"`, `lone surrogate \ud800`, 1, 2},
		{`"\ud800\n"`, `lone surrogate \ud800`, 1, 2},
		{`"\ud800\u0041"`, `lone surrogate \ud800`, 1, 2},
		{`"\udc00\ud800"`, `lone surrogate \udc00`, 1, 2},
		{`{"\ud800":1}`, `lone surrogate \ud800`, 1, 3},

		{"\"\xff\"", `invalid UTF-8`, 1, 2},
		{"{\n\"é\": \"ü\xc3\"}", `invalid UTF-8`, 2, 8},
		{"[\"\xed\xa0\x80\"]", `invalid UTF-8`, 1, 3}, // a surrogate
		{"\"\xc0\xaf\"", `invalid UTF-8`, 1, 2},       // overlong
		{"\"\xf4\x90\x80\x80\"", `invalid UTF-8`, 1, 2},
		{"\"01234567\xe2\x82", `invalid UTF-8`, 1, 10},
		{"{}\xff", `invalid UTF-8`, 1, 3},

		{strings.Repeat(`[`, 101), `nested more than 100 levels deep`, 1, 101},
		{strings.Repeat(`{"a":`, 101), `nested more than 100 levels deep`, 1, 501},
	} {
		_, err := element.Parse([]byte(test.text), element.DefaultLimits)
		var fault *element.SyntaxError
		if !errors.As(err, &fault) {
			t.Errorf("%.80q: error = %v", test.text, err)
			continue
		}
		if !strings.HasPrefix(fault.Message, test.message) {
			t.Errorf("%.80q: message = %q; want %q", test.text, fault.Message, test.message)
		}
		if fault.Line != test.line || fault.Column != test.column {
			t.Errorf("%.80q: at line %d, column %d; want %d, %d", test.text, fault.Line, fault.Column, test.line, test.column)
		}
		if fault.TooLarge {
			t.Errorf("%.80q: too large", test.text)
		}
	}
}

func TestParseRefusesRepeatedNamesInLargeObjects(t *testing.T) {
	names := make([]string, 200)
	for i := range names {
		names[i] = `"name` + strconv.Itoa(i) + `":{"name0":1}`
	}
	if root := parse(t, "{"+strings.Join(names, ",")+"}"); root.Len() != len(names) {
		t.Errorf("%d members; want %d", root.Len(), len(names))
	}
	for size := 1; size <= len(names); size += 3 {
		for _, repeated := range []int{0, size / 2, size - 1} {
			text := "{" + strings.Join(names[:size], ",") + `,"nam\u0065` + strconv.Itoa(repeated) + `":1}`
			if _, err := element.Parse([]byte(text), element.DefaultLimits); err == nil {
				t.Errorf("name %d of %d was accepted twice", repeated, size)
			}
		}
	}
}

func TestParseLimits(t *testing.T) {
	for _, test := range []struct {
		name, text string
		limits     element.Limits
		tooLarge   bool
	}{
		{"size", `[1,2,3]`, element.Limits{Depth: 1, Size: 6}, true},
		{"nodes", `[1,2,3]`, element.Limits{Depth: 1, Size: 7, Nodes: 3}, true},
		{"depth", `[[]]`, element.Limits{Depth: 1, Size: 7}, false},
	} {
		_, err := element.Parse([]byte(test.text), test.limits)
		var fault *element.SyntaxError
		if !errors.As(err, &fault) || fault.TooLarge != test.tooLarge {
			t.Errorf("%s: error = %v", test.name, err)
		}
	}
	if _, err := element.Parse([]byte(`[1,2,3]`), element.Limits{Depth: 1, Size: 7, Nodes: 4}); err != nil {
		t.Errorf("within the limits: %v", err)
	}
}

func TestParseHostile(t *testing.T) {
	limits := element.Limits{Depth: 100, Size: 64 << 20, Nodes: 2 << 20}
	var members strings.Builder
	for i := range 100_000 {
		members.WriteString(`,"` + strconv.Itoa(i) + `":0`)
	}
	for _, test := range []struct {
		name, text string
		accepted   bool
	}{
		{"10,000 arrays deep", strings.Repeat("[", 10_000) + strings.Repeat("]", 10_000), false},
		{"10,000 objects deep", strings.Repeat(`{"a":`, 10_000), false},
		{"a megabyte of one string", `"` + strings.Repeat("x", 1<<20) + `"`, true},
		{"a megabyte of escapes", `"` + strings.Repeat(`\\`, 1<<19) + `"`, true},
		{"a megabyte of quotes that do not end", strings.Repeat(`\"`, 1<<19), false},
		{"a megabyte of digits", strings.Repeat("1", 1<<20), false},
		{"a megabyte of a name", `{"` + strings.Repeat("x", 1<<20) + `":1}`, false},
		{"a megabyte of white space", strings.Repeat(" ", 1<<20), false},
		{"100,000 members", "{" + members.String()[1:] + "}", true},
		{"a million items", "[0" + strings.Repeat(",0", 1_000_000) + "]", true},
		{"three million items", "[0" + strings.Repeat(",0", 3_000_000) + "]", false},
		{"a megabyte of line feeds before a fault", strings.Repeat("\n", 1<<20) + "x", false},
	} {
		start := time.Now()
		_, err := element.Parse([]byte(test.text), limits)
		if took := time.Since(start); took > 20*time.Second {
			t.Errorf("%s: took %v", test.name, took)
		}
		if (err == nil) != test.accepted {
			t.Errorf("%s: error = %v", test.name, err)
		}
	}
}

func TestParseAllocatesNothingANode(t *testing.T) {
	document := func(items int) []byte {
		item := `{"system":"http://example.org/é","\u0061":[1.50,true,null],"text":"line\none"}`
		return []byte("[" + strings.Repeat(item+",", items-1) + item + "]")
	}
	for _, items := range []int{1, 10, 1000} {
		text := document(items)
		allocations := testing.AllocsPerRun(10, func() {
			if _, err := element.Parse(text, element.DefaultLimits); err != nil {
				t.Fatal(err)
			}
		})
		// The tree, its nodes, and the growth of decoded names.
		if allocations > 2+12 {
			t.Errorf("%d items: %v allocations", items, allocations)
		}
	}
	if allocations := testing.AllocsPerRun(10, func() { _, _ = element.Parse(observation, element.DefaultLimits) }); allocations != 2 {
		t.Errorf("an Observation: %v allocations; want 2", allocations)
	}
}
