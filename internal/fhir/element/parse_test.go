package element_test

import (
	"testing"

	"starling/internal/fhir/element"
)

func TestParseKeepsNumberText(t *testing.T) {
	tree, err := element.Parse([]byte(`{"a":[1.10,{"b":"x\u00e9\n"}],"c":null}`), element.DefaultLimits)
	if err != nil {
		t.Fatal(err)
	}
	root := tree.Root()
	if got := root.Get("a").At(0).Literal(); got != "1.10" {
		t.Errorf("number = %q", got)
	}
	if got := root.Get("a").At(1).Get("b").Str(); got != "xé\n" {
		t.Errorf("string = %q", got)
	}
	if root.Len() != 2 || root.Get("c").Kind() != element.Null || root.Get("d").Exists() {
		t.Error("members wrong")
	}
}

func TestParseRefuses(t *testing.T) {
	for _, text := range []string{
		``, `{`, `{"a":1,"a":2}`, `{"a":1,"\u0061":2}`, `01`, `1.`, `.5`, `+1`, `1e`, `1e1001`, `-`, `nul`,
		"\"\x01\"", `"\ud800"`, `"\udc00\ud800"`, `"\u0000"`, `"\x"`, "\"\xff\"", `[1,]`, `{"a":1,}`, `{a:1}`, `1 2`, "\ufeff{}",
	} {
		if _, err := element.Parse([]byte(text), element.DefaultLimits); err == nil {
			t.Errorf("%q was accepted", text)
		}
	}
}
