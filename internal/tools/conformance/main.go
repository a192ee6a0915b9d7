// Command conformance runs the tests that read the public suites in the folder
// named by CONFORMANCE_DATA, and prints a line for each suite: passed, failed
// and skipped cases. A suite is a test function that reads the variable, its
// cases are its subtests. It exits with 1 if a case fails.
package main

import (
	"fmt"
	"os"
)

func main() {
	data := os.Getenv(variable)
	if data == "" {
		fmt.Fprintln(os.Stderr, "conformance: set CONFORMANCE_DATA to the folder of the public suites")
		os.Exit(2)
	}
	if info, err := os.Stat(data); err != nil || !info.IsDir() {
		fmt.Fprintf(os.Stderr, "conformance: CONFORMANCE_DATA has to be the folder of the public suites; there is no folder %q\n", data)
		os.Exit(2)
	}
	packages, err := findSuites(".")
	if err != nil {
		fmt.Fprintln(os.Stderr, "conformance:", err)
		os.Exit(2)
	}
	ok := true
	for _, p := range packages {
		results, err := p.run()
		if err != nil {
			fmt.Fprintf(os.Stderr, "conformance: %s: %v\n", p.dir, err)
			ok = false
		}
		for _, r := range results {
			r.print(os.Stdout)
			ok = ok && r.failed == 0 && (r.passed > 0 || r.skipped > 0)
		}
		ok = ok && len(results) == len(p.tests)
	}
	if !ok {
		os.Exit(1)
	}
}
