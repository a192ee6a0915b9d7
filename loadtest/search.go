package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"time"

	"starling/loadtest/load"
	"starling/loadtest/procs"
	"starling/loadtest/search"
)

type searchCommand struct {
	Target   []string      `default:"http://127.0.0.1:8080/fhir" help:"FHIR base URL; several are used in turn, a virtual user keeping to one. The server holds nothing but what this program has posted."`
	Bundles  string        `required:"" placeholder:"DIR" help:"Folder of transaction bundles, one patient each: copies of them are posted until there are enough resources, and values are drawn from them."`
	Sizes    []int         `default:"50000,500000" help:"Numbers of resources to search in, ascending."`
	Kinds    []string      `placeholder:"NAME,…" help:"Kinds of searches (all)."`
	VUs      int           `name:"vus" default:"30" help:"Virtual users."`
	Duration time.Duration `default:"60s" help:"Measured time, for each size."`
	WarmUp   time.Duration `name:"warmup" default:"10s" help:"Time before it, not measured."`
	Settle   time.Duration `default:"30s" help:"Wait after posting, for the database to finish what that has begun."`
	Rate     float64       `help:"Requests a second on a fixed schedule (open loop). Without it, each user sends when it has its answer."`
	Timeout  time.Duration `default:"60s" help:"Of one request."`
	Workers  int           `default:"4" help:"Transactions at once when posting."`
	Seed     uint64        `default:"1" help:"Determines the searches."`
	PIDs     string        `name:"pids" placeholder:"NAME=PID,…" help:"Processes whose CPU and memory to read, with their descendants."`
	Out      string        `placeholder:"DIR" help:"Folder for search.json and search.md."`
}

// Run measures each size and writes the report after each.
func (c *searchCommand) Run(ctx context.Context) error {
	kinds, err := search.Select(c.Kinds)
	if err != nil {
		return err
	}
	roots, err := procs.ParseRoots(c.PIDs)
	if err != nil {
		return err
	}
	data, err := newData(c.Target, c.Bundles, c.Timeout)
	if err != nil {
		return err
	}
	if !slices.IsSorted(c.Sizes) || len(c.Sizes) == 0 {
		return errors.New("--sizes must ascend")
	}
	config := load.Config{
		Targets: data.targets, Users: c.VUs, Rate: c.Rate, WarmUp: c.WarmUp, Duration: c.Duration,
		Timeout: c.Timeout, Progress: os.Stderr, Watch: append(roots, procs.Root{Name: "loadtest", PIDs: []int{os.Getpid()}}),
	}
	report := search.Report{Schema: search.Schema}
	wrong := false
	for _, size := range c.Sizes {
		present, err := c.fill(ctx, data, size)
		if err != nil {
			return err
		}
		people, err := data.values.Find(data.conn, data.copies(present), c.Seed)
		if err != nil {
			return err
		}
		result, err := load.Search(ctx, config, load.Searches{Kinds: kinds, Values: data.values, People: people, Seed: c.Seed})
		if err != nil {
			return err
		}
		if err := result.Summary(os.Stdout); err != nil {
			return err
		}
		wrong = wrong || result.Total.Errors > 0
		report.Sizes = append(report.Sizes, search.Size{Resources: present, Result: result})
		if err := report.Save(c.Out); err != nil {
			return err
		}
		if ctx.Err() != nil {
			break
		}
	}
	fmt.Println()
	if err := report.Markdown(os.Stdout); err != nil {
		return err
	}
	if wrong {
		return errWrongAnswers
	}
	return nil
}

// fill posts what is missing and lets the server settle after that.
func (c *searchCommand) fill(ctx context.Context, d *data, size int) (int, error) {
	before, err := search.Present(d.conn, d.bundles)
	if err != nil {
		return 0, err
	}
	n, err := d.fill(ctx, size, c.Workers)
	if err != nil || n == before {
		return n, err
	}
	select {
	case <-time.After(c.Settle):
	case <-ctx.Done():
	}
	return n, nil
}

// copies gives how many whole copies of the bundles so many resources are, one
// at least.
func (d *data) copies(resources int) int {
	of := 0
	for _, b := range d.bundles {
		of += b.Resources
	}
	return max(1, resources/of)
}
