package main

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"strconv"
	"strings"
	"time"

	"starling/loadtest/load"
	"starling/loadtest/procs"
	"starling/loadtest/record"
	"starling/loadtest/wire"
)

type crudCommand struct {
	Target     []string      `default:"http://127.0.0.1:8080/fhir" help:"FHIR base URL; several are used in turn, a virtual user keeping to one."`
	VUs        int           `name:"vus" default:"37" help:"Virtual users; the published figures have 37 a core."`
	Duration   time.Duration `default:"5m" help:"Measured time."`
	WarmUp     time.Duration `name:"warmup" default:"30s" help:"Time before it, not measured."`
	CoolDown   time.Duration `name:"cooldown" default:"60s" help:"Time after it under the same load, not measured."`
	Rate       float64       `help:"Requests a second on a fixed schedule (open loop). Without it, each user sends when it has its answer."`
	Iterations int64         `help:"Run so many iterations instead of a time; all are measured."`
	Timeout    time.Duration `default:"30s" help:"Of one request."`
	PIDs       string        `name:"pids" placeholder:"NAME=PID,…" help:"Processes whose CPU and memory to read, with their descendants."`
	Out        string        `placeholder:"FILE" help:"Write the result there as JSON."`
}

// errWrongAnswers makes the program end with 1 after its result is written.
var errWrongAnswers = errors.New("there were errors")

// Run runs the scenario, prints the summary and writes the result.
func (c *crudCommand) Run(ctx context.Context) error {
	config := load.Config{
		Users: c.VUs, Rate: c.Rate, WarmUp: c.WarmUp, Duration: c.Duration, CoolDown: c.CoolDown,
		Iterations: c.Iterations, Timeout: c.Timeout, Progress: os.Stderr,
		Run: strconv.FormatInt(time.Now().UnixMilli(), 36),
	}
	for _, text := range c.Target {
		target, err := wire.ParseTarget(text)
		if err != nil {
			return err
		}
		config.Targets = append(config.Targets, target)
	}
	roots, err := procs.ParseRoots(c.PIDs)
	if err != nil {
		return err
	}
	config.Watch = append(roots, procs.Root{Name: "loadtest", PIDs: []int{os.Getpid()}})
	if err := answering(ctx, config.Targets); err != nil {
		return err
	}
	fmt.Fprintln(os.Stderr, "crud:", c.describe())
	result, err := load.CRUD(ctx, config)
	if err != nil {
		return err
	}
	if err := write(result, c.Out); err != nil {
		return err
	}
	if result.Total.Errors > 0 {
		return errWrongAnswers
	}
	return nil
}

// describe says what is about to be run.
func (c *crudCommand) describe() string {
	length := fmt.Sprintf("%d iterations", c.Iterations)
	if c.Iterations == 0 {
		length = fmt.Sprintf("%s, with warm-up and cool-down %s", c.Duration, c.WarmUp+c.Duration+c.CoolDown)
	}
	return fmt.Sprintf("%d virtual users against %s, %s", c.VUs, strings.Join(c.Target, ", "), length)
}

// answering finds out at once that a target is not there.
func answering(ctx context.Context, targets []wire.Target) error {
	dialer := net.Dialer{Timeout: 2 * time.Second}
	for _, target := range targets {
		conn, err := dialer.DialContext(ctx, "tcp", target.Address)
		if err != nil {
			return fmt.Errorf("no server at %s (name it with --target): %w", target.Address, err)
		}
		_ = conn.Close()
	}
	return nil
}

func write(result *record.Result, path string) error {
	if err := result.Summary(os.Stdout); err != nil || path == "" {
		return err
	}
	file, err := os.Create(path)
	if err != nil {
		return err
	}
	if err := result.Write(file); err != nil {
		return errors.Join(err, file.Close())
	}
	return file.Close()
}
