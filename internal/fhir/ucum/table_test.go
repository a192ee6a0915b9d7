package ucum

import (
	"strings"
	"testing"
)

// TestTable: every unit of the table stands for itself, and no text means two
// things.
func TestTable(t *testing.T) {
	table := load()
	if len(table.atoms) != 312 || len(table.prefixes) != 24 {
		t.Errorf("%d units and %d prefixes", len(table.atoms), len(table.prefixes))
	}
	used := map[*function]bool{}
	meaning := map[string]string{}
	for code, a := range table.atoms {
		meaning[code] = "a unit"
		if !Valid(code) {
			t.Errorf("%s does not parse", code)
		}
		used[a.function] = true
	}
	for name, f := range functions {
		if !used[f] {
			t.Errorf("no unit has the function %s", name)
		}
	}
	for prefix := range table.prefixes {
		for code, a := range table.atoms {
			if !a.metric {
				continue
			}
			text := prefix + code
			if other, ok := meaning[text]; ok {
				t.Errorf("%s is %s, and %s with the prefix %s", text, other, code, prefix)
			}
			meaning[text] = prefix + " " + code
			if u, err := Parse(text); err != nil || u.dimension != a.dimension.String() {
				t.Errorf("%s: %v, %v", text, u, err)
			}
		}
	}
}

// TestNotice: the licence of UCUM asks for its notice.
func TestNotice(t *testing.T) {
	if !strings.Contains(text, "UCUM is copyright (c) 1999-2024, Regenstrief") || !strings.Contains(text, "http://ucum.org/license") {
		t.Error("the file has no copyright notice")
	}
}

func TestBadTables(t *testing.T) {
	for text, want := range map[string]string{
		"unit\ta\tratio\t-\t1\tb\nunit\tb\tratio\t-\t1\ta\n": "defined by itself",
		"unit\ta\tratio\t-\t1\tx\n":                          "unknown unit 'x'",
		"unit\ta\tratio\t-\tx\t1\n":                          "unexpected definition",
		"unit\ta\tf\t-\t1\t1\n":                              "unknown function f",
		"prefix\tk\tx\n":                                     "no number",
		"nonsense\n":                                         "unexpected line",
	} {
		if _, err := read(text); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: got %v, want %s", text, err, want)
		}
	}
}
