package main

import (
	"cmp"
	"context"
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"time"

	"starling/loadtest/coherence"
	"starling/loadtest/deploy"
)

type syncCommand struct {
	Quick       bool          `help:"About five minutes in all: shows that it works and roughly how transports compare."`
	Transports  []string      `default:"notify,logical,poll,off" help:"Of --cache-sync (${default})."`
	Instances   []int         `placeholder:"N,…" help:"Numbers of servers (1,2,4,8; quick: 2,8)."`
	Rates       []float64     `placeholder:"N,…" help:"Changes of system resources a second (0,1,10,100; quick: 0,10,100)."`
	Repeats     int           `help:"Runs of each (3; quick: 1); the tables show medians."`
	Lease       time.Duration `default:"2s" help:"--cache-lease of the servers (${default})."`
	Flag        []string      `placeholder:"FLAG" help:"Another flag of the servers, such as --flag=--validation=schema."`
	VUs         int           `name:"vus" help:"Virtual users at full load. Default: 37 for each CPU of this machine."`
	WarmUp      time.Duration `name:"warmup" help:"Before each cell (3s; quick: 1s)."`
	Duration    time.Duration `help:"Measured time of a cell at full load (12s; quick: 4s)."`
	LightRate   float64       `default:"200" help:"Requests a second at light load (${default})."`
	Light       time.Duration `help:"Measured time of a cell at light load (15s; quick: 5s)."`
	Rounds      int           `help:"Rounds of pairs that compare notify with off (8; quick: 4)."`
	Pairs       int           `help:"Pairs in a round (3; quick: 2)."`
	Slice       time.Duration `help:"Measured time of each half of a pair (5s; quick: 3s)."`
	PairServers int           `default:"2" help:"Servers of each half (${default})."`
	LockTime    time.Duration `help:"How long the lock of NOTIFY is held (5s; quick: 2s)."`
	Faults      bool          `help:"Put servers through faults instead, and check what they answer: with the first transport and number of servers (3), for --duration."`
	Seed        int64         `help:"Of the faults. Default: by the clock."`
	Parts       []string      `enum:"cells,pairs,lock" default:"cells,pairs,lock" help:"What to run (${default})."`
	Server      string        `default:"bin/fhir-server" help:"The server's program."`
	PostgreSQL  string        `name:"postgresql" placeholder:"DIR" help:"Folder of PostgreSQL's programs. Default: the newest installed."`
	Out         string        `default:"out/sync" help:"Folder for sync.json, sync.md, sync.html, the charts and the logs."`
}

// settle sets what was not given.
func (c *syncCommand) settle() {
	full := syncCommand{
		Instances: []int{1, 2, 4, 8}, Rates: []float64{0, 1, 10, 100}, Repeats: 3,
		WarmUp: 3 * time.Second, Duration: 12 * time.Second, Light: 15 * time.Second,
		Rounds: 8, Pairs: 3, Slice: 5 * time.Second, LockTime: 5 * time.Second, VUs: 37 * runtime.NumCPU(),
	}
	if c.Quick {
		full = syncCommand{
			Instances: []int{2, 8}, Rates: []float64{0, 10, 100}, Repeats: 1,
			WarmUp: time.Second, Duration: 4 * time.Second, Light: 5 * time.Second,
			Rounds: 4, Pairs: 2, Slice: 3 * time.Second, LockTime: 2 * time.Second, VUs: full.VUs,
		}
	}
	if len(c.Instances) == 0 {
		c.Instances = full.Instances
	}
	if len(c.Rates) == 0 {
		c.Rates = full.Rates
	}
	c.Repeats, c.VUs = cmp.Or(c.Repeats, full.Repeats), cmp.Or(c.VUs, full.VUs)
	c.WarmUp, c.Duration, c.Light = cmp.Or(c.WarmUp, full.WarmUp), cmp.Or(c.Duration, full.Duration), cmp.Or(c.Light, full.Light)
	c.Rounds, c.Pairs = cmp.Or(c.Rounds, full.Rounds), cmp.Or(c.Pairs, full.Pairs)
	c.Slice, c.LockTime = cmp.Or(c.Slice, full.Slice), cmp.Or(c.LockTime, full.LockTime)
	if !slices.Contains(c.Parts, "cells") {
		c.Repeats = 0
	}
	if !slices.Contains(c.Parts, "pairs") {
		c.Rounds = 0
	}
	if !slices.Contains(c.Parts, "lock") {
		c.LockTime = 0
	}
}

// Run measures and writes the result after each part.
func (c *syncCommand) Run(ctx context.Context) error {
	logs, err := filepath.Abs(filepath.Join(c.Out, "logs"))
	if err != nil {
		return err
	}
	if err := os.MkdirAll(logs, 0o755); err != nil {
		return err
	}
	server, err := filepath.Abs(c.Server)
	if err != nil {
		return err
	}
	if c.PostgreSQL == "" {
		if c.PostgreSQL, err = deploy.FindPostgreSQL(); err != nil {
			return err
		}
	}
	if c.Faults {
		return c.faults(ctx, server, logs)
	}
	c.settle()
	result, err := coherence.Run(ctx, coherence.Config{
		Server: server, PostgreSQL: c.PostgreSQL, Logs: logs, Transports: c.Transports, Instances: c.Instances, Rates: c.Rates,
		Repeats: c.Repeats, Lease: c.Lease, Flags: c.Flag, Users: c.VUs, WarmUp: c.WarmUp, Duration: c.Duration,
		LightRate: c.LightRate, Light: c.Light, Rounds: c.Rounds, Pairs: c.Pairs, Slice: c.Slice, PairInstances: c.PairServers,
		NotifyLock: c.LockTime, Progress: os.Stderr,
		After: func(result *coherence.Result) error { return result.WriteFiles(c.Out) },
	})
	if err != nil {
		return err
	}
	if err := result.Table(os.Stdout); err != nil {
		return err
	}
	if result.Failed() {
		return errors.New("there were errors, or stale answers: see the table")
	}
	return nil
}
