package matrix

import (
	"bytes"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"starling/loadtest/record"
)

// Table and chart follow from the JSON alone: made again of what was read back,
// they are the same to the byte.
func TestReportFollowsFromJSON(t *testing.T) {
	result := Result{Schema: Schema, Executor: "fake", Core: 0.125}
	for i, shape := range Shapes {
		for run, rate := range []float64{1000 - 20*float64(i), 700, 2000} {
			result.Cells = append(result.Cells, Cell{Shape: shape, Run: run + 1, Load: &record.Result{
				Total:     record.Group{RPS: rate, Latency: record.Latency{P99: 10 + float64(i) + rate}},
				Processes: []record.Process{{Name: instanceName, MemoryPeak: uint64(shape.Instances*40) << 20}},
			}})
		}
	}
	first, second := t.TempDir(), t.TempDir()
	if err := result.WriteFiles(first); err != nil {
		t.Fatal(err)
	}
	file, err := os.Open(filepath.Join(first, "matrix.json"))
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	read, err := Read(file)
	if err != nil {
		t.Fatal(err)
	}
	if err := read.WriteReport(second); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"matrix.md", "matrix.svg"} {
		a, errA := os.ReadFile(filepath.Join(first, name))
		b, errB := os.ReadFile(filepath.Join(second, name))
		if errA != nil || errB != nil || len(a) == 0 || !bytes.Equal(a, b) {
			t.Errorf("%s is another when made again (%v, %v, %d and %d bytes)", name, errA, errB, len(a), len(b))
		}
	}

	shapes, panels := read.Panels()
	if want := []string{"1×8", "2×4", "4×2", "8×1"}; !slices.Equal(shapes, want) {
		t.Errorf("shapes %v", shapes)
	}
	for i, want := range [][]float64{{100, 98, 96, 94}, {1010, 991, 972, 953}, {40, 80, 160, 320}} {
		if !slices.Equal(panels[i].Measured, want) {
			t.Errorf("%s: %v, want %v", panels[i].Title, panels[i].Measured, want)
		}
	}
	if loss := 100 - panels[0].Reference[3]; loss < 31.6 || loss > 31.8 {
		t.Errorf("the reference's loss is %v", loss)
	}
	chart, _ := os.ReadFile(filepath.Join(second, "matrix.svg"))
	for _, text := range append(shapes, "reference", panels[1].Title) {
		if !strings.Contains(string(chart), text) {
			t.Errorf("%q is not in the chart", text)
		}
	}
}

func TestReadRefusesWhatIsNoMatrix(t *testing.T) {
	for _, text := range []string{``, `{}`, `{"schema":"starling.loadtest/1"}`, `{"schema":"` + Schema + `","cells":[]}`, `{"schema":"` + Schema + `","cells":[{}]}`} {
		if _, err := Read(strings.NewReader(text)); err == nil {
			t.Errorf("%q was read", text)
		}
	}
}
