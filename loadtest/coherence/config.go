// Package coherence measures what keeping the caches of several servers in step
// costs, and how fast it is, for each transport and number of servers.
package coherence

import (
	"errors"
	"fmt"
	"io"
	"time"
)

// Transports that servers may be told to use (--cache-sync). With the last they
// keep nothing in step and refuse to change system resources.
const (
	Notify  = "notify"
	Logical = "logical"
	Poll    = "poll"
	Off     = "off"
)

// Config says what to measure.
type Config struct {
	Server     string // path of fhir-server
	PostgreSQL string // folder of PostgreSQL's programs
	Logs       string // folder for the logs of all processes
	Transports []string
	Instances  []int
	Rates      []float64 // changes of system resources a second
	Repeats    int       // of everything but the pairs
	Lease      time.Duration
	Flags      []string // added to those of each server

	Users     int           // of the closed loop
	WarmUp    time.Duration // before each cell
	Duration  time.Duration // of a cell at full load
	LightRate float64       // requests a second of the cells at light load
	Light     time.Duration // of a cell at light load

	Rounds        int // of pairs; servers are started anew for each
	Pairs         int // in a round
	Slice         time.Duration
	PairInstances int

	NotifyLock time.Duration // how long the lock of NOTIFY is held; 0: not at all

	Progress io.Writer
	// After, if not nil, is called when a part has run, with all there is.
	After func(*Result) error
}

func (c *Config) validate() error {
	for _, transport := range c.Transports {
		switch transport {
		case Notify, Logical, Poll, Off:
		default:
			return fmt.Errorf("%q is none of notify, logical, poll and off", transport)
		}
	}
	for _, n := range c.Instances {
		if n < 1 {
			return errors.New("at least one instance is needed")
		}
	}
	for _, rate := range c.Rates {
		if rate < 0 {
			return errors.New("a rate cannot be negative")
		}
	}
	switch {
	case c.Users < 1 || c.LightRate <= 0:
		return errors.New("users and a rate of the light load are needed")
	case c.WarmUp < 0 || c.Duration <= 0 || c.Light <= 0 || c.Lease <= 0:
		return errors.New("times must be positive")
	case c.Rounds > 0 && (c.Pairs < 1 || c.Slice <= 0 || c.PairInstances < 1):
		return errors.New("a round needs pairs of a length, and instances")
	}
	return nil
}
