package cluster

import (
	"testing"
	"time"
)

const users = 16

// An instance is killed under load: what was acknowledged is there, and requests
// that nginx may send again fail for less than a second.
func TestKillLosesNoAcknowledgedWrite(t *testing.T) {
	c := start(t)
	l := send(c.base, users)
	time.Sleep(time.Second)
	killed := time.Now()
	c.servers[0].Kill()
	time.Sleep(1500 * time.Millisecond)
	c.run(t, 0)
	time.Sleep(time.Second)
	l.end()

	lost := map[string]int{}
	var first, last time.Time
	for _, f := range l.failures {
		lost[f.method]++
		switch {
		case f.at.Before(killed):
			t.Errorf("before the instance was killed: %s %s", f.method, f.what)
		case f.method == "POST" || f.method == "PATCH":
			// Those in flight: whether they were carried out is not known.
			if since := f.at.Sub(killed); since > time.Second {
				t.Errorf("%v after the instance was killed: %s %s", since, f.method, f.what)
			}
		default:
			if first.IsZero() {
				first = f.at
			}
			last = f.at
			t.Logf("%v after the instance was killed: %s %s", f.at.Sub(killed), f.method, f.what)
		}
	}
	if last.Sub(first) >= time.Second || !last.IsZero() && last.Sub(killed) >= time.Second {
		t.Errorf("idempotent requests failed from %v to %v after the kill", first.Sub(killed), last.Sub(killed))
	}
	if lost["POST"] > users || lost["PATCH"] > users {
		t.Errorf("more requests failed than were in flight: %v", lost)
	}
	l.check(t)
	t.Logf("%d requests, failed: %v; %d acknowledged writes are there", l.requests, lost, len(l.written))
	if len(l.written) < 3*users {
		t.Errorf("only %d writes were acknowledged", len(l.written))
	}
}

// One instance after the other is stopped, waited for and started again while
// requests of all kinds come in: none fails.
func TestRollingRestartFailsNoRequest(t *testing.T) {
	c := start(t, "--drain-delay=3s") // goes with nginx's keepalive_timeout: docs/operations.md
	l := send(c.base, users)
	for i := range c.servers {
		time.Sleep(time.Second)
		c.servers[i].Terminate()
		select {
		case <-c.servers[i].Ended():
		case <-time.After(30 * time.Second):
			t.Fatalf("the instance does not end\n%s", c.servers[i].Log())
		}
		c.run(t, i)
	}
	time.Sleep(1500 * time.Millisecond) // the other one serves the first again
	l.end()
	for i, f := range l.failures {
		if i == 10 {
			t.Errorf("and %d more", len(l.failures)-i)
			break
		}
		t.Errorf("%s %s", f.method, f.what)
	}
	l.check(t)
	t.Logf("%d requests; %d acknowledged writes are there", l.requests, len(l.written))
}
