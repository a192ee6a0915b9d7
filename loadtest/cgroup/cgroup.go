// Package cgroup holds processes to a share of the machine's CPUs, by the quota
// of a control group of version 1 or 2.
package cgroup

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"
)

// period is the time over which a quota is accounted. A short one keeps a small
// share from being spent at once and the process then standing still for most of
// the kernel's ordinary 100 ms, which would be measured as latency.
const period = 20 * time.Millisecond

// shortest is the kernel's least quota.
const shortest = time.Millisecond

// Group is one control group.
type Group struct {
	path    string
	version int
}

// New makes a group that may use so many CPUs, which may be a fraction. It fails
// where the machine lets us make none; the caller says so in its result.
func New(name string, cpus float64) (*Group, error) {
	quota := time.Duration(cpus * float64(period))
	if quota < shortest {
		return nil, fmt.Errorf("%v CPUs are less than a group can be held to", cpus)
	}
	version, root, err := hierarchy()
	if err != nil {
		return nil, err
	}
	g := &Group{path: filepath.Join(root, name), version: version}
	if err := os.Mkdir(g.path, 0o755); err != nil {
		return nil, err
	}
	if version == 1 {
		err = errors.Join(
			g.write("cpu.cfs_period_us", strconv.FormatInt(period.Microseconds(), 10)),
			g.write("cpu.cfs_quota_us", strconv.FormatInt(quota.Microseconds(), 10)))
	} else {
		err = g.write("cpu.max", fmt.Sprintf("%d %d", quota.Microseconds(), period.Microseconds()))
	}
	if err != nil {
		return nil, errors.Join(err, os.Remove(g.path))
	}
	return g, nil
}

// Version of control groups: 1 or 2.
func (g *Group) Version() int { return g.version }

// Add moves a process with all its threads into the group; what it starts later
// is in it too.
func (g *Group) Add(pid int) error { return g.write("cgroup.procs", strconv.Itoa(pid)) }

// Remove removes the group once its processes have ended.
func (g *Group) Remove() error {
	var err error
	for range 50 {
		if err = os.Remove(g.path); err == nil {
			return nil
		}
		time.Sleep(20 * time.Millisecond) // an ended process leaves its group a moment later
	}
	return err
}

func (g *Group) write(file, text string) error {
	return os.WriteFile(filepath.Join(g.path, file), []byte(text), 0o644)
}

// hierarchy finds where groups with a CPU quota are made: version 2 where its
// cpu controller is there, else version 1.
func hierarchy() (version int, root string, err error) {
	const mount = "/sys/fs/cgroup"
	if controllers, err := os.ReadFile(filepath.Join(mount, "cgroup.subtree_control")); err == nil {
		if !strings.Contains(" "+strings.TrimSpace(string(controllers))+" ", " cpu ") {
			control := filepath.Join(mount, "cgroup.subtree_control")
			if err := os.WriteFile(control, []byte("+cpu"), 0o644); err != nil {
				return 0, "", fmt.Errorf("the cpu controller cannot be enabled: %w", err)
			}
		}
		return 2, mount, nil
	}
	for _, name := range []string{"cpu", "cpu,cpuacct"} {
		root := filepath.Join(mount, name)
		if _, err := os.Stat(filepath.Join(root, "cpu.cfs_quota_us")); err == nil {
			return 1, root, nil
		}
		if _, err := os.Stat(filepath.Join(root, "cgroup.procs")); err == nil {
			return 1, root, nil // the root group has no quota of its own
		}
	}
	return 0, "", errors.New("no control groups with a CPU quota are mounted in " + mount)
}
