package matrix

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http/httptest"
	"os"
	"strconv"
	"strings"
	"testing"
	"time"

	"starling/loadtest/constant"
	"starling/loadtest/load"
	"starling/loadtest/procs"
	"starling/loadtest/record"
)

// fake puts up a server that answers at once.
type fake struct{ started []Shape }

func (*fake) Name() string { return "fake" }

func (f *fake) Start(_ context.Context, shape Shape) (*Deployment, error) {
	f.started = append(f.started, shape)
	server := httptest.NewServer(&constant.Handler{})
	return &Deployment{
		URL: server.URL + "/fhir", Held: "nothing", PostgreSQL: "none", Server: "constant",
		Roots: []procs.Root{{Name: instanceName, PIDs: []int{os.Getpid()}}},
		Stop:  func() error { server.Close(); return nil },
	}, nil
}

func TestShapesTakeTurns(t *testing.T) {
	executor := &fake{}
	result, err := Run(t.Context(), executor, Config{
		Shapes: Shapes, Runs: 2, Core: 1, Progress: io.Discard,
		Load: load.Config{Users: 2, Duration: 50 * time.Millisecond, Timeout: time.Second},
	})
	if err != nil {
		t.Fatal(err)
	}
	if got, want := fmt.Sprint(executor.started), "[1×8 2×4 4×2 8×1 1×8 2×4 4×2 8×1]"; got != want {
		t.Errorf("ran %s, want %s", got, want)
	}
	if len(result.Cells) != 8 || result.Cells[7].Run != 2 || result.Cells[7].Load.Total.Requests == 0 {
		t.Errorf("cells %+v", result.Cells)
	}
}

// The table follows from the JSON: what it shows is computed here again, from
// what a reader of the file has.
func TestTableFollowsFromJSON(t *testing.T) {
	result := Result{Schema: Schema, Executor: "fake", Core: 0.125}
	rates := map[Shape][]float64{{1, 8}: {900, 1000, 1100}, {2, 4}: {990}, {4, 2}: {970, 950}, {8, 1}: {1001, 700, 900}}
	for _, shape := range Shapes {
		for i, rate := range rates[shape] {
			result.Cells = append(result.Cells, Cell{Shape: shape, Run: i + 1, Load: &record.Result{
				Total:     record.Group{RPS: rate, Errors: int64(i), Latency: record.Latency{P50: rate / 100, P95: rate / 50, P99: rate / 10}},
				Processes: []record.Process{{Name: instanceName, MemoryAverage: uint64(shape.Instances) << 25, MemoryPeak: uint64(shape.Instances) << 26}},
			}})
		}
	}
	var file, table bytes.Buffer
	if err := result.Write(&file); err != nil {
		t.Fatal(err)
	}
	if err := result.Table(&table); err != nil {
		t.Fatal(err)
	}
	var read struct {
		Cells []struct {
			Shape struct{ Instances, Cores int }
			Load  struct {
				Total struct {
					RPS     float64
					Latency struct{ P99 float64 }
				}
				Processes []struct{ MemoryPeak float64 }
			}
		}
	}
	if err := json.Unmarshal(file.Bytes(), &read); err != nil {
		t.Fatal(err)
	}
	medians := map[string]float64{"1×8": 1000, "2×4": 990, "4×2": 950, "8×1": 900}
	seen := 0
	for line := range strings.Lines(table.String()) {
		fields := strings.Split(line, "|")
		if len(fields) < 12 || !strings.Contains(fields[1], "×") || strings.Contains(fields[1], "cores") {
			continue
		}
		seen++
		name := strings.TrimSpace(fields[1])
		for _, cell := range read.Cells {
			if fmt.Sprintf("%d×%d", cell.Shape.Instances, cell.Shape.Cores) != name || cell.Load.Total.RPS != medians[name] {
				continue
			}
			for column, want := range map[int]string{
				2:  fmt.Sprintf("%.0f", medians[name]),
				5:  fmt.Sprintf("%.1f", cell.Load.Total.Latency.P99),
				7:  fmt.Sprintf("%.1f %%", (1000-medians[name])/10),
				10: strconv.FormatFloat(cell.Load.Processes[0].MemoryPeak/(1<<20), 'f', 1, 64),
			} {
				if got := strings.TrimSpace(fields[column]); got != want {
					t.Errorf("%s, column %d: %s, want %s", name, column, got, want)
				}
			}
		}
	}
	if seen != len(Shapes) {
		t.Errorf("%d rows in\n%s", seen, table.String())
	}
	if !strings.Contains(table.String(), "31.7 %") {
		t.Errorf("the reference's loss is not in\n%s", table.String())
	}
}

func TestParseShape(t *testing.T) {
	if s, err := ParseShape("4x2"); err != nil || s != (Shape{4, 2}) {
		t.Errorf("%v, %v", s, err)
	}
	for _, wrong := range []string{"3x3", "", "8"} {
		if _, err := ParseShape(wrong); err == nil {
			t.Errorf("%q was accepted", wrong)
		}
	}
}
