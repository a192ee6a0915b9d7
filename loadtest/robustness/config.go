package robustness

import (
	"errors"
	"io"
	"time"
)

// Config says what to put through faults.
type Config struct {
	Server     string // path of fhir-server
	PostgreSQL string // folder of PostgreSQL's programs
	Logs       string // folder for the logs of all processes
	Transport  string // --cache-sync
	Servers    int    // at least three
	Lease      time.Duration
	Flags      []string // added to those of each server
	// Seed determines the faults, their order and targets, and what clients choose.
	// When things happen is left to the machine.
	Seed int64
	// Duration is how long faults go on after each has been once.
	Duration time.Duration
	// Together has two faults at once now and then.
	Together bool
	Progress io.Writer
}

func (c *Config) validate() error {
	switch {
	case c.Servers < 3:
		return errors.New("at least three servers are needed")
	case c.Lease < 200*time.Millisecond:
		return errors.New("the lease must be 200 ms at least")
	case c.Duration < 0:
		return errors.New("the duration cannot be negative")
	}
	return nil
}
