package main

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"time"

	"starling/loadtest/deploy"
	"starling/loadtest/load"
	"starling/loadtest/matrix"
)

type matrixCommand struct {
	Executor   string   `enum:"process,compose" default:"process" help:"What runs a shape: plain processes of this machine, or the containers of compose/."`
	Quick      bool     `help:"Short runs of few users: shows that it works and roughly how shapes compare."`
	Shape      []string `placeholder:"NxC" help:"Only these of 1x8, 2x4, 4x2 and 8x1."`
	Runs       int      `default:"1" help:"Runs of each shape; shapes take turns and the table shows the median."`
	Core       float64  `help:"Part of a real core that a core of a shape is. Default: what gives the eight cores half of this machine, at most 1."`
	VUs        int      `name:"vus" help:"Virtual users. Default: 37 for each core of a shape, as the published figures have."`
	Server     string   `default:"bin/fhir-server" help:"The server's program."`
	PostgreSQL string   `name:"postgresql" placeholder:"DIR" help:"Folder of PostgreSQL's programs. Default: the newest installed."`
	Compose    string   `name:"compose-file" default:"compose/compose.yaml" help:"What the executor compose runs."`
	Images     string   `placeholder:"FILE" help:"Images for the executor compose, NAME=value a line, such as compose/airgapped/images.env."`
	Out        string   `default:"out/matrix" help:"Folder for matrix.json, matrix.md, matrix.svg and the logs."`
}

// Run runs the matrix and writes its result after each cell.
func (c *matrixCommand) Run(ctx context.Context) error {
	config, err := c.config()
	if err != nil {
		return err
	}
	logs := filepath.Join(c.Out, "logs")
	if err := os.MkdirAll(logs, 0o755); err != nil {
		return err
	}
	if logs, err = filepath.Abs(logs); err != nil {
		return err
	}
	executor, err := c.executor(config.Core, logs)
	if err != nil {
		return err
	}
	// A matrix takes long: what ran is kept when it is ended.
	config.After = func(result *matrix.Result) error { return result.WriteFiles(c.Out) }
	result, err := matrix.Run(ctx, executor, config)
	if err != nil {
		return err
	}
	if err := result.Table(os.Stdout); err != nil {
		return err
	}
	for _, cell := range result.Cells {
		if cell.Load.Total.Errors > 0 {
			return errWrongAnswers
		}
	}
	return nil
}

func (c *matrixCommand) executor(core float64, logs string) (matrix.Executor, error) {
	if c.Executor == "compose" {
		command, err := matrix.FindCompose()
		if err != nil {
			return nil, err
		}
		executor := &matrix.Compose{Command: command, File: c.Compose, Core: core, Logs: logs}
		if c.Images != "" {
			images, err := os.ReadFile(c.Images)
			if err != nil {
				return nil, err
			}
			executor.Environment = strings.Fields(string(images))
		}
		return executor, nil
	}
	server, err := filepath.Abs(c.Server)
	if err != nil {
		return nil, err
	}
	programs := c.PostgreSQL
	if programs == "" {
		if programs, err = deploy.FindPostgreSQL(); err != nil {
			return nil, err
		}
	}
	return &matrix.Processes{Server: server, PostgreSQL: programs, Core: core, Logs: logs}, nil
}

func (c *matrixCommand) config() (matrix.Config, error) {
	config := matrix.Config{Shapes: matrix.Shapes, Runs: c.Runs, Core: c.Core, Progress: os.Stderr}
	if c.Core == 0 {
		config.Core = min(1, float64(runtime.NumCPU())/2/matrix.Cores)
	}
	if c.Runs < 1 || config.Core <= 0 {
		return config, errors.New("at least one run, and a positive core, are needed")
	}
	if len(c.Shape) > 0 {
		config.Shapes = nil
		for _, text := range c.Shape {
			shape, err := matrix.ParseShape(text)
			if err != nil {
				return config, err
			}
			config.Shapes = append(config.Shapes, shape)
		}
	}
	config.Load = load.Config{
		Users: c.VUs, Timeout: 30 * time.Second,
		WarmUp: 30 * time.Second, Duration: 5 * time.Minute, CoolDown: 60 * time.Second,
	}
	if c.Quick {
		config.Load.WarmUp, config.Load.Duration, config.Load.CoolDown = 4*time.Second, 12*time.Second, time.Second
	}
	if c.VUs == 0 {
		config.Load.Users = 37 * matrix.Cores
	}
	return config, nil
}
