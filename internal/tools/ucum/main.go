// Command ucum builds the embedded table of UCUM units of package
// internal/fhir/ucum from a published one, and checks it.
//
//	go run ./internal/tools/ucum build   writes units.txt
//	go run ./internal/tools/ucum check   builds again and compares
//
// The source is a folder given with -source, or else the npm package named in
// source.go, fetched with `npm pack`. See docs/ucum.md.
package main

import (
	"bytes"
	"errors"
	"flag"
	"fmt"
	"os"
)

func main() {
	source := flag.String("source", "", "folder of the package's sources (default: fetched with npm)")
	out := flag.String("out", "internal/fhir/ucum/units.txt", "the embedded file")
	flag.Usage = func() {
		fmt.Fprintln(os.Stderr, "usage: ucum [-source DIR] [-out FILE] build|check")
		flag.PrintDefaults()
	}
	flag.Parse()
	if err := run(flag.Arg(0), *source, *out); err != nil {
		fmt.Fprintln(os.Stderr, "ucum:", err)
		os.Exit(1)
	}
}

func run(command, source, out string) error {
	if command != "build" && command != "check" {
		return errors.New("the command is build or check")
	}
	if source == "" {
		dir, err := os.MkdirTemp("", "ucum")
		if err != nil {
			return err
		}
		defer func() { _ = os.RemoveAll(dir) }() // the system clears what is left of it
		if source, err = fetch(dir); err != nil {
			return err
		}
	}
	table, err := readSource(source)
	if err != nil {
		return err
	}
	text, err := table.text()
	if err != nil {
		return err
	}
	if command == "build" {
		return os.WriteFile(out, text, 0o644)
	}
	have, err := os.ReadFile(out)
	if err != nil {
		return err
	}
	if !bytes.Equal(have, text) {
		return fmt.Errorf("%s is not what its source gives", out)
	}
	fmt.Println("the units are what their source gives")
	return nil
}
