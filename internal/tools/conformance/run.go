package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
)

// result counts the cases of one suite.
type result struct {
	dir, test               string
	passed, failed, skipped int
	seconds                 float64
	log                     []string // what the suite itself logged, and what its failed cases said
}

// event is one line of `go test -json`.
type event struct {
	Action  string
	Test    string
	Output  string
	Elapsed float64
}

// run runs the package's suites and counts their cases, in the order of s.tests.
// A suite that never started has no result.
func (s suites) run() ([]*result, error) {
	command := exec.Command("go", "test", "-json", "-count=1", "-timeout=20m",
		"-run", "^("+strings.Join(s.tests, "|")+")$", s.dir)
	command.Stderr = os.Stderr
	out, err := command.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := command.Start(); err != nil {
		return nil, err
	}
	results, loose, err := count(s.dir, out)
	if err != nil {
		return results, errors.Join(err, command.Wait())
	}
	if err := command.Wait(); err != nil && len(results) == 0 {
		return nil, fmt.Errorf("%w\n%s", err, loose)
	}
	return results, nil
}

// count reads the events of one package. loose is what belongs to no test: a
// compiler's error, a panic.
func count(dir string, events io.Reader) (results []*result, loose string, err error) {
	byTest := map[string]*result{}
	parents := map[string]bool{} // tests that have subtests: not cases themselves
	output := map[string][]string{}
	decoder := json.NewDecoder(events)
	for {
		var e event
		if err := decoder.Decode(&e); errors.Is(err, io.EOF) {
			return results, loose, nil
		} else if err != nil {
			return results, loose, err
		}
		if e.Test == "" {
			if e.Action == "output" || e.Action == "build-output" {
				loose += e.Output
			}
			continue
		}
		top, _, isCase := strings.Cut(e.Test, "/")
		r := byTest[top]
		if r == nil {
			r = &result{dir: dir, test: top}
			byTest[top] = r
			results = append(results, r)
		}
		switch e.Action {
		case "run":
			if isCase {
				parents[e.Test[:strings.LastIndexByte(e.Test, '/')]] = true
			}
		case "output":
			if line := strings.TrimRight(e.Output, "\n"); !marker(line) {
				output[e.Test] = append(output[e.Test], line)
			}
		case "pass", "fail", "skip":
			if !isCase {
				r.seconds = e.Elapsed
			}
			if e.Action == "fail" || !isCase {
				r.log = append(r.log, output[e.Test]...)
			}
			if parents[e.Test] && (e.Action != "fail" || r.failed > 0) {
				break // the sum of its cases, counted already
			}
			switch e.Action {
			case "pass":
				r.passed++
			case "fail":
				r.failed++
			default:
				r.skipped++
			}
		}
	}
}

// marker reports a line that go test prints about a test, not by it.
func marker(line string) bool {
	line = strings.TrimLeft(line, " ")
	return strings.HasPrefix(line, "=== ") || strings.HasPrefix(line, "--- ")
}

// print writes the suite's line, then what it logged.
func (r *result) print(w io.Writer) {
	verdict := "ok  "
	switch {
	case r.failed > 0:
		verdict = "FAIL"
	case r.passed == 0:
		verdict = "skip"
	}
	fmt.Fprintf(w, "%s %-28s %-36s %6d passed %4d failed %4d skipped %7.1fs\n",
		verdict, r.dir, r.test, r.passed, r.failed, r.skipped, r.seconds)
	for i, line := range r.log {
		if i == 60 {
			fmt.Fprintf(w, "     … %d more lines\n", len(r.log)-i)
			break
		}
		fmt.Fprintln(w, "    ", strings.TrimSpace(line))
	}
}
