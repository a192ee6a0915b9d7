package main

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"os"
	"path/filepath"
	"time"

	"starling/loadtest/robustness"
)

// errBroken makes the program end with 1 after the verdict is written.
var errBroken = errors.New("promises were broken or not shown: see the verdict")

// faults puts servers through faults and writes the verdict and the history.
func (c *syncCommand) faults(ctx context.Context, server, logs string) error {
	config := robustness.Config{
		Server: server, PostgreSQL: c.PostgreSQL, Logs: logs, Transport: c.Transports[0], Servers: 3, Lease: c.Lease, Flags: c.Flag,
		Seed: c.Seed, Duration: c.Duration, Together: true, Progress: os.Stderr,
	}
	if len(c.Instances) > 0 {
		config.Servers = c.Instances[0]
	}
	if c.Seed == 0 {
		config.Seed = time.Now().Unix()
	}
	verdict, history, err := robustness.Run(ctx, config)
	if err != nil {
		return err
	}
	if err := errors.Join(
		writeTo(filepath.Join(c.Out, "faults.json"), verdict.Write),
		writeTo(filepath.Join(c.Out, "history.json"), func(w io.Writer) error { return json.NewEncoder(w).Encode(history) }),
		verdict.Summary(os.Stdout)); err != nil {
		return err
	}
	if !verdict.Passed {
		return errBroken
	}
	return nil
}

func writeTo(path string, write func(io.Writer) error) error {
	file, err := os.Create(path)
	if err != nil {
		return err
	}
	return errors.Join(write(file), file.Close())
}
