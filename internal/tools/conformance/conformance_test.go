package main

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

func TestFindSuitesFollowsHelpers(t *testing.T) {
	root := t.TempDir()
	write(t, filepath.Join(root, "a", "a_test.go"), `package a
func TestDirect(t *testing.T) { os.Getenv("CONFORMANCE_DATA") }
func TestOther(t *testing.T) {}`)
	write(t, filepath.Join(root, "a", "b_test.go"), `package a
const name = "CONFORMANCE_DATA"
func data() string { return os.Getenv(name) }
func cases() string { return data() }
func TestThroughHelpers(t *testing.T) { cases() }`)
	write(t, filepath.Join(root, "b", "b_test.go"), `package b
func TestNothing(t *testing.T) {}`)
	found, err := findSuites(root)
	if err != nil {
		t.Fatal(err)
	}
	if len(found) != 1 || !slices.Equal(found[0].tests, []string{"TestDirect", "TestThroughHelpers"}) {
		t.Fatalf("found %+v", found)
	}
}

func TestCountCountsLeaves(t *testing.T) {
	events := `{"Action":"run","Test":"TestS"}
{"Action":"run","Test":"TestS/one"}
{"Action":"output","Test":"TestS/one","Output":"    s_test.go:1: wrong\n"}
{"Action":"fail","Test":"TestS/one"}
{"Action":"run","Test":"TestS/two"}
{"Action":"run","Test":"TestS/two/x"}
{"Action":"pass","Test":"TestS/two/x"}
{"Action":"pass","Test":"TestS/two"}
{"Action":"run","Test":"TestS/three"}
{"Action":"skip","Test":"TestS/three"}
{"Action":"fail","Test":"TestS","Elapsed":2}
{"Action":"run","Test":"TestWhole"}
{"Action":"output","Test":"TestWhole","Output":"--- PASS: TestWhole\n"}
{"Action":"pass","Test":"TestWhole"}
{"Action":"output","Output":"panic: x\n"}
`
	results, loose, err := count("./s", strings.NewReader(events))
	if err != nil {
		t.Fatal(err)
	}
	if loose != "panic: x\n" || len(results) != 2 {
		t.Fatalf("loose %q, %d results", loose, len(results))
	}
	s, whole := results[0], results[1]
	if s.passed != 1 || s.failed != 1 || s.skipped != 1 || s.seconds != 2 || len(s.log) != 1 {
		t.Errorf("suite with cases: %+v", s)
	}
	if whole.passed != 1 || whole.failed != 0 || len(whole.log) != 0 {
		t.Errorf("suite without cases: %+v", whole)
	}
}

func write(t *testing.T, path, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}
