package main

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"regexp"
	"strconv"
)

// A line of the store's benchmarks:
// BenchmarkRead/coalesced/clients=64-2  1000  1234 ns/op  …  5678 op/s
var benchmarkLine = regexp.MustCompile(`(?m)^Benchmark(\w+)/(coalesced|single)/clients=(\d+)\S*\s.*?([\d.e+]+) op/s`)

// coalescing compares coalesced statements with one a request.
func (b *bench) coalescing(ctx context.Context) error {
	rates := map[string][]float64{}
	for range b.runs {
		fmt.Println("coalescing …")
		test := exec.CommandContext(ctx, "go", "test", "-run", "^$", "-bench", "^Benchmark(Read|Create)$", "-benchtime", "2s", "./internal/postgres")
		test.Stderr = os.Stderr
		out, err := test.Output()
		if err != nil {
			return fmt.Errorf("benchmarks of the store: %w\n%s", err, out)
		}
		for _, m := range benchmarkLine.FindAllStringSubmatch(string(out), -1) {
			rate, err := strconv.ParseFloat(m[4], 64)
			if err != nil {
				return err
			}
			key := m[1] + "/" + m[3] + "/" + m[2]
			rates[key] = append(rates[key], rate)
		}
	}
	for _, c := range []struct{ operation, clients, what, goal string }{
		{"Read", "64", "reads, 64 clients", "≥ 1.3"},
		{"Create", "64", "creates, 64 clients", "≥ 1.4"},
		{"Read", "1", "reads, 1 client", "≥ 1"},
		{"Create", "1", "creates, 1 client", "≥ 1"},
	} {
		coalesced, single := rates[c.operation+"/"+c.clients+"/coalesced"], rates[c.operation+"/"+c.clients+"/single"]
		if len(coalesced) != b.runs || len(single) != b.runs {
			return fmt.Errorf("%s: the benchmarks gave %d and %d figures for %d runs", c.what, len(coalesced), len(single), b.runs)
		}
		ratios := make([]float64, b.runs)
		for i := range ratios {
			ratios[i] = coalesced[i] / single[i]
		}
		b.add(c.what+", coalesced", "/s", "", coalesced...)
		b.add(c.what+", one statement each", "/s", "", single...)
		b.add(c.what+", ratio", "×", c.goal, ratios...)
	}
	return nil
}
