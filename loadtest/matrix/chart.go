package matrix

import (
	"io"

	"starling/loadtest/chart"
)

// Panel is one part of the chart: a bar for each shape that ran.
type Panel struct {
	Title     string
	Measured  []float64 // of the median run of each shape
	Reference []float64 // beside it, nil if there is none published
}

// Panels gives what the chart shows, and the names of the shapes in their order.
// Rates are in per cent of the first shape's: the reference comes from another
// machine, so only its losses compare.
func (r *Result) Panels() (shapes []string, panels []Panel) {
	rate := Panel{Title: "requests a second, % of the first"}
	tail := Panel{Title: "P99, ms"}
	memory := Panel{Title: "memory at its peak, in sum, MiB"}
	var first float64
	for _, shape := range Shapes {
		cell, _ := r.median(shape)
		if cell == nil {
			continue
		}
		if first == 0 {
			first = cell.Load.Total.RPS
		}
		shapes = append(shapes, shape.String())
		rate.Measured = append(rate.Measured, ratio(cell.Load.Total.RPS, first))
		rate.Reference = append(rate.Reference, ratio(Reference[shape], Reference[Shapes[0]]))
		tail.Measured = append(tail.Measured, cell.Load.Total.Latency.P99)
		memory.Measured = append(memory.Measured, mib(cell.process(instanceName).MemoryPeak))
	}
	return shapes, []Panel{rate, tail, memory}
}

// ratio in per cent.
func ratio(value, base float64) float64 {
	if base == 0 {
		return 0
	}
	return value / base * 100
}

// Chart writes the result as SVG. The same result gives the same bytes.
func (r *Result) Chart(w io.Writer) error {
	shapes, panels := r.Panels()
	if len(shapes) == 0 {
		return errNothingRan
	}
	drawn := make([]chart.Panel, len(panels))
	for i, panel := range panels {
		drawn[i] = chart.Panel{Title: panel.Title, Names: shapes, Series: []chart.Series{
			{Name: "measured", Values: panel.Measured, Color: chart.Blue},
		}}
		if panel.Reference != nil {
			drawn[i].Series = append(drawn[i].Series, chart.Series{Name: "reference", Values: panel.Reference, Color: chart.Gray})
		}
	}
	return chart.Write(w, drawn)
}
