// Command definitions builds the embedded R4 definitions of package
// internal/fhir/definition from HL7's published ones, and checks them.
//
//	go run ./internal/tools/definitions build   writes r4.ndjson and r4.ndjson.zst, there and of the JSON Schema
//	go run ./internal/tools/definitions check   builds again and compares
//
// The source is a folder given with -source, or else the npm package named in
// source.go, fetched with `npm pack`. See docs/definitions.md.
package main

import (
	"bytes"
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"

	"starling/internal/fhir/definition"
)

func main() {
	source := flag.String("source", "", "folder of the unpacked definitions (default: fetched with npm)")
	out := flag.String("out", "internal/fhir/definition", "folder of the embedded definitions")
	schemaOut := flag.String("schema-out", "internal/validation/schema", "folder of the embedded JSON Schema")
	flag.Usage = func() {
		fmt.Fprintln(os.Stderr, "usage: definitions [-source DIR] [-out DIR] [-schema-out DIR] build|check")
		flag.PrintDefaults()
	}
	flag.Parse()
	if err := run(flag.Arg(0), *source, *out, *schemaOut); err != nil {
		fmt.Fprintln(os.Stderr, "definitions:", err)
		os.Exit(1)
	}
}

func run(command, source, out, schemaOut string) error {
	if command != "build" && command != "check" {
		return errors.New("the command is build or check")
	}
	if source == "" {
		dir, err := os.MkdirTemp("", "definitions")
		if err != nil {
			return err
		}
		defer func() { _ = os.RemoveAll(dir) }() // the system clears what is left of it
		if source, err = fetch(dir); err != nil {
			return err
		}
	}
	corrections, err := readCorrections()
	if err != nil {
		return err
	}
	text, err := build(source, corrections)
	if err != nil {
		return err
	}
	textFile, packedFile := filepath.Join(out, "r4.ndjson"), filepath.Join(out, "r4.ndjson.zst")
	schema, err := buildSchema(source, definition.R4())
	if err != nil {
		return err
	}
	schemaText, schemaPacked := filepath.Join(schemaOut, "r4.ndjson"), filepath.Join(schemaOut, "r4.ndjson.zst")
	if command == "check" {
		return errors.Join(check(text, textFile, packedFile), check(schema, schemaText, schemaPacked))
	}
	return errors.Join(write(text, textFile, packedFile), write(schema, schemaText, schemaPacked))
}

// build gives the text of the embedded file.
func build(source string, corrections []correction) ([]byte, error) {
	set, err := readSource(source)
	if err != nil {
		return nil, err
	}
	if err := set.apply(corrections); err != nil {
		return nil, err
	}
	return set.text()
}

func write(text []byte, textFile, packedFile string) error {
	packed, err := pack(text)
	if err != nil {
		return err
	}
	if err := os.WriteFile(textFile, text, 0o644); err != nil {
		return err
	}
	if err := os.WriteFile(packedFile, packed, 0o644); err != nil {
		return err
	}
	fmt.Printf("%d definitions, %d bytes, %d packed\n", bytes.Count(text, []byte("\n"))-1, len(text), len(packed))
	return nil
}

// check compares what was built with the files. The packed file is compared by
// content, so a new release of the compressor is no difference.
func check(text []byte, textFile, packedFile string) error {
	have, err := os.ReadFile(textFile)
	if err != nil {
		return err
	}
	if !bytes.Equal(have, text) {
		return fmt.Errorf("%s is not what its source gives: %s", textFile, firstDifference(have, text))
	}
	packed, err := os.ReadFile(packedFile)
	if err != nil {
		return err
	}
	unpacked, err := unpack(packed)
	if err != nil {
		return fmt.Errorf("%s: %w", packedFile, err)
	}
	if !bytes.Equal(unpacked, text) {
		return fmt.Errorf("%s does not hold the text of %s", packedFile, textFile)
	}
	fmt.Println("the definitions are what their source gives")
	return nil
}

func firstDifference(have, want []byte) string {
	h, w := bytes.Split(have, []byte("\n")), bytes.Split(want, []byte("\n"))
	for i := range min(len(h), len(w)) {
		if !bytes.Equal(h[i], w[i]) {
			return fmt.Sprintf("line %d differs: %.120s", i+1, w[i])
		}
	}
	return fmt.Sprintf("%d lines for %d", len(h), len(w))
}
