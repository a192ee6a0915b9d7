package element_test

import (
	"bytes"
	"encoding/json/jsontext"
	"errors"
	"io"
	"strings"
	"testing"

	"starling/internal/fhir/element"
)

// extraRefusals begin the messages of faults that jsontext lets pass.
var extraRefusals = []string{"U+0000 is not allowed", "the exponent is over", "a number of more than", "nested more than", "a member name of more than"}

// FuzzParse compares with the standard library's strict decoder: the same
// documents are accepted, but for extraRefusals, and the values are equal.
func FuzzParse(f *testing.F) {
	f.Add(observation)
	for _, text := range []string{
		`{"a":[1.10,{"b":"x\u00e9\n"}],"c":null}`, `{"a":1,"\u0061":2}`, `[-0.0e-1000,1e1001,true,false]`, `"\ud83d\ude00\ud800"`,
		"\"\xed\xa0\x80\"", `"\u0000"`, " [ ] ", `{"":{"":[[]]}}`, "\ufeff1", "[1,]", "01", "\"01234567\x1f\"", "\"0123456é\"",
	} {
		f.Add([]byte(text))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		tree, err := element.Parse(text, element.DefaultLimits)
		decoder := jsontext.NewDecoder(bytes.NewReader(text), jsontext.AllowDuplicateNames(false), jsontext.AllowInvalidUTF8(false))
		if err != nil {
			refused(t, text, decoder, err)
			return
		}
		compare(t, decoder, tree.Root(), false)
		if _, err := decoder.ReadToken(); err != io.EOF {
			t.Errorf("%q: jsontext goes on: %v", text, err)
		}
	})
}

func refused(t *testing.T, text []byte, decoder *jsontext.Decoder, err error) {
	var fault *element.SyntaxError
	if !errors.As(err, &fault) {
		t.Fatalf("%q: a %T", text, err)
	}
	for _, extra := range extraRefusals {
		if strings.HasPrefix(fault.Message, extra) {
			return
		}
	}
	if _, err := decoder.ReadValue(); err != nil {
		return
	}
	if _, err := decoder.ReadValue(); err == io.EOF {
		t.Errorf("%q: refused (%v), but jsontext accepts it", text, fault)
	}
}

// compare reads one value of the decoder and compares it with a node.
func compare(t *testing.T, decoder *jsontext.Decoder, n element.Node, member bool) {
	if member {
		name, err := decoder.ReadToken()
		if err != nil || name.String() != n.Name() {
			t.Fatalf("name %q; jsontext has %q, %v", n.Name(), name.String(), err)
		}
	}
	token, err := decoder.ReadToken()
	if err != nil {
		t.Fatalf("at %s: accepted, but jsontext says %v", n.Raw(), err)
	}
	kinds := map[element.Kind]jsontext.Kind{
		element.Null: 'n', element.False: 'f', element.True: 't', element.Number: '0', element.String: '"', element.Array: '[', element.Object: '{',
	}
	if kinds[n.Kind()] != token.Kind() {
		t.Fatalf("at %s: a %v; jsontext has %v", n.Raw(), n.Kind(), token.Kind())
	}
	switch n.Kind() {
	case element.String, element.Number, element.True, element.False:
		if n.Literal() != token.String() {
			t.Fatalf("value %q; jsontext has %q", n.Literal(), token.String())
		}
	case element.Array, element.Object:
		children := 0
		for child := range n.Children() {
			compare(t, decoder, child, n.Kind() == element.Object)
			children++
		}
		if end, err := decoder.ReadToken(); err != nil || end.Kind() != kinds[n.Kind()]+2 || children != n.Len() {
			t.Fatalf("at %s: %d children of %d, then %v %v", n.Raw(), children, n.Len(), end, err)
		}
	}
}
