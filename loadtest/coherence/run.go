package coherence

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"starling/loadtest/deploy"
	"starling/loadtest/record"
)

// Run measures all that config says.
func Run(ctx context.Context, config Config) (*Result, error) {
	if err := config.validate(); err != nil {
		return nil, err
	}
	c := &config
	result := &Result{
		Schema: Schema, Machine: record.ThisMachine(), Skipped: []Skipped{}, Cells: []Cell{},
		PostgreSQL: deploy.PostgreSQLVersion(c.PostgreSQL), Server: deploy.FirstLine(c.Server, "version"),
		Options: Options{
			Repeats: c.Repeats, LeaseSeconds: c.Lease.Seconds(), VirtualUsers: c.Users, WarmUpSeconds: c.WarmUp.Seconds(),
			FullSeconds: c.Duration.Seconds(), LightRate: c.LightRate, LightSeconds: c.Light.Seconds(), AdditionalArgs: append([]string{}, c.Flags...),
		},
	}
	after := func() error {
		if c.After == nil {
			return nil
		}
		return c.After(result)
	}
	if c.NotifyLock > 0 {
		fmt.Fprintf(c.Progress, "== the lock of NOTIFY, held for %v\n", c.NotifyLock)
		lock, err := c.runNotifyLock(ctx)
		if err != nil {
			return result, fmt.Errorf("the lock of NOTIFY: %w", err)
		}
		result.NotifyLock = lock
		fmt.Fprintf(c.Progress, "%s\n", lock)
		if err := after(); err != nil {
			return result, err
		}
	}
	// Transports take turns, so that what changes on the machine meets all.
	for run := 1; run <= c.Repeats; run++ {
		for _, count := range c.Instances {
			for _, transport := range c.Transports {
				if err := c.runDeployment(ctx, result, transport, count, run); err != nil {
					return result, fmt.Errorf("%s with %d instances: %w", transport, count, err)
				}
				if err := after(); err != nil {
					return result, err
				}
			}
		}
	}
	if c.Rounds > 0 {
		var err error
		if result.Pairs, err = c.runPairs(ctx); err != nil {
			return result, fmt.Errorf("pairs: %w", err)
		}
		return result, after()
	}
	return result, nil
}

// runDeployment runs the cells of one transport and number of servers.
func (c *Config) runDeployment(ctx context.Context, result *Result, transport string, count, run int) error {
	if slices.ContainsFunc(result.Skipped, func(s Skipped) bool { return s.Transport == transport }) {
		return nil
	}
	fmt.Fprintf(c.Progress, "\n== %s, %d instances, run %d of %d\n", transport, count, run, c.Repeats)
	d, err := c.start(ctx, transport, count)
	if err != nil {
		if ctx.Err() == nil && transport != Notify && transport != Off {
			result.Skipped = append(result.Skipped, Skipped{Transport: transport, Reason: err.Error()})
			fmt.Fprintf(c.Progress, "left out: %v\n", err)
			return nil
		}
		return err
	}
	return errors.Join(c.runCells(ctx, d, result, transport, run), d.stop())
}

func (c *Config) runCells(ctx context.Context, d *deployment, result *Result, transport string, run int) error {
	var free chan *lane
	rates := c.Rates
	if transport == Off {
		rates = []float64{0} // it refuses changes
	} else {
		var err error
		if free, err = d.newLanes(ctx); err != nil {
			return err
		}
	}
	for _, kind := range []string{FullLoad, LightLoad} {
		for _, rate := range rates {
			if kind == LightLoad && rate == 0 {
				continue // it is there for the changes
			}
			cell, err := c.runCell(ctx, d, free, kind, rate)
			if err != nil {
				return err
			}
			if ctx.Err() != nil {
				return ctx.Err()
			}
			cell.Transport, cell.Run = transport, run
			result.Cells = append(result.Cells, *cell)
			fmt.Fprintf(c.Progress, "%s\n", cell)
		}
	}
	return nil
}

// String is a line of progress.
func (c *Cell) String() string {
	return fmt.Sprintf("%-7s ×%d  %-5s load, %3.0f changes/s: %6.0f RPS, P99 %6.1f ms, %d errors, CPU ms a request %.3f + %.3f; %d changes, applied P50 %.1f P99 %.1f ms",
		c.Transport, c.Instances, c.Load, c.Rate, c.RPS, c.Latency.P99, c.Errors, c.ServerCPU, c.PostgreSQLCPU,
		c.Changes.Acknowledged, c.Changes.Applied.P50, c.Changes.Applied.P99)
}
