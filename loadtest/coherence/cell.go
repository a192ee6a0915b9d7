package coherence

import (
	"context"
	"io"
	"strconv"
	"sync"
	"time"

	"starling/loadtest/load"
	"starling/loadtest/record"
)

// lightUsers are enough for the rate of the light load.
const lightUsers = 16

// loadConfig is the CRUD load of a cell.
func (c *Config) loadConfig(kind string) load.Config {
	l := load.Config{
		Users: c.Users, Timeout: requestTimeout, WarmUp: c.WarmUp, Duration: c.Duration,
		Progress: io.Discard, Run: strconv.FormatInt(time.Now().UnixMilli(), 36),
	}
	if kind == LightLoad {
		l.Users, l.Rate, l.Duration = min(lightUsers, c.Users), c.LightRate, c.Light
	}
	return l
}

// runCell puts load and changes on a deployment.
func (c *Config) runCell(ctx context.Context, d *deployment, free chan *lane, kind string, rate float64) (*Cell, error) {
	config := c.loadConfig(kind)
	var err error
	if config.Targets, err = targets(d.instances); err != nil {
		return nil, err
	}
	config.Watch = roots(d.instances, d.postgresql)
	from := time.Now().Add(config.WarmUp)
	changes := &changer{deployment: d, free: free, rate: rate, lease: c.Lease, from: from, to: from.Add(config.Duration)}
	var beside sync.WaitGroup
	beside.Go(func() { changes.run(ctx) })
	var counted span
	var countErr error
	beside.Go(func() { counted, countErr = d.count(ctx, changes.from, changes.to) })
	measured, err := load.CRUD(ctx, config)
	beside.Wait()
	if err != nil {
		return nil, err
	}
	if countErr != nil {
		return nil, countErr
	}
	return &Cell{
		Instances: len(d.instances), Rate: rate, Load: kind,
		Requests: measured.Total.Requests, Errors: measured.Total.Errors - measured.Unsent, Unsent: measured.Unsent, RPS: measured.Total.RPS, Latency: measured.Total.Latency,
		ServerCPU: process(measured, serversName).CPUPerRequest, PostgreSQLCPU: process(measured, postgresqlName).CPUPerRequest,
		WALBytes: counted.wal, Connections: counted.connections, Notifications: counted.notifications,
		Changes: changes.result(),
	}, nil
}

func process(r *record.Result, name string) record.Process {
	for _, p := range r.Processes {
		if p.Name == name {
			return p
		}
	}
	return record.Process{}
}

// span is what was counted between two moments.
type span struct {
	wal           int64
	connections   int
	notifications float64
}

// heard is how often a transport brought word, in the servers' metrics.
const heard = "starling_cache_notifications_total"

func (d *deployment) count(ctx context.Context, from, to time.Time) (s span, err error) {
	moments := [2]struct {
		reading
		heard float64
	}{}
	for i, at := range []time.Time{from, to} {
		time.Sleep(time.Until(at))
		if moments[i].reading, err = d.database.read(ctx); err != nil {
			return s, err
		}
		if moments[i].heard, _, err = d.metric(ctx, heard); err != nil {
			return s, err
		}
	}
	s.wal = moments[1].wal - moments[0].wal
	s.connections = moments[1].connections
	s.notifications = moments[1].heard - moments[0].heard
	return s, nil
}
