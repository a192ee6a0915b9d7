package embedded

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// stopLeftover stops a server that outlived the process that started it. Its
// process id stands in postmaster.pid; since ids are used again, the process
// must also have the data folder as its working folder.
func stopLeftover(data string) error {
	file := filepath.Join(data, "postmaster.pid")
	text, err := os.ReadFile(file)
	if errors.Is(err, os.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	first, _, _ := strings.Cut(string(text), "\n")
	pid, err := strconv.Atoi(strings.TrimSpace(first))
	if err != nil || pid <= 1 || !worksIn(pid, data) {
		// A stale file; PostgreSQL would refuse to start where the id now
		// belongs to another process of the same account.
		return os.Remove(file)
	}
	for _, stop := range []struct {
		signal syscall.Signal
		wait   time.Duration
	}{{syscall.SIGINT, stopTimeout}, {syscall.SIGQUIT, 5 * time.Second}} {
		_ = syscall.Kill(pid, stop.signal)
		for deadline := time.Now().Add(stop.wait); time.Now().Before(deadline); time.Sleep(20 * time.Millisecond) {
			if !worksIn(pid, data) {
				return nil
			}
		}
	}
	return fmt.Errorf("the PostgreSQL left in %s (process %d) does not stop", data, pid)
}

// worksIn reports whether a live process has dir as its working folder. Where
// there is no /proc, a live process is believed to.
func worksIn(pid int, dir string) bool {
	if syscall.Kill(pid, 0) == syscall.ESRCH {
		return false
	}
	if stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid)); err == nil && strings.Contains(string(stat), ") Z ") {
		return false // a zombie
	}
	cwd, err := os.Readlink(fmt.Sprintf("/proc/%d/cwd", pid))
	if err != nil {
		_, noProc := os.Stat("/proc/self")
		return noProc != nil
	}
	resolved, err := filepath.EvalSymlinks(dir)
	return err == nil && cwd == resolved
}
