// Package procs reads the CPU time and the memory of processes and all their
// descendants from /proc.
package procs

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/prometheus/procfs"
)

// clockTick is USER_HZ, which Linux fixes at 100 for what it shows in /proc.
const clockTick = 100

// Root is one or more processes that are watched in sum, with their
// descendants, under a name.
type Root struct {
	Name string
	PIDs []int
}

// ParseRoots takes "server=123,postgresql=456". Several ids under one name are
// one root: what they use is summed.
func ParseRoots(text string) ([]Root, error) {
	var roots []Root
	for item := range strings.SplitSeq(text, ",") {
		if item == "" {
			continue
		}
		name, number, ok := strings.Cut(item, "=")
		pid, err := strconv.Atoi(number)
		if !ok || err != nil || name == "" || pid <= 0 {
			return nil, fmt.Errorf("%q: want name=pid", item)
		}
		at := slices.IndexFunc(roots, func(r Root) bool { return r.Name == name })
		if at < 0 {
			at = len(roots)
			roots = append(roots, Root{Name: name})
		}
		roots[at].PIDs = append(roots[at].PIDs, pid)
	}
	return roots, nil
}

// Usage is the state of one root at one moment.
type Usage struct {
	// CPUSeconds is user and system time since the processes started, with that
	// of descendants that have ended and were waited for.
	CPUSeconds float64
	// MemoryBytes is what each tree keeps resident: the anonymous memory of each
	// process, and once the largest file-backed and shared parts, since processes
	// that were forked from one program share these.
	MemoryBytes uint64
	Processes   int
}

// Watch reads roots.
type Watch struct {
	fs    procfs.FS
	roots []Root
}

// NewWatch checks that the roots run.
func NewWatch(roots []Root) (*Watch, error) {
	fs, err := procfs.NewDefaultFS()
	if err != nil {
		return nil, err
	}
	for _, root := range roots {
		for _, pid := range root.PIDs {
			if _, err := fs.Proc(pid); err != nil {
				return nil, fmt.Errorf("process %s=%d: %w", root.Name, pid, err)
			}
		}
	}
	return &Watch{fs: fs, roots: roots}, nil
}

// Roots gives what is watched.
func (w *Watch) Roots() []Root { return w.roots }

// Sample gives the usage of each root, in their order. A process that has ended
// adds nothing.
func (w *Watch) Sample() ([]Usage, error) {
	processes, err := w.fs.AllProcs()
	if err != nil {
		return nil, err
	}
	stats := make(map[int]procfs.ProcStat, len(processes))
	children := make(map[int][]int, len(processes))
	for _, p := range processes {
		stat, err := p.Stat()
		if err != nil {
			continue // it has ended since
		}
		stats[p.PID] = stat
		children[stat.PPID] = append(children[stat.PPID], p.PID)
	}
	usages := make([]Usage, len(w.roots))
	for i, root := range w.roots {
		for _, pid := range root.PIDs {
			if _, runs := stats[pid]; runs {
				tree := w.tree(pid, stats, children)
				usages[i].CPUSeconds += tree.CPUSeconds
				usages[i].MemoryBytes += tree.MemoryBytes
				usages[i].Processes += tree.Processes
			}
		}
	}
	return usages, nil
}

// isRoot reports a process that is watched by itself: it does not count again
// with the one that started it.
func (w *Watch) isRoot(pid int) bool {
	return slices.ContainsFunc(w.roots, func(r Root) bool { return slices.Contains(r.PIDs, pid) })
}

func (w *Watch) tree(root int, stats map[int]procfs.ProcStat, children map[int][]int) Usage {
	var usage Usage
	var file, shared uint64
	for queue := []int{root}; len(queue) > 0; queue = queue[1:] {
		pid := queue[0]
		for _, child := range children[pid] {
			if !w.isRoot(child) {
				queue = append(queue, child)
			}
		}
		stat := stats[pid]
		ticks := int(stat.UTime) + int(stat.STime) + stat.CUTime + stat.CSTime
		usage.CPUSeconds += float64(ticks) / clockTick
		usage.Processes++
		p, err := w.fs.Proc(pid)
		if err != nil {
			continue
		}
		status, err := p.NewStatus()
		if err != nil {
			continue
		}
		usage.MemoryBytes += status.RssAnon
		file = max(file, status.RssFile)
		shared = max(shared, status.RssShmem)
	}
	usage.MemoryBytes += file + shared
	return usage
}
