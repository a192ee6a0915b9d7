package procs

import (
	"os"
	"os/exec"
	"slices"
	"testing"
	"time"
)

func TestSampleCountsDescendants(t *testing.T) {
	// A shell with a child that has burnt CPU and is gone, and one that burns.
	shell := exec.Command("sh", "-c", `
		sh -c 'i=0; while [ $i -lt 300000 ]; do i=$((i+1)); done'
		timeout 60 sh -c 'while :; do :; done' & echo up; wait`)
	out, err := shell.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := shell.Start(); err != nil {
		t.Fatal(err)
	}
	defer func() {
		for _, pid := range descendants(t, shell.Process.Pid) {
			p, _ := os.FindProcess(pid)
			_ = p.Kill()
		}
		_ = shell.Wait()
	}()
	if _, err := out.Read(make([]byte, 3)); err != nil {
		t.Fatal(err)
	}
	w, err := NewWatch([]Root{{"shell", []int{shell.Process.Pid}}, {"self", []int{os.Getpid()}}})
	if err != nil {
		t.Fatal(err)
	}
	sample := func() []Usage {
		usages, err := w.Sample()
		if err != nil {
			t.Fatal(err)
		}
		return usages
	}
	before := sample()
	if before[0].CPUSeconds < 0.05 {
		t.Errorf("CPU of a child that ended: %v s", before[0].CPUSeconds)
	}
	after, begun := before, time.Now()
	for after[0].CPUSeconds < before[0].CPUSeconds+0.2 {
		if time.Since(begun) > 20*time.Second {
			t.Fatalf("CPU of a running child: %v s after 20 s", after[0].CPUSeconds-before[0].CPUSeconds)
		}
		time.Sleep(100 * time.Millisecond)
		after = sample()
	}
	if burnt, most := after[0].CPUSeconds-before[0].CPUSeconds, time.Since(begun).Seconds()+0.1; burnt > most {
		t.Errorf("a child with one thread used %v s of CPU in %v s", burnt, most)
	}
	// The shell is a child of this test, and counts by itself alone.
	if after[1].Processes != 1 {
		t.Errorf("the test and its descendants are %d processes", after[1].Processes)
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
