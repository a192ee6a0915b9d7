package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"regexp"
	"strconv"
	"strings"
)

// A line of the validator's benchmarks, whose figures end with their unit:
// BenchmarkLevels/Claim/all_rules-2  1000  1234 ns/op  …  3 allocs/op
var (
	validationLine = regexp.MustCompile(`(?m)^Benchmark(\S+?)(?:-\d+)?\s+\d+\s+(.*)$`)
	measured       = regexp.MustCompile(`([\d.e+]+) (\S+)`)
)

// measurements are the figures of one run by benchmark and unit.
type measurements map[string]map[string]float64

// measure runs benchmarks of a package and adds what they measured.
func (all measurements) measure(ctx context.Context, folder, benchmarks, time string) error {
	test := exec.CommandContext(ctx, "go", "test", "-run", "^$", "-benchtime", time, "-bench", benchmarks, folder)
	test.Stderr = os.Stderr
	out, err := test.Output()
	if err != nil {
		return fmt.Errorf("benchmarks of the validator: %w\n%s", err, out)
	}
	return all.parse(string(out))
}

func (all measurements) parse(text string) error {
	for _, line := range validationLine.FindAllStringSubmatch(text, -1) {
		figures := map[string]float64{}
		for _, m := range measured.FindAllStringSubmatch(line[2], -1) {
			value, err := strconv.ParseFloat(m[1], 64)
			if err != nil {
				return err
			}
			figures[m[2]] = value
		}
		all[line[1]] = figures
	}
	return nil
}

// validationTypes are those of the CRUD scenario, in its order.
var validationTypes = []string{
	"Patient", "Location", "Organization", "Practitioner", "Encounter", "Observation", "MedicationRequest", "Claim", "ExplanationOfBenefit",
}

// validation measures the validator: all rules, the structure alone and R4's
// JSON Schema, for each of the nine types, and what the sizes cost.
func (b *bench) validation(ctx context.Context) error {
	var runs []measurements
	for range b.runs {
		fmt.Println("validation …")
		run := measurements{}
		for _, c := range []struct{ folder, benchmarks, time string }{
			{"./internal/validation", "^Benchmark(Levels|Claimed|Size|Profiles)$", "50ms"},
			{"./internal/validation/schema", "^BenchmarkDecoded$", "50ms"},
			// What is done once, each in a program of its own that has done nothing yet.
			{"./internal/validation", "^BenchmarkMemory$", "1x"},
		} {
			if err := run.measure(ctx, c.folder, c.benchmarks, c.time); err != nil {
				return err
			}
		}
		for _, name := range validationTypes {
			if err := run.measure(ctx, "./internal/validation", "^BenchmarkFirstUse$/^"+name+"$", "1x"); err != nil {
				return err
			}
		}
		runs = append(runs, run)
	}
	t := validationTable{b, runs, nil}
	for _, name := range validationTypes {
		t.add(name+", all rules", "Levels/"+name+"/rules", "ns/op", 1000, "µs", "")
		t.add(name+", all rules", "Levels/"+name+"/rules", "allocs/op", 1, "allocations", "")
		t.add(name+", structure alone", "Levels/"+name+"/structure", "ns/op", 1000, "µs", "")
		t.add(name+", structure alone", "Levels/"+name+"/structure", "allocs/op", 1, "allocations", "")
		t.add(name+", text parsed and all rules", "Levels/"+name+"/parse", "ns/op", 1000, "µs", "")
		t.add(name+", JSON Schema, text decoded for it", "Levels/"+name+"/schema", "ns/op", 1000, "µs", "")
		t.add(name+", JSON Schema, decoded before", "Decoded/"+name+"/schema_decoded", "ns/op", 1000, "µs", "")
		t.add(name+", JSON Schema, decoded before", "Decoded/"+name+"/schema_decoded", "allocs/op", 1, "allocations", "")
		t.ratio(name+", JSON Schema decoded before, to structure alone", "Decoded/"+name+"/schema_decoded", "Levels/"+name+"/structure", "≥ 10")
	}
	t.add("2 KB Observation that claims vitalsigns, all rules", "Claimed", "ns/op", 1000, "µs", "≤ 50")
	t.add("2 KB Observation that claims vitalsigns, all rules", "Claimed", "allocs/op", 1, "allocations", "≤ 20")
	for _, n := range []string{"1", "4", "16", "64", "256", "1024"} {
		t.add("Observation of "+n+" components, all rules", "Size/"+n, "ns/op", 1000, "µs", "linear")
	}
	for _, name := range validationTypes {
		t.add("first use of "+name+" in a process that has served none", "FirstUse/"+name, "ns/op", 1e6, "ms", "≤ 20")
	}
	t.add("the nine types compiled, in memory", "Memory", "MiB", 1, "MiB", "≤ 25")
	t.add("a hundred profiles of a guide, read and compiled", "Profiles/read_and_compile", "ns/op", 1e6, "ms", "≤ 2,000")
	t.add("a hundred profiles of a guide, in memory", "Profiles/memory", "MiB", 1, "MiB", "")
	return errors.Join(t.missing...)
}

// validationTable makes rows of what several runs measured.
type validationTable struct {
	*bench
	runs    []measurements
	missing []error
}

func (t *validationTable) add(what, benchmark, unit string, divisor float64, as, goal string) {
	var values []float64
	for _, run := range t.runs {
		value, ok := run[benchmark][unit]
		if !ok {
			t.missing = append(t.missing, fmt.Errorf("no %s of Benchmark%s", unit, benchmark))
			return
		}
		values = append(values, value/divisor)
	}
	t.bench.add("validation: "+strings.TrimSpace(what), as, goal, values...)
}

func (t *validationTable) ratio(what, benchmark, to, goal string) {
	var values []float64
	for _, run := range t.runs {
		if run[to]["ns/op"] == 0 {
			return // add has told
		}
		values = append(values, run[benchmark]["ns/op"]/run[to]["ns/op"])
	}
	t.bench.add("validation: "+what, "×", goal, values...)
}
