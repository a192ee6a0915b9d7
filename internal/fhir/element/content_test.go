package element_test

import (
	"encoding/json/jsontext"
	"errors"
	"testing"

	"starling/internal/fhir"
	"starling/internal/fhir/element"
)

func TestPath(t *testing.T) {
	root := parse(t, `{"resourceType":"Patient","name":[{"given":["A","B"],"_given":[null,{"id":"x"}]}],
		"contained":[{"resourceType":"Basic","code":{}}],"active":true}`)
	name := root.Get("name").At(0)
	for _, test := range []struct {
		node element.Node
		path string
	}{
		{element.Node{}, ""},
		{root, "Patient"},
		{root.Get("name"), "Patient.name"},
		{name, "Patient.name[0]"},
		{name.Get("given").At(1), "Patient.name[0].given[1]"},
		{name.Get("_given").At(1).Get("id"), "Patient.name[0].given[1].id"},
		{root.Get("contained").At(0).Get("code"), "Patient.contained[0].code"},
		{root.Get("active"), "Patient.active"},
		{parse(t, `[[1,2],[3]]`).At(1).At(0), "[1][0]"},
	} {
		if got := element.Path(test.node); got != test.path {
			t.Errorf("path = %q; want %q", got, test.path)
		}
	}
}

func TestAppendCompact(t *testing.T) {
	for _, test := range []struct{ text, want string }{
		{`{"a":1}`, `{"a":1}`},
		{" { \"a b\" : [ 1.0 ,\n\t\"x \\\" y\" , \"\\\\\" , { } ] ,\r\n\"\\u0061 \\n\": null } ", `{"a b":[1.0,"x \" y","\\",{}],"\u0061 \n":null}`},
		{` "" `, `""`},
		{` 1.50 `, `1.50`},
	} {
		if got := string(element.AppendCompact([]byte("->"), parse(t, test.text))); got != "->"+test.want {
			t.Errorf("%q: %q; want %q", test.text, got, test.want)
		}
	}
	if got := element.AppendCompact(nil, parse(t, `{"a" : {"b" : [ 1, 2 ]}}`).Get("a")); string(got) != `{"b":[1,2]}` {
		t.Errorf("a part: %q", got)
	}
	if got := element.AppendCompact(nil, element.Node{}); got != nil {
		t.Errorf("no value: %q", got)
	}
}

func TestContent(t *testing.T) {
	for _, test := range []struct{ text, meta, body string }{
		{`{"resourceType":"Patient"}`, ``, ``},
		{`{"id":"1","active":true,"resourceType":"Patient","meta":{"versionId":"7","lastUpdated":"x"}}`, ``, `,"active":true`},
		{
			"{ \"a\" : 1.50 ,\n \"resourceType\" : \"Patient\", \"meta\" : { \"profile\" : [ \"p\" ] , \"versionId\" : \"7\" ,\"tag\":[]}, \"_id\":{}, \"c\" : [ \"x , \\\" y\" , null ] }",
			`,"profile":["p"],"tag":[]`,
			`,"a":1.50,"_id":{},"c":["x , \" y",null]`,
		},
		{`{"\u0069d":"1","r\u00e9":"\u00e9","meta":{"\u0076ersionId":"1","_lastUpdated":{}}}`, `,"_lastUpdated":{}`, `,"r\u00e9":"\u00e9"`},
	} {
		content, err := element.Content(parse(t, test.text))
		if err != nil {
			t.Errorf("%s: %v", test.text, err)
		}
		if string(content.Meta) != test.meta || string(content.Body) != test.body {
			t.Errorf("%s:\nmeta %s; want %s\nbody %s; want %s", test.text, content.Meta, test.meta, content.Body, test.body)
		}
	}
	for text, expression := range map[string]string{`[]`: "", `null`: "", `{"resourceType":"Basic","meta":[]}`: "Basic.meta"} {
		_, err := element.Content(parse(t, text))
		var fault *fhir.Error
		if !errors.As(err, &fault) || fault.Kind != fhir.KindInvalid || fault.Issues[0].Expression != expression {
			t.Errorf("%s: error = %v", text, err)
		}
	}
}

// What Content and AppendCompact give is, to a canonicalizer, what was sent.
func FuzzCompact(f *testing.F) {
	f.Add(observation)
	f.Add([]byte(" { \"a b\" : [ 1.0 ,\n\t\"x \\\" y\" , \"\\\\\" , { } ] } "))
	f.Fuzz(func(t *testing.T, text []byte) {
		tree, err := element.Parse(text, element.DefaultLimits)
		if err != nil {
			return
		}
		want := jsontext.Value(text).Clone()
		if err := want.Compact(jsontext.AllowDuplicateNames(false), jsontext.PreserveRawStrings(true)); err != nil {
			t.Fatal(err)
		}
		if got := element.AppendCompact(nil, tree.Root()); string(got) != string(want) {
			t.Errorf("%q: compact %q; want %q", text, got, want)
		}
		content, err := element.Content(tree.Root())
		if err != nil {
			return
		}
		resource := fhir.Resource{Key: fhir.Key{Type: "T", ID: "i"}, Content: content}
		again, err := element.Parse(resource.AppendJSON(nil), element.Limits{Depth: 101, Size: 1 << 30})
		if err != nil {
			t.Fatalf("%q: put together again: %v", text, err)
		}
		for member := range tree.Root().Children() {
			switch name := member.Name(); name {
			case "resourceType", "id", "meta":
			default:
				sent, kept := element.AppendCompact(nil, member), again.Root().Get(name).Raw()
				if string(sent) != string(kept) {
					t.Errorf("%q: %s sent, %s kept", text, sent, kept)
				}
			}
		}
	})
}
