package cgroup

import (
	"os/exec"
	"testing"
	"time"

	"starling/loadtest/procs"
)

func TestAGroupHoldsAProcessToItsShare(t *testing.T) {
	group, err := New("starling-cgroup-test", 0.2)
	if err != nil {
		t.Skipf("control groups cannot be made here: %v", err)
	}
	burn := exec.Command("sh", "-c", "while :; do :; done")
	if err := burn.Start(); err != nil {
		t.Fatal(err)
	}
	defer func() {
		_ = burn.Process.Kill()
		_ = burn.Wait()
		if err := group.Remove(); err != nil {
			t.Error(err)
		}
	}()
	if err := group.Add(burn.Process.Pid); err != nil {
		t.Fatal(err)
	}
	watch, err := procs.NewWatch([]procs.Root{{Name: "burn", PIDs: []int{burn.Process.Pid}}})
	if err != nil {
		t.Fatal(err)
	}
	before, err := watch.Sample()
	if err != nil {
		t.Fatal(err)
	}
	time.Sleep(2 * time.Second)
	after, err := watch.Sample()
	if err != nil {
		t.Fatal(err)
	}
	if used := after[0].CPUSeconds - before[0].CPUSeconds; used > 0.6 || used < 0.05 {
		t.Errorf("%.2f s of CPU in 2 s with a fifth of a CPU", used)
	}
}

func TestTooSmallAShareIsRefused(t *testing.T) {
	if _, err := New("starling-cgroup-test-small", 0.01); err == nil {
		t.Error("a share below the kernel's least quota was accepted")
	}
}
