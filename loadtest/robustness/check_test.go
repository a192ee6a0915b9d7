package robustness

import (
	"fmt"
	"testing"
	"time"
)

const ms = time.Millisecond

func at(n int) time.Time { return time.Unix(1_800_000_000, 0).Add(time.Duration(n) * ms) }

// good is a history in which every promise is kept, and could have been broken.
// Register r is set to 1 at 100 ms, waiting, and to 2 at 2000 ms, not waiting.
func good() *History {
	return &History{
		Lease: 1000 * ms,
		Sets: []Set{
			{Register: "r", Value: 1, Begin: 90 * ms, End: 100 * ms, Acknowledged: true},
			{Register: "r", Value: 2, Begin: 1990 * ms, End: 2000 * ms, Acknowledged: true, Async: true},
			{Register: "r", Value: 3, Begin: 9000 * ms, End: 9900 * ms}, // outcome unknown
		},
		Looks: []Look{
			{Register: "r", Value: 1, Server: "a", Begin: 101 * ms, End: 102 * ms, How: Validated},
			{Register: "r", Value: 1, Server: "a", Begin: 2900 * ms, End: 3300 * ms, How: Validated}, // old, within the lease
			{Register: "r", Value: 2, Server: "a", Begin: 2001 * ms, End: 2002 * ms, Carried: 2, How: Validated},
			{Register: "r", Value: 2, Server: "b", Begin: 3001 * ms, End: 3002 * ms, How: Refused},
			{Register: "r", Value: 2, Server: "b", Begin: 2500 * ms, End: 3005 * ms, How: Accepted},
		},
		Stored:    []Stored{{"r", 2, "x"}},
		Committed: []Committed{{"r", 1, at(95)}, {"r", 2, at(1995)}},
		Rows:      []Row{{"r", 2, "x", at(3003)}, {"r", 1, "y", at(1994)}},
		Final:     []Look{{Register: "r", Value: 2, Server: "a"}, {Register: "r", Value: 2, Server: "b"}},
	}
}

func broken(h *History) (names []string) {
	for _, c := range h.Check() {
		if c.Broken > 0 {
			names = append(names, c.Name)
		}
	}
	return names
}

func TestGoodHistoryPasses(t *testing.T) {
	for _, c := range good().Check() {
		if !c.Passed() {
			t.Errorf("%+v", c)
		}
	}
}

// Each kind of violation is found by the check that is there for it.
func TestEachViolationIsFound(t *testing.T) {
	for name, test := range map[string]struct {
		spoil func(*History)
		want  string
	}{
		"an answer older than the lease":            {func(h *History) { h.Looks[3].Value = 1 }, "[staleness]"},
		"an old answer of an instance that slept":   {func(h *History) { h.Looks[1].Begin = 3001 * ms }, "[staleness]"},
		"a change that waited and is not shown":     {func(h *History) { h.Looks[0].Value = 0 }, "[waiting]"},
		"a client that goes back":                   {func(h *History) { h.Looks[2].Value = 1 }, "[header]"},
		"a resource accepted by an old rule":        {func(h *History) { h.Looks[4].Value, h.Looks[4].Begin = 1, 2100*ms }, "[acceptance]"},
		"a resource committed by a replaced rule":   {func(h *History) { h.Rows[1].At = at(1996) }, "[fence]"},
		"a resource committed by a rule to come":    {func(h *History) { h.Rows[0].At = at(1994) }, "[fence]"},
		"a resource by a rule that never was":       {func(h *History) { h.Rows[1].Value = 7 }, "[fence]"},
		"an acknowledged resource that is gone":     {func(h *History) { h.Rows = h.Rows[1:] }, "[durability]"},
		"an acknowledged resource that is another":  {func(h *History) { h.Rows[0].ID = "z" }, "[durability]"},
		"an acknowledged change that is gone":       {func(h *History) { h.Sets[1].Value = 4 }, "[staleness acceptance durability]"},
		"changes in another order":                  {func(h *History) { h.Committed[0].At, h.Committed[1].At = at(1995), at(95) }, "[fence order]"},
		"a server that missed a change for good":    {func(h *History) { h.Final[1].Value = 1 }, "[convergence]"},
		"a server that shows what was never stored": {func(h *History) { h.Final[1].Value = 3 }, "[convergence]"},
	} {
		h := good()
		test.spoil(h)
		if got := fmt.Sprint(broken(h)); got != test.want {
			t.Errorf("%s: %s, want %s", name, got, test.want)
		}
	}
}

// What nothing could have broken was not shown.
func TestNothingSeenIsNoPass(t *testing.T) {
	for _, c := range (&History{Lease: time.Second}).Check() {
		if c.Passed() {
			t.Errorf("%s passes without an observation", c.Name)
		}
	}
	h := good()
	h.Sets[0].Async, h.Looks[2].Carried = true, 0
	for _, c := range h.Check() {
		if got, want := c.Passed(), c.Name != "waiting" && c.Name != "header"; got != want {
			t.Errorf("%s: %t, with %d observations", c.Name, got, c.Observations)
		}
	}
}

// What is allowed is not taken for a violation.
func TestWhatIsAllowed(t *testing.T) {
	for name, change := range map[string]func(*History){
		"an ordinary change answered after the lease": func(h *History) { h.Sets[0].Begin = -950 * ms; h.Looks[0].Value = 0 },
		"a change whose answer was lost, and is there": func(h *History) {
			h.Committed = append(h.Committed, Committed{"r", 3, at(9800)})
			h.Final[0].Value, h.Final[1].Value = 3, 3
		},
		"a resource whose answer was lost, and is there": func(h *History) { h.Rows = append(h.Rows, Row{"r", 2, "w", at(5000)}) },
	} {
		h := good()
		change(h)
		if got := broken(h); len(got) > 0 {
			t.Errorf("%s: %v", name, got)
		}
	}
}
