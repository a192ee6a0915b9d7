package main

import (
	"context"
	"fmt"
	"os"
	"time"

	"starling/loadtest/replicate"
	"starling/loadtest/search"
	"starling/loadtest/wire"
)

type replicateCommand struct {
	Target    []string      `default:"http://127.0.0.1:8080/fhir" help:"FHIR base URL; several are used in turn."`
	Bundles   string        `required:"" placeholder:"DIR" help:"Folder of transaction bundles, one patient each."`
	Resources int           `default:"500000" help:"How many there shall be, with those that earlier runs have posted."`
	Workers   int           `default:"4" help:"Transactions at once."`
	Timeout   time.Duration `default:"60s" help:"Of one transaction."`
}

// Run posts what is missing.
func (c *replicateCommand) Run(ctx context.Context) error {
	data, err := newData(c.Target, c.Bundles, c.Timeout)
	if err != nil {
		return err
	}
	_, err = data.fill(ctx, c.Resources, c.Workers)
	return err
}

// data is what commands over replicated bundles share.
type data struct {
	targets []wire.Target
	bundles []replicate.Bundle
	values  *search.Values
	conn    *wire.Conn
	timeout time.Duration
}

func newData(targets []string, folder string, timeout time.Duration) (*data, error) {
	d := &data{timeout: timeout}
	for _, text := range targets {
		target, err := wire.ParseTarget(text)
		if err != nil {
			return nil, err
		}
		d.targets = append(d.targets, target)
	}
	var err error
	if d.bundles, err = replicate.Read(folder); err != nil {
		return nil, fmt.Errorf("--bundles: %w", err)
	}
	if d.values, err = search.Learn(d.bundles); err != nil {
		return nil, err
	}
	d.conn = wire.NewConn(d.targets[0], timeout)
	return d, nil
}

// fill posts copies until there are so many resources, and gives how many there are.
func (d *data) fill(ctx context.Context, resources, workers int) (int, error) {
	present, err := search.Present(d.conn, d.bundles)
	if err != nil || present >= resources {
		return present, err
	}
	begun := time.Now()
	n, err := replicate.Post(ctx, replicate.Config{
		Targets: d.targets, Bundles: d.bundles, Resources: resources, Present: present,
		Workers: workers, Timeout: d.timeout, Progress: os.Stderr,
	})
	fmt.Fprintf(os.Stderr, "%d resources posted in %.1f s, %d in all\n", n-present, time.Since(begun).Seconds(), n)
	return n, err
}
