package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// writeSource writes bundles of the names the tool reads, all empty but one.
func writeSource(t *testing.T, types string) string {
	t.Helper()
	dir := t.TempDir()
	for _, name := range sourceFiles {
		entries := ""
		if name == "profiles-types.json" {
			entries = types
		}
		bundle := `{"resourceType":"Bundle","entry":[` + entries + `]}`
		if err := os.WriteFile(filepath.Join(dir, name), []byte(bundle), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

const twoTypes = `
{"resource":{"resourceType":"StructureDefinition","url":"http://example.org/b","publisher":"P","kind":"complex-type",
 "text":{"status":"generated"},"differential":{"element":[]},"snapshot":{"element":[
 {"id":"B","path":"B","short":"prose","min":0,"max":"*"},
 {"id":"B.x","path":"B.x","base":{"path":"B.x","min":0,"max":"1"},"min":0,"max":"1","isSummary":false,"isModifier":true,
  "type":[{"extension":[{"url":"http://example.org/note"}],"code":"string"}],"binding":{"strength":"example","description":"prose"},
  "constraint":[{"key":"ele-1","severity":"error","source":"http://hl7.org/fhir/StructureDefinition/Element"},
   {"key":"b-1","severity":"error","human":"h","expression":"e","xpath":"x"}]}]}}},
{"resource":{"resourceType":"StructureDefinition","url":"http://example.org/a","kind":"complex-type","snapshot":{"element":[
 {"id":"A","path":"A"},{"id":"A.x:slice","path":"A.x","base":{"path":"Z.x","min":0,"max":"1"},"min":0,"max":"1"}]}}},
{"resource":{"resourceType":"CapabilityStatement","url":"http://example.org/c"}}`

const twoTypesText = `{"kind":"complex-type","resourceType":"StructureDefinition","snapshot":{"element":[` +
	`{"path":"A"},{"base":{"max":"1","min":0,"path":"Z.x"},"id":"A.x:slice","max":"1","min":0,"path":"A.x"}]},"url":"http://example.org/a"}
{"kind":"complex-type","resourceType":"StructureDefinition","snapshot":{"element":[{"max":"*","min":0,"path":"B"},` +
	`{"binding":{"strength":"example"},"constraint":[{"expression":"e","human":"h","key":"b-1","severity":"error"}],` +
	`"isModifier":true,"max":"1","min":0,"path":"B.x","type":[{"code":"string"}]}]},"url":"http://example.org/b"}
`

func TestBuildAndCheck(t *testing.T) {
	source, out := writeSource(t, twoTypes), t.TempDir()
	textFile, packedFile := filepath.Join(out, "text"), filepath.Join(out, "packed")
	text, err := build(source, nil)
	if err != nil {
		t.Fatal(err)
	}
	header, definitions, _ := strings.Cut(string(text), "\n")
	if definitions != twoTypesText {
		t.Errorf("got  %s\nwant %s", definitions, twoTypesText)
	}
	if !strings.Contains(header, `"source":"`+sourcePackage+`"`) || !strings.Contains(header, `"sha256":"`) {
		t.Error(header)
	}
	if err := write(text, textFile, packedFile); err != nil {
		t.Fatal(err)
	}
	if err := check(text, textFile, packedFile); err != nil {
		t.Error(err)
	}
	corrected, err := build(source, []correction{{Canonical: "http://example.org/a", What: []string{"kind"}, To: []byte(`"logical"`), From: []byte(`"complex-type"`)}})
	if err != nil {
		t.Fatal(err)
	}
	if err := check(corrected, textFile, packedFile); err == nil || !strings.Contains(err.Error(), "line 2 differs") {
		t.Errorf("a difference is not seen: %v", err)
	}
	if err := os.WriteFile(textFile, corrected, 0o644); err != nil {
		t.Fatal(err)
	}
	if err := check(corrected, textFile, packedFile); err == nil {
		t.Error("the packed file is not compared")
	}
}

func TestCorrectionsMustFit(t *testing.T) {
	source := writeSource(t, twoTypes)
	for name, c := range map[string]correction{
		"another value":                {Canonical: "http://example.org/a", What: []string{"kind"}, From: []byte(`"resource"`), To: []byte(`"logical"`)},
		"an unknown canonical":         {Canonical: "http://example.org/x", What: []string{"kind"}},
		"a removal of nothing":         {Canonical: "http://example.org/x"},
		"an addition of what is there": {Canonical: "http://example.org/a", To: []byte(`{"url":"http://example.org/a"}`)},
	} {
		if _, err := build(source, []correction{c}); err == nil {
			t.Errorf("%s: no error", name)
		}
	}
	if _, err := build(source, []correction{{Canonical: "http://example.org/a"}}); err != nil {
		t.Errorf("a removal: %v", err)
	}
}

func TestEveryCorrectionSaysWhy(t *testing.T) {
	corrections, err := readCorrections()
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range corrections {
		if c.Reason == "" || c.Canonical == "" {
			t.Errorf("%+v", c)
		}
	}
}

func TestBuildRefusesWhatIsDefinedTwice(t *testing.T) {
	one := `{"resource":{"resourceType":"ValueSet","url":"http://example.org/v"}}`
	if _, err := build(writeSource(t, one+","+one), nil); err == nil {
		t.Error("no error")
	}
}
