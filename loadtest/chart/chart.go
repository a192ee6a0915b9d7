// Package chart draws bars beside each other, as SVG.
package chart

import (
	"errors"
	"image/color"
	"io"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/font"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
	"gonum.org/v1/plot/vg/vgsvg"
)

// Size of a chart; a panel is a part of its width.
const (
	width  = 24 * vg.Centimeter
	height = 8 * vg.Centimeter
	// bars is how wide the bars of a panel are in sum, at most.
	bars    = 5.6 * vg.Centimeter
	maxWide = 0.8 * vg.Centimeter
)

// Colors of series.
var (
	Gray    = color.RGBA{R: 0xc4, G: 0xc4, B: 0xc4, A: 0xff}
	Blue    = color.RGBA{R: 0x1f, G: 0x6f, B: 0xb4, A: 0xff}
	Palette = []color.Color{Blue, color.RGBA{R: 0xe0, G: 0x8a, B: 0x1e, A: 0xff}, color.RGBA{R: 0x3a, G: 0x9a, B: 0x5b, A: 0xff}, Gray}
)

// Panel is one part of a chart: a group of bars for each name, a bar of each series.
type Panel struct {
	Title  string
	Names  []string
	Series []Series
}

// Series is bars of one color, in the order of the names.
type Series struct {
	Name   string
	Values []float64
	Color  color.Color
}

// Write writes panels beside each other as SVG. The same panels give the same bytes.
func Write(w io.Writer, panels []Panel) error {
	if len(panels) == 0 {
		return errors.New("there is nothing to draw")
	}
	svg := vgsvg.New(width, height)
	row := make([]*plot.Plot, len(panels))
	for i := range panels {
		var err error
		if row[i], err = panels[i].plot(); err != nil {
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

func (p *Panel) plot() (*plot.Plot, error) {
	drawn := plot.New()
	drawn.Title.Text = p.Title
	for _, style := range []*font.Font{&drawn.Title.TextStyle.Font, &drawn.X.Tick.Label.Font, &drawn.Y.Tick.Label.Font, &drawn.Legend.TextStyle.Font} {
		style.Variant = "Sans"
	}
	wide := min(maxWide, bars/vg.Length(max(1, len(p.Names)*len(p.Series))))
	for i, series := range p.Series {
		chart, err := plotter.NewBarChart(plotter.Values(series.Values), wide)
		if err != nil {
			return nil, err
		}
		chart.Color = series.Color
		chart.Offset = wide * (vg.Length(i) - vg.Length(len(p.Series)-1)/2)
		chart.LineStyle.Width = 0
		drawn.Add(chart)
		drawn.Legend.Add(series.Name, chart)
	}
	drawn.NominalX(p.Names...)
	drawn.Y.Min = 0
	drawn.Y.Max *= 1.25 // room for the legend
	drawn.Legend.Top = true
	return drawn, nil
}
