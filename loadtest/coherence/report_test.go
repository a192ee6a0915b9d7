package coherence

import (
	"bytes"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
)

func some() *Result {
	r := &Result{Schema: Schema, Options: Options{Repeats: 3, LeaseSeconds: 2}}
	for run, rps := range []float64{900, 1100, 1000} {
		for _, transport := range []string{Notify, Poll} {
			for _, n := range []int{1, 8} {
				for _, load := range []string{FullLoad, LightLoad} {
					r.Cells = append(r.Cells, Cell{
						Transport: transport, Instances: n, Rate: 10, Load: load, Run: run + 1, RPS: rps, Requests: 1000, WALBytes: 5000,
						Changes: Changes{Acknowledged: 50, Looked: 10, Looks: 100, Applied: Times{Count: 37, P50: 2.5, P99: float64(run)}},
					})
				}
			}
		}
	}
	r.Pairs = &Pairs{Instances: 2, SliceSeconds: 5}
	// 1 % and 3 %, on clusters that differ by a tenth; the last round lacks its other.
	for i, ratio := range []float64{1.01 * 1.1, 1.01 / 1.1, 1.03 / 1.1, 1.03 * 1.1, 7} {
		round := Round{Slices: []Slice{
			{Transport: Notify, Requests: 1000, ServerCPU: ratio, PostgreSQLCPU: 2, RPS: 100},
			{Transport: Off, Requests: 500, ServerCPU: 0.5, PostgreSQLCPU: 1, RPS: 100},
		}}
		if i%2 == 1 {
			slices.Reverse(round.Slices)
		}
		r.Pairs.Rounds = append(r.Pairs.Rounds, round)
	}
	r.Pairs.sum()
	r.NotifyLock = &NotifyLock{Requests: 10, Looks: 3, ChangeWaited: true}
	return r
}

// The report follows from the JSON alone.
func TestReportFollowsFromJSON(t *testing.T) {
	first, second := t.TempDir(), t.TempDir()
	if err := some().WriteFiles(first); err != nil {
		t.Fatal(err)
	}
	file, err := os.Open(filepath.Join(first, "sync.json"))
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
	for _, name := range []string{"sync.md", "sync.html", "sync-cost.svg", "sync-speed.svg"} {
		a, errA := os.ReadFile(filepath.Join(first, name))
		b, errB := os.ReadFile(filepath.Join(second, name))
		if errA != nil || errB != nil || len(a) == 0 || !bytes.Equal(a, b) {
			t.Errorf("%s is another when made again (%v, %v, %d and %d bytes)", name, errA, errB, len(a), len(b))
		}
	}
	table, _ := os.ReadFile(filepath.Join(first, "sync.md"))
	for _, text := range []string{"1000 (900–1100)", "| 1.0 (0.0–2.0) |", "0 of 30", "0 of 300", "+2.00 %", "Ordinary requests took no lock of NOTIFY."} {
		if !strings.Contains(string(table), text) {
			t.Errorf("%q is not in\n%s", text, table)
		}
	}
}

func TestPairsGiveTheExcessOfTwoRounds(t *testing.T) {
	p := some().Pairs
	// Half of the difference of 1 % and 3 % is the standard error.
	if math.Abs(p.Server.Mean-2) > 1e-9 || math.Abs(p.Server.High-2-12.706) > 1e-6 || p.Server.N != 2 {
		t.Errorf("servers: %+v", p.Server)
	}
	if math.Abs(p.PostgreSQL.Mean) > 1e-9 || math.Abs(p.Rate.Mean) > 1e-9 {
		t.Errorf("%+v, %+v", p.PostgreSQL, p.Rate)
	}
}

func TestFailedFindsEachFault(t *testing.T) {
	if some().Failed() {
		t.Error("a result without faults has failed")
	}
	for name, spoil := range map[string]func(*Result){
		"a wrong answer":           func(r *Result) { r.Cells[3].Errors = 1 },
		"a failed change":          func(r *Result) { r.Cells[3].Changes.Failed = 1 },
		"a stale answer":           func(r *Result) { r.Cells[3].Changes.Stale = 1 },
		"a late change":            func(r *Result) { r.Cells[3].Changes.Late = 1 },
		"a wrong answer in a pair": func(r *Result) { r.Pairs.Rounds[1].Slices[0].Errors = 1 },
		"a session that waited":    func(r *Result) { r.NotifyLock.Waiting = 1 },
		"a lock nobody looked at":  func(r *Result) { r.NotifyLock.Looks = 0 },
		"a lock that was not held": func(r *Result) { r.NotifyLock.ChangeWaited = false },
	} {
		r := some()
		spoil(r)
		if !r.Failed() {
			t.Errorf("%s is not seen", name)
		}
	}
}

func TestTimes(t *testing.T) {
	var all []time.Duration
	for i := range 200 {
		all = append(all, time.Duration(200-i)*time.Millisecond)
	}
	if got, want := timesOf(all), (Times{Count: 200, P50: 100, P99: 198, Max: 200}); got != want {
		t.Errorf("%+v, want %+v", got, want)
	}
	if got := timesOf(nil); got != (Times{}) {
		t.Errorf("%+v of nothing", got)
	}
	if got := spreadOf([]float64{4, 1, 3, 2}, func(f float64) float64 { return f }); got != (spread{2.5, 1, 4}) {
		t.Errorf("%+v", got)
	}
}

func TestReadRefusesWhatIsNoResult(t *testing.T) {
	for _, text := range []string{``, `{}`, `{"schema":"starling.matrix/1"}`, `{"schema":"` + Schema + `","cells":[]}`} {
		if _, err := Read(strings.NewReader(text)); err == nil {
			t.Errorf("%q was read", text)
		}
	}
}
