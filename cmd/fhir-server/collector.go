package main

import (
	"log/slog"
	"os"
	"runtime/debug"

	"github.com/KimMachineGun/automemlimit/memlimit"
)

// heapGrowth is by how many percent the heap may grow before it is collected.
// What a server holds for good is small (some 10 MiB) beside what requests
// leave behind, so at Go's 100 the collector takes a sixth of the server's CPU
// and at 400 a twentieth.
const heapGrowth = 400

// heavyGrowth is heapGrowth while heavy bodies are in work: what they hold is then
// most of the heap, and five times that would be a gigabyte.
const heavyGrowth = 50

// paceFor sets the pace for heavy bodies and back; nil, which leaves it alone, if
// the pace is not the server's to set.
func paceFor(ours bool) func(heavy bool) {
	if !ours {
		return nil
	}
	return func(heavy bool) {
		if heavy {
			debug.SetGCPercent(heavyGrowth)
		} else {
			debug.SetGCPercent(heapGrowth)
		}
	}
}

// setCollector sets the garbage collector's pace. GOGC and GOMEMLIMIT overrule
// it, and a container's memory limit is kept to.
func setCollector(logger *slog.Logger) {
	if os.Getenv("GOGC") == "" {
		debug.SetGCPercent(heapGrowth)
	}
	// Without a limit set or found, the pace alone decides.
	_, _ = memlimit.Set(memlimit.WithLogger(logger), memlimit.WithProvider(memlimit.FromCgroup))
}
