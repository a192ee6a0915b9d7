package matrix

import (
	"encoding/json"
	"io"
	"slices"

	"starling/loadtest/record"
)

// Schema names this version of the result.
const Schema = "starling.matrix/1"

// Result is what a matrix measured. The table follows from it alone.
type Result struct {
	Schema   string         `json:"schema"`
	Executor string         `json:"executor"`
	Machine  record.Machine `json:"machine"`
	// Core is the part of a real core that one core of a shape is.
	Core float64 `json:"core"`
	// Held says by what an instance is held to its share: "cgroup 1", "cgroup 2",
	// or why by GOMAXPROCS alone.
	Held       string `json:"held"`
	PostgreSQL string `json:"postgresql"` // its version
	Server     string `json:"server"`     // the version it states
	Cells      []Cell `json:"cells"`      // in the order they ran
}

// Cell is one run of one shape.
type Cell struct {
	Shape Shape          `json:"shape"`
	Run   int            `json:"run"` // from 1
	Load  *record.Result `json:"load"`
}

// Names of the watched processes in a cell.
const (
	instanceName   = "instances"
	nginxName      = "nginx"
	postgresqlName = "postgresql"
)

// Write writes the result as indented JSON.
func (r *Result) Write(w io.Writer) error {
	encoder := json.NewEncoder(w)
	encoder.SetIndent("", "  ")
	encoder.SetEscapeHTML(false)
	return encoder.Encode(r)
}

// median gives the cell with the median rate of a shape, nil if it did not run.
// Of an even number it is the lower of the middle two.
func (r *Result) median(shape Shape) (*Cell, int) {
	var cells []*Cell
	for i := range r.Cells {
		if r.Cells[i].Shape == shape {
			cells = append(cells, &r.Cells[i])
		}
	}
	if len(cells) == 0 {
		return nil, 0
	}
	slices.SortFunc(cells, func(a, b *Cell) int {
		switch {
		case a.Load.Total.RPS < b.Load.Total.RPS:
			return -1
		case a.Load.Total.RPS > b.Load.Total.RPS:
			return 1
		default:
			return a.Run - b.Run
		}
	})
	return cells[(len(cells)-1)/2], len(cells)
}

func (c *Cell) process(name string) record.Process {
	for _, p := range c.Load.Processes {
		if p.Name == name {
			return p
		}
	}
	return record.Process{}
}
