package record

import (
	"fmt"
	"io"
	"strings"
	"text/tabwriter"
)

// Summary writes the result as text for a person.
func (r *Result) Summary(w io.Writer) error {
	fmt.Fprintf(w, "\n%.0f requests a second, %d errors in %d requests, %d iterations in %.1f s\n",
		r.Total.RPS, r.Total.Errors, r.Total.Requests, r.Iterations, r.MeasuredSeconds)
	if r.Abandoned > 0 || r.Unsent > 0 {
		fmt.Fprintf(w, "%d iterations abandoned, %d requests not sent in time\n", r.Abandoned, r.Unsent)
	}
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintln(t, "\nms\trequests\terrors\tRPS\tmean\tP50\tP95\tP99\tmax\t")
	row := func(name string, g Group) {
		l := g.Latency
		fmt.Fprintf(t, "%s\t%d\t%d\t%.0f\t%.2f\t%.2f\t%.2f\t%.2f\t%.2f\t\n",
			name, g.Requests, g.Errors, g.RPS, l.Mean, l.P50, l.P95, l.P99, l.Max)
	}
	for _, g := range r.Interactions {
		row(g.Interaction, g)
	}
	row("all", r.Total)
	if err := t.Flush(); err != nil {
		return err
	}
	if len(r.Processes) > 0 {
		fmt.Fprintln(t, "\nprocess\tCPU s\tms a request\tMiB average\tMiB peak\tprocesses\t")
		for _, p := range r.Processes {
			fmt.Fprintf(t, "%s\t%.2f\t%.3f\t%.1f\t%.1f\t%d\t\n", p.Name, p.CPUSeconds, p.CPUPerRequest,
				mib(p.MemoryAverage), mib(p.MemoryPeak), p.Processes)
		}
		if err := t.Flush(); err != nil {
			return err
		}
	}
	for _, e := range r.Errors {
		fmt.Fprintf(w, "\n%d × %s, for example %s %s: %s\n", e.Count, e.Kind, e.Interaction, e.Type,
			strings.Join(strings.Fields(e.Sample), " "))
	}
	return nil
}

func mib(bytes uint64) float64 { return float64(bytes) / (1 << 20) }
