package cluster

import (
	"io"
	"testing"
	"time"

	"starling/loadtest/coherence"
	"starling/loadtest/deploy"
	"starling/test/program"
)

// A commit with a NOTIFY takes one lock for the whole PostgreSQL until it is on
// disk. Ordinary requests go on while it is held, changes of system resources wait.
func TestOrdinaryRequestsTakeNoNotifyLock(t *testing.T) {
	programs, err := deploy.FindPostgreSQL()
	if err != nil {
		t.Skip(err)
	}
	result, err := coherence.Run(t.Context(), coherence.Config{
		Server: program.Binary(t), PostgreSQL: programs, Logs: t.TempDir(), Lease: 2 * time.Second,
		Users: 16, LightRate: 1, Duration: time.Second, Light: time.Second, NotifyLock: time.Second, Progress: io.Discard,
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Log(result.NotifyLock)
	if !result.NotifyLock.Passed() {
		t.Error("they may take it, or it was not held")
	}
}
