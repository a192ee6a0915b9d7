package cluster

import (
	"strings"
	"testing"
	"time"

	"starling/loadtest/deploy"
	"starling/loadtest/robustness"
	"starling/test/program"
)

// Three servers behind nginx go through each kind of fault once, and keep what
// docs/consistency.md promises. `make robustness` goes on for longer.
func TestPromisesAreKeptThroughFaults(t *testing.T) {
	programs, err := deploy.FindPostgreSQL()
	if err != nil {
		t.Skip(err)
	}
	var log strings.Builder
	verdict, _, err := robustness.Run(t.Context(), robustness.Config{
		Server: program.Binary(t), PostgreSQL: programs, Logs: t.TempDir(), Transport: "notify", Servers: 3,
		Lease: 500 * time.Millisecond, Seed: 1, Progress: &log,
	})
	if err != nil {
		t.Fatalf("%v\n%s", err, log.String())
	}
	if err := verdict.Summary(&log); err != nil {
		t.Fatal(err)
	}
	t.Log(log.String())
	if !verdict.Passed {
		t.Error("promises were broken or not shown")
	}
	if want := 8; len(verdict.Faults) < want || verdict.Standby && verdict.Faults["promote"] == 0 {
		t.Errorf("%d kinds of faults, %v", len(verdict.Faults), verdict.Faults)
	}
}
