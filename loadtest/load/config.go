// Package load drives virtual users through a scenario and records what they see.
package load

import (
	"errors"
	"io"
	"time"

	"starling/loadtest/procs"
	"starling/loadtest/wire"
)

// Config says what load to put where.
type Config struct {
	Targets []wire.Target // virtual users are spread over them in turn
	Users   int
	// Rate is the number of requests a second of all users together, sent on a
	// schedule fixed beforehand whatever the server does (open loop): a late
	// answer makes the next requests of its user late, and their latency counts
	// from when they were due. 0 is a closed loop: each user sends its next
	// request when it has the answer to the last.
	Rate     float64
	WarmUp   time.Duration
	Duration time.Duration // measured
	CoolDown time.Duration
	// Iterations, if not 0, ends the run after so many; all are measured, and
	// the three times above are not used.
	Iterations int64
	Timeout    time.Duration // of one request
	Watch      []procs.Root
	Progress   io.Writer // a line each second
	Run        string    // marks the resources of this run
}

func (c *Config) validate() error {
	switch {
	case len(c.Targets) == 0:
		return errors.New("no target")
	case c.Users < 1:
		return errors.New("at least one virtual user is needed")
	case c.Rate < 0 || c.Iterations < 0 || c.WarmUp < 0 || c.CoolDown < 0:
		return errors.New("rate, iterations and times cannot be negative")
	case c.Iterations == 0 && c.Duration <= 0:
		return errors.New("give a duration or a number of iterations")
	case c.Timeout <= 0:
		return errors.New("the timeout must be positive")
	}
	return nil
}

// window is the measured part of the run: a request belongs to it if it was to
// be sent in it.
type window struct {
	start, from, to, end time.Time
}

func (c *Config) window(start time.Time) window {
	if c.Iterations > 0 {
		never := start.Add(100 * 365 * 24 * time.Hour)
		return window{start: start, from: start, to: never, end: never}
	}
	from := start.Add(c.WarmUp)
	to := from.Add(c.Duration)
	return window{start: start, from: from, to: to, end: to.Add(c.CoolDown)}
}

func (w window) measures(intended time.Time) bool {
	return !intended.Before(w.from) && intended.Before(w.to)
}

func (w window) phase(at time.Time) string {
	switch {
	case at.Before(w.from):
		return "warm-up"
	case at.Before(w.to):
		return "run"
	default:
		return "cool-down"
	}
}
