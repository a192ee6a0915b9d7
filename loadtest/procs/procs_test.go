package procs

import (
	"os"
	"os/exec"
	"slices"
	"testing"
	"time"
)

func TestSampleCountsDescendants(t *testing.T) {
	// A shell whose child burns CPU, and one that has burnt it and is gone.
	shell := exec.Command("sh", "-c", `
		timeout 0.3 sh -c 'while :; do :; done'
		timeout 20 sh -c 'while :; do :; done' & echo up; wait`)
	out, err := shell.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := shell.Start(); err != nil {
		t.Fatal(err)
	}
	defer func() { _ = shell.Wait() }()
	if _, err := out.Read(make([]byte, 3)); err != nil {
		t.Fatal(err)
	}
	w, err := NewWatch([]Root{{"shell", []int{shell.Process.Pid}}, {"self", []int{os.Getpid()}}})
	if err != nil {
		t.Fatal(err)
	}
	before, err := w.Sample()
	if err != nil {
		t.Fatal(err)
	}
	if before[0].CPUSeconds < 0.1 {
		t.Errorf("CPU of a child that ended: %v s", before[0].CPUSeconds)
	}
	time.Sleep(500 * time.Millisecond)
	after, err := w.Sample()
	if err != nil {
		t.Fatal(err)
	}
	// The burning one stops by itself when its parent is ended by signal.
	for _, pid := range descendants(t, shell.Process.Pid) {
		p, _ := os.FindProcess(pid)
		_ = p.Kill()
	}
	if burnt := after[0].CPUSeconds - before[0].CPUSeconds; burnt < 0.1 || burnt > 2 {
		t.Errorf("CPU of a running child: %v s in 0.5 s", burnt)
	}
	if after[0].Processes < 3 || after[0].MemoryBytes < 100<<10 || after[1].MemoryBytes < 1<<20 {
		t.Errorf("usage %+v", after)
	}
}

func descendants(t *testing.T, root int) []int {
	t.Helper()
	w, err := NewWatch(nil)
	if err != nil {
		t.Fatal(err)
	}
	all, err := w.fs.AllProcs()
	if err != nil {
		t.Fatal(err)
	}
	found := []int{root}
	for i := 0; i < len(found); i++ {
		for _, p := range all {
			if stat, err := p.Stat(); err == nil && stat.PPID == found[i] {
				found = append(found, p.PID)
			}
		}
	}
	return found
}

func TestParseRoots(t *testing.T) {
	roots, err := ParseRoots("server=12,postgresql=7,server=13")
	if err != nil || len(roots) != 2 || !slices.Equal(roots[0].PIDs, []int{12, 13}) || roots[1].Name != "postgresql" {
		t.Errorf("%v, %v", roots, err)
	}
	for _, wrong := range []string{"12", "a=b", "=3", "a=-1"} {
		if _, err := ParseRoots(wrong); err == nil {
			t.Errorf("%q was accepted", wrong)
		}
	}
	if _, err := NewWatch([]Root{{"none", []int{1 << 30}}}); err == nil {
		t.Error("a process that does not run was accepted")
	}
}
