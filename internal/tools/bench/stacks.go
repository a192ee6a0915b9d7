package main

import (
	"bufio"
	"io"
	"strings"
)

// processNames are the processes whose samples count, by the name perf knows
// them under.
var processNames = map[string]string{
	"fhir-server": "server", "loadtest": "loadtest", "nginx": "nginx", "postgres": "postgresql",
}

// readSamples reads what perf script prints of each sample, a line with the
// command's name and one for each frame from the innermost outwards, and gives
// the share in percent that each process has of all of them, and each part of
// a process of that process's.
func readSamples(r io.Reader) (map[string]float64, error) {
	counts, processes, all := map[string]float64{}, map[string]float64{}, 0.0
	var process string
	var stack []string
	count := func() {
		if process != "" {
			counts[process+": "+part(process, stack)]++
			processes[process]++
			all++
		}
		process, stack = "", stack[:0]
	}
	lines := bufio.NewScanner(r)
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		switch line := lines.Text(); {
		case strings.TrimSpace(line) == "":
			count()
		case line[0] != ' ' && line[0] != '\t':
			process = processNames[strings.TrimSpace(line)]
		default:
			_, frame, _ := strings.Cut(strings.TrimSpace(line), " ")
			stack = append(stack, frame)
		}
	}
	count()
	shares := map[string]float64{}
	for name, n := range counts {
		of, _, _ := strings.Cut(name, ":")
		shares["share in "+name] = 100 * n / processes[of]
	}
	for name, n := range processes {
		shares["share of "+name] = 100 * n / all
	}
	return shares, lines.Err()
}

// part names what a sample was spent on, by the innermost frame that a rule of
// its process knows.
func part(process string, stack []string) string {
	rules := parts[process]
	if rules.collector {
		for _, frame := range stack {
			if isCollector(frame) {
				return "garbage collector"
			}
		}
	}
	for _, frame := range stack {
		for _, rule := range rules.rules {
			if strings.Contains(frame, rule.in) {
				return rule.part
			}
		}
	}
	if len(stack) > 0 && strings.Contains(stack[0], "[kernel") {
		return "other in the kernel"
	}
	return rules.rest
}

func isCollector(frame string) bool {
	for _, name := range []string{"runtime.gcBgMarkWorker", "runtime.gcAssistAlloc", "runtime.bgsweep", "runtime.bgscavenge"} {
		if strings.HasPrefix(frame, name) {
			return true
		}
	}
	return false
}

type processParts struct {
	collector bool
	rules     []partRule // of a frame the first that holds counts
	rest      string
}

type partRule struct{ in, part string }

// systemCalls tells apart what the kernel does for a program in C.
var systemCalls = []partRule{
	{"do_writev", "sending"},
	{"__sys_sendto", "sending"},
	{"__sys_recvfrom", "receiving"},
	{"do_readv", "receiving"},
	{"do_epoll", "waiting for sockets"},
	{"_fdatasync", "fdatasync"},
	{"_pwrite", "writing files"},
	{"_futex", "locks: sleeping and waking"},
	{"__sys_accept4", "accepting, closing"},
	{"_sys_close", "accepting, closing"},
}

// parts says how the samples of each process are told apart.
var parts = map[string]processParts{
	"server": {collector: true, rest: "Go's scheduler, timers and network poller", rules: []partRule{
		{"starling/internal/validation", "validation"},
		{"starling/internal/fhir/fhirpath", "validation"},
		{"starling/internal/fhir/definition", "validation"},
		{"starling/internal/terminology", "validation"},
		{"starling/internal/fhir/search", "search values and criteria"},
		{"starling/internal/fhir/ucum", "search values and criteria"},
		{"starling/internal/fhir/element", "parsing JSON, printing it"},
		{"starling/internal/postgres.hasher", "hashes of search values"},
		{"siphash", "hashes of search values"},
		{"starling/internal/postgres", "writing and reading statements"},
		{"starling/internal/cache", "interactions"},
		{"starling/internal/interaction", "interactions"},
		{"starling/internal/rest", "routes, headers, answers"},
		{"net/http.", "HTTP and its sockets"},
	}},
	"loadtest": {collector: true, rest: "Go's scheduler, timers and network poller", rules: []partRule{
		{"loadtest/record", "recording latencies"},
		{"loadtest/wire", "requests on the wire"},
		{"loadtest/scenario", "making and checking requests"},
		{"loadtest/load", "pacing and virtual users"},
		{"net.(*conn)", "requests on the wire"},
		{"net/http.", "requests on the wire"},
	}},
	"nginx": {rest: "its own code and libc's", rules: systemCalls},
	"postgresql": {rest: "other code", rules: append(systemCalls, []partRule{
		{"XLog", "write-ahead log"},
		{"pg_comp_crc32", "write-ahead log"},
		{"LZ4", "compression"},
		{"pglz", "compression"},
		{"_bt_", "B-trees"},
		{"btinsert", "B-trees"},
		{"btgettuple", "B-trees"},
		{"LWLock", "locks: sleeping and waking"},
		{"heap", "heap"},
		{"Snapshot", "snapshots and commit"},
		{"ProcArray", "snapshots and commit"},
		{"CommitTransaction", "snapshots and commit"},
		{"ExecInit", "starting and ending a statement"},
		{"standard_ExecutorStart", "starting and ending a statement"},
		{"standard_ExecutorEnd", "starting and ending a statement"},
		{"exec_bind_message", "starting and ending a statement"},
		{"planner", "planning"},
		{"standard_ExecutorRun", "running a statement"},
	}...)},
}
