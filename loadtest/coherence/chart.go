package coherence

import (
	"fmt"
	"slices"
	"strconv"

	"starling/loadtest/chart"
)

// drawing is a chart of the report.
type drawing struct {
	name   string // of its file
	panels []chart.Panel
}

// drawings gives the charts: cost by the rate of changes at both ends, and speed.
func (r *Result) drawings() []drawing {
	rates := r.rates(FullLoad)
	var cost, speed []chart.Panel
	if len(rates) > 0 {
		least, most := rates[0], rates[len(rates)-1]
		rps := func(c *Cell) float64 { return c.RPS }
		cost = append(cost, r.panel(FullLoad, least, fmt.Sprintf("requests a second, %g changes/s", least), rps))
		if most != least {
			cost = append(cost, r.panel(FullLoad, most, fmt.Sprintf("requests a second, %g changes/s", most), rps))
		}
		cost = append(cost, r.panel(FullLoad, most, fmt.Sprintf("P99 ms, %g changes/s", most), func(c *Cell) float64 { return c.Latency.P99 }))
	}
	for _, rate := range r.rates(LightLoad) {
		speed = append(speed, r.panel(LightLoad, rate, fmt.Sprintf("applied on all, P99 ms, %g changes/s", rate), func(c *Cell) float64 { return c.Changes.Applied.P99 }))
	}
	var all []drawing
	if len(cost) > 0 {
		all = append(all, drawing{"sync-cost.svg", cost})
	}
	if len(speed) > 0 {
		all = append(all, drawing{"sync-speed.svg", speed})
	}
	return all
}

// rates of the cells of a load, in order.
func (r *Result) rates(load string) (rates []float64) {
	for _, c := range r.Cells {
		if c.Load == load && !slices.Contains(rates, c.Rate) {
			rates = append(rates, c.Rate)
		}
	}
	slices.Sort(rates)
	return rates
}

// panel shows medians of a figure by number of servers, a bar for each transport.
func (r *Result) panel(load string, rate float64, title string, value func(*Cell) float64) chart.Panel {
	p := chart.Panel{Title: title}
	_, cells := r.groups(load)
	var counts []int
	for k := range cells {
		if k.rate == rate && !slices.Contains(counts, k.instances) {
			counts = append(counts, k.instances)
		}
	}
	slices.Sort(counts)
	for i, transport := range order {
		series := chart.Series{Name: transport, Color: chart.Palette[i]}
		ran := false
		for _, n := range counts {
			group := cells[key{load, transport, n, rate}]
			ran = ran || len(group) > 0
			series.Values = append(series.Values, spreadOf(group, value).median)
		}
		if ran {
			p.Series = append(p.Series, series)
		}
	}
	for _, n := range counts {
		p.Names = append(p.Names, strconv.Itoa(n)+"×")
	}
	return p
}
