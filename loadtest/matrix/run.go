package matrix

import (
	"context"
	"fmt"
	"io"
	"strconv"
	"time"

	"starling/loadtest/load"
	"starling/loadtest/procs"
	"starling/loadtest/record"
	"starling/loadtest/wire"
)

// Executor puts a shape up and takes it down.
type Executor interface {
	// Name of the executor.
	Name() string
	// Start puts up a fresh PostgreSQL, the instances and nginx.
	Start(ctx context.Context, shape Shape) (*Deployment, error)
}

// Deployment is a shape that is up.
type Deployment struct {
	URL   string // FHIR base, through nginx
	Roots []procs.Root
	Held  string // as in Result
	Stop  func() error
	// Versions that the programs state.
	PostgreSQL, Server string
}

// Config says what to run.
type Config struct {
	Shapes   []Shape
	Runs     int // of each shape; shapes take turns
	Core     float64
	Load     load.Config // all but its targets, name and processes
	Progress io.Writer
	// After, if not nil, is called when a cell has run, with all there is.
	After func(*Result) error
}

// Run runs the matrix.
func Run(ctx context.Context, executor Executor, config Config) (*Result, error) {
	result := &Result{Schema: Schema, Executor: executor.Name(), Machine: record.ThisMachine(), Core: config.Core}
	for run := 1; run <= config.Runs; run++ {
		for _, shape := range config.Shapes {
			fmt.Fprintf(config.Progress, "\n== %s, run %d of %d\n", shape, run, config.Runs)
			cell, err := runCell(ctx, executor, shape, config, result)
			if err != nil {
				return result, fmt.Errorf("%s: %w", shape, err)
			}
			cell.Run = run
			result.Cells = append(result.Cells, *cell)
			if config.After != nil {
				if err := config.After(result); err != nil {
					return result, err
				}
			}
			if ctx.Err() != nil {
				return result, ctx.Err()
			}
		}
	}
	return result, nil
}

func runCell(ctx context.Context, executor Executor, shape Shape, config Config, result *Result) (cell *Cell, err error) {
	deployment, err := executor.Start(ctx, shape)
	if err != nil {
		return nil, err
	}
	defer func() {
		if stopped := deployment.Stop(); err == nil {
			err = stopped
		}
	}()
	result.Held, result.PostgreSQL, result.Server = deployment.Held, deployment.PostgreSQL, deployment.Server
	target, err := wire.ParseTarget(deployment.URL)
	if err != nil {
		return nil, err
	}
	c := config.Load
	c.Targets, c.Watch, c.Progress = []wire.Target{target}, deployment.Roots, config.Progress
	c.Run = strconv.FormatInt(time.Now().UnixMilli(), 36)
	measured, err := load.CRUD(ctx, c)
	if err != nil {
		return nil, err
	}
	return &Cell{Shape: shape, Load: measured}, measured.Summary(config.Progress)
}
