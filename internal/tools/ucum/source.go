package main

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
)

// The package the units come from. Its tables are made from the
// ucum-essence.xml of the UCUM organization.
const (
	sourcePackage = "@atomic-ehr/ucum@0.2.5"
	sourceFolder  = "package/src"
)

// fetch unpacks the source package below dir and returns the folder of its
// tables.
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

// sourceUnit is a unit as the package has it.
type sourceUnit struct {
	Metric  bool        `json:"isMetric"`
	Special bool        `json:"isSpecial"`
	Base    bool        `json:"isBaseUnit"`
	Class   string      `json:"class"`
	Value   sourceValue `json:"value"`
}

// sourceValue is how a unit is defined. Upper is the definition for systems
// without case; it is named here so that it is not taken for Unit.
type sourceValue struct {
	Unit     string `json:"Unit"`
	Upper    string `json:"UNIT"`
	Value    string `json:"value"`
	Function *struct {
		Name  string `json:"name"`
		Unit  string `json:"Unit"`
		Value string `json:"value"`
	} `json:"function"`
}

// sourcePrefix is a prefix as the package has it; the number keeps its text.
type sourcePrefix struct {
	Value json.Number `json:"value"`
}

// source is the content of the package. The hash covers both files.
type source struct {
	sha256   string
	prefixes map[string]sourcePrefix
	units    map[string]sourceUnit
}

func readSource(dir string) (*source, error) {
	s, hash := &source{}, sha256.New()
	for _, file := range []struct {
		name string
		into any
	}{{"prefixes.ts", &s.prefixes}, {"units.ts", &s.units}} {
		data, err := os.ReadFile(filepath.Join(dir, file.name))
		if err != nil {
			return nil, err
		}
		hash.Write(data)
		object, err := jsonOf(string(data))
		if err == nil {
			err = json.Unmarshal([]byte(object), file.into)
		}
		if err != nil {
			return nil, fmt.Errorf("%s: %w", file.name, err)
		}
	}
	s.sha256 = hex.EncodeToString(hash.Sum(nil))
	return s, nil
}

var (
	literal    = regexp.MustCompile(`(?s)export const \w+: Record<string, \w+> = (\{.*?\n\});`)
	dimensions = regexp.MustCompile(`(?m)^\s*dimension: .*\n`)
	key        = regexp.MustCompile(`(?m)^(\s*)(\w+): `)
)

// jsonOf gives the object literal that a TypeScript file of the package
// declares, as JSON.
func jsonOf(typescript string) (string, error) {
	match := literal.FindStringSubmatch(typescript)
	if match == nil {
		return "", fmt.Errorf("no table was found")
	}
	text := dimensions.ReplaceAllString(match[1], "")
	return strings.TrimSpace(key.ReplaceAllString(text, `$1"$2": `)), nil
}
