package matrix

import (
	"fmt"
	"io"
	"strings"
)

// Table writes the result as Markdown: one row a shape, of its median run.
func (r *Result) Table(w io.Writer) error {
	var b strings.Builder
	fmt.Fprintf(&b, "| instances × cores | RPS | P50 ms | P95 ms | P99 ms | errors | loss | CPU ms a request | memory average MiB | memory peak MiB | reference RPS | reference loss |\n")
	b.WriteString("|---|--:|--:|--:|--:|--:|--:|--:|--:|--:|--:|--:|\n")
	first, _ := r.median(Shapes[0])
	most := 0
	for _, shape := range Shapes {
		cell, runs := r.median(shape)
		if cell == nil {
			continue
		}
		most = max(most, runs)
		total, instances := cell.Load.Total, cell.process(instanceName)
		loss := "—"
		if first != nil {
			loss = percent(first.Load.Total.RPS, total.RPS)
		}
		fmt.Fprintf(&b, "| %s | %.0f | %.1f | %.1f | %.1f | %d | %s | %.3f | %.1f | %.1f | %.0f | %s |\n",
			shape, total.RPS, total.Latency.P50, total.Latency.P95, total.Latency.P99, total.Errors, loss,
			instances.CPUPerRequest, mib(instances.MemoryAverage), mib(instances.MemoryPeak),
			Reference[shape], percent(Reference[Shapes[0]], Reference[shape]))
	}
	fmt.Fprintf(&b, "\n%s, %d CPUs, %s; PostgreSQL %s; %s; executor %s. ",
		r.Machine.CPU, r.Machine.CPUs, r.Machine.Kernel, r.PostgreSQL, r.Server, r.Executor)
	fmt.Fprintf(&b, "A core here is %.3g of a real one; an instance is held to its share by: %s. ", r.Core, r.Held)
	if most > 1 {
		fmt.Fprintf(&b, "Each row is the run with the median rate of %d. ", most)
	}
	b.WriteString("Memory and CPU are those of all instances in sum. ")
	b.WriteString("The reference is a published one, on another machine: its losses compare, its rates do not.\n")
	_, err := io.WriteString(w, b.String())
	return err
}

// percent says by how much value is less than base.
func percent(base, value float64) string {
	if base == 0 {
		return "—"
	}
	return fmt.Sprintf("%.1f %%", (base-value)/base*100)
}

func mib(bytes uint64) float64 { return float64(bytes) / (1 << 20) }
