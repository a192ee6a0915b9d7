package matrix

import (
	"image/color"
	"io"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/font"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
	"gonum.org/v1/plot/vg/vgsvg"
)

// Size of the chart and of a bar in it.
const (
	chartWidth  = 24 * vg.Centimeter
	chartHeight = 8 * vg.Centimeter
	barWidth    = 0.8 * vg.Centimeter
)

var (
	measuredColor  = color.RGBA{R: 0x1f, G: 0x6f, B: 0xb4, A: 0xff}
	referenceColor = color.RGBA{R: 0xc4, G: 0xc4, B: 0xc4, A: 0xff}
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
	svg := vgsvg.New(chartWidth, chartHeight)
	row := make([]*plot.Plot, len(panels))
	for i, panel := range panels {
		var err error
		if row[i], err = panel.plot(shapes); err != nil {
			return err
		}
	}
	tiles := draw.Tiles{Rows: 1, Cols: len(row), PadX: vg.Centimeter / 2, PadLeft: vg.Millimeter, PadRight: vg.Millimeter, PadTop: vg.Millimeter, PadBottom: vg.Millimeter}
	for i, canvas := range plot.Align([][]*plot.Plot{row}, tiles, draw.New(svg))[0] {
		row[i].Draw(canvas)
	}
	_, err := svg.WriteTo(w)
	return err
}

func (p *Panel) plot(shapes []string) (*plot.Plot, error) {
	drawn := plot.New()
	drawn.Title.Text = p.Title
	for _, style := range []*font.Font{&drawn.Title.TextStyle.Font, &drawn.X.Tick.Label.Font, &drawn.Y.Tick.Label.Font, &drawn.Legend.TextStyle.Font} {
		style.Variant = "Sans"
	}
	offset := vg.Length(0)
	if p.Reference != nil {
		offset = barWidth / 2
		if err := bars(drawn, p.Reference, offset, referenceColor, "reference"); err != nil {
			return nil, err
		}
	}
	if err := bars(drawn, p.Measured, -offset, measuredColor, "measured"); err != nil {
		return nil, err
	}
	drawn.NominalX(shapes...)
	drawn.Y.Min = 0
	drawn.Y.Max *= 1.25 // room for the legend
	drawn.Legend.Top = true
	return drawn, nil
}

func bars(on *plot.Plot, values []float64, offset vg.Length, fill color.Color, name string) error {
	chart, err := plotter.NewBarChart(plotter.Values(values), barWidth)
	if err != nil {
		return err
	}
	chart.Color, chart.Offset = fill, offset
	chart.LineStyle.Width = 0
	on.Add(chart)
	on.Legend.Add(name, chart)
	return nil
}
