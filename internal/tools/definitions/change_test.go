package main

import (
	"bytes"
	"testing"
)

func TestChange(t *testing.T) {
	const value = `{"element":[{"path":"A"},{"path":"A.b","min":0},{"path":"A.b.c"},{"path":"A.bc"}],"target":["X","Y"]}`
	for _, test := range []struct{ name, path1, path2, path3, from, to, after, want string }{
		{"a member", "element", "A.b", "min", `0`, `1`, "", `{"element":[{"path":"A"},{"min":1,"path":"A.b"},{"path":"A.b.c"},{"path":"A.bc"}],"target":["X","Y"]}`},
		{"another value than expected", "element", "A.b", "min", `2`, `1`, "", ""},
		{"an element with those below", "element", "A.b", "", "", "", "", `{"element":[{"path":"A"},{"path":"A.bc"}],"target":["X","Y"]}`},
		{"an element that is not there", "element", "A.x", "", "", "", "", ""},
		{"a new element", "element", "A.d", "", "", `{"path":"A.d"}`, "A", `{"element":[{"path":"A"},{"path":"A.d"},{"min":0,"path":"A.b"},{"path":"A.b.c"},{"path":"A.bc"}],"target":["X","Y"]}`},
		{"a new element after none", "element", "A.d", "", "", `{"path":"A.d"}`, "B", ""},
		{"an item", "target", "X", "", "", "", "", `{"element":[{"path":"A"},{"min":0,"path":"A.b"},{"path":"A.b.c"},{"path":"A.bc"}],"target":["Y"]}`},
		{"below a value", "target", "X", "y", "", `1`, "", ""},
	} {
		o, err := decode([]byte(value))
		if err != nil {
			t.Fatal(err)
		}
		var path []string
		for _, p := range []string{test.path1, test.path2, test.path3} {
			if p != "" {
				path = append(path, p)
			}
		}
		from, err1 := decodeValue(raw(test.from))
		to, err2 := decodeValue(raw(test.to))
		if err1 != nil || err2 != nil {
			t.Fatal(err1, err2)
		}
		got, err := (&change{from: from, to: to, after: test.after}).apply(o, path)
		if (err != nil) != (test.want == "") {
			t.Errorf("%s: %v", test.name, err)
			continue
		}
		if want, _ := decode([]byte(test.want)); err == nil && len(diff(nil, got, want)) > 0 {
			t.Errorf("%s: %v", test.name, diff(nil, got, want))
		}
	}
}

func raw(s string) []byte {
	if s == "" {
		return nil
	}
	return []byte(s)
}

func TestPackAndUnpack(t *testing.T) {
	lines := []byte("{\"source\":\"test\"}\n")
	for range 3000 {
		lines = append(lines, "{\"resourceType\":\"ValueSet\",\"url\":\"http://example.org/ValueSet/x\",\"version\":\"1\",\"name\":\"x\"}\n"...)
	}
	packed, err := pack(lines)
	if err != nil {
		t.Fatal(err)
	}
	got, err := unpack(packed)
	if err != nil || !bytes.Equal(got, lines) {
		t.Errorf("%d bytes of %d: %v", len(got), len(lines), err)
	}
}
