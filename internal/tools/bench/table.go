package main

import (
	"fmt"
	"io"
	"slices"
)

// row is one line of the table: a figure with its spread over the runs.
type row struct {
	what, unit string
	goal       string
	values     []float64
}

func (b *bench) add(what, unit, goal string, values ...float64) {
	b.rows = append(b.rows, row{what, unit, goal, values})
}

func (b *bench) print(w io.Writer) {
	fmt.Fprintf(w, "\n| what | median | min – max | goal |\n|---|---|---|---|\n")
	for _, r := range b.rows {
		slices.Sort(r.values)
		fmt.Fprintf(w, "| %s | %s %s | %s – %s | %s |\n", r.what,
			figure(median(r.values)), r.unit, figure(r.values[0]), figure(r.values[len(r.values)-1]), r.goal)
	}
}

// median of sorted values.
func median(values []float64) float64 {
	n := len(values)
	return (values[(n-1)/2] + values[n/2]) / 2
}

func figure(v float64) string {
	switch {
	case v >= 100:
		return fmt.Sprintf("%.0f", v)
	case v >= 10:
		return fmt.Sprintf("%.1f", v)
	}
	return fmt.Sprintf("%.3g", v)
}
