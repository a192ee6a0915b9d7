package main

import (
	"archive/tar"
	_ "embed"
	"encoding/json"
	"errors"
	"io"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/xi2/xz"
)

//go:embed differences.json
var differencesJSON []byte

// expected is a difference between the embedded definitions and the pristine
// ones that is meant to be.
type expected struct {
	Canonical string   // may end in *
	What      []string // a prefix of the path
	Reason    string
	found     bool
}

func (e *expected) covers(d canonicalDifference) bool {
	prefix, wild := strings.CutSuffix(e.Canonical, "*")
	return (d.canonical == e.Canonical || wild && strings.HasPrefix(d.canonical, prefix)) &&
		len(d.path) >= len(e.What) && slices.Equal(d.path[:len(e.What)], e.What)
}

// TestConformanceDefinitions compares the embedded definitions with the
// pristine ones. Every difference must be in differences.json, and everything
// there must be one.
func TestConformanceDefinitions(t *testing.T) {
	oracle := readOracle(t)
	lines, err := os.ReadFile(filepath.Join("..", "..", "fhir", "definition", "r4.ndjson"))
	if err != nil {
		t.Fatal(err)
	}
	ours, err := parseText(lines)
	if err != nil {
		t.Fatal(err)
	}
	var list []*expected
	if err := json.Unmarshal(differencesJSON, &list); err != nil {
		t.Fatal(err)
	}
	found := map[string][]canonicalDifference{}
	for _, d := range compare(ours, oracle) {
		found[d.canonical] = append(found[d.canonical], d)
	}
	for canonical := range oracle.byCanonical() {
		found[canonical] = append(found[canonical], nil...)
	}
	for _, canonical := range slices.Sorted(maps.Keys(found)) {
		t.Run(canonical, func(t *testing.T) {
			for _, d := range found[canonical] {
				at := slices.IndexFunc(list, func(e *expected) bool { return e.covers(d) })
				if at < 0 {
					t.Error(d.difference)
					continue
				}
				list[at].found = true
			}
		})
	}
	for _, e := range list {
		if !e.found {
			t.Errorf("no difference in %s %q: %s", e.Canonical, e.What, e.Reason)
		}
	}
}

// readOracle reads the pristine definitions, compacted like ours. It skips the
// test unless CONFORMANCE_DATA names the folder of r4-core-4.0.1.tar.xz.
func readOracle(t *testing.T) *definitions {
	t.Helper()
	dir := os.Getenv("CONFORMANCE_DATA")
	if dir == "" {
		t.Skip("CONFORMANCE_DATA is not set")
	}
	f, err := os.Open(filepath.Join(dir, "r4-core-4.0.1.tar.xz"))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	x, err := xz.NewReader(f, 0)
	if err != nil {
		t.Fatal(err)
	}
	set := &definitions{}
	for archive := tar.NewReader(x); ; {
		h, err := archive.Next()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		data, err := io.ReadAll(archive)
		if err != nil {
			t.Fatal(err)
		}
		if filepath.Ext(h.Name) != ".json" || filepath.Base(h.Name) == "package.json" {
			continue
		}
		d, err := decode(data)
		if err != nil {
			t.Fatalf("%s: %v", h.Name, err)
		}
		if d = compact(d); d != nil {
			useOfType(d)
			set.definitions = append(set.definitions, d)
		}
	}
	set.sort()
	return set
}

var (
	infixAs    = regexp.MustCompile(`([\w.]+) as (\w+)`)
	functionAs = regexp.MustCompile(`\bas\((\w+)\)`)
)

// useOfType writes a search parameter's `value as Type` the way the source of
// the embedded ones does, value.ofType(Type): as is an error on several values.
func useOfType(d object) {
	if d["resourceType"] != "SearchParameter" {
		return
	}
	rewrite := func(o object) {
		if e, ok := o["expression"].(string); ok {
			e = infixAs.ReplaceAllString(e, "$1.ofType($2)")
			o["expression"] = functionAs.ReplaceAllString(e, "ofType($1)")
		}
	}
	rewrite(d)
	each(d["component"], rewrite)
}
