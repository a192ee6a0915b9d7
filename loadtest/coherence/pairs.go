package coherence

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"strconv"
	"time"

	"starling/loadtest/deploy"
	"starling/loadtest/load"
	"starling/loadtest/wire"
)

// Pairs compare notify with off while no system resource changes: the two take
// turns under full load, a slice of time each, at once after each other, so that
// what changes on the machine meets both. Servers are started anew for each
// round, on the other of two PostgreSQL clusters: two rounds together, in which the
// transports have swapped clusters, give one value, from which the clusters' own
// difference has gone. The clusters vacuum and checkpoint by themselves at no time that
// a run reaches, since one such piece of work is more than what is looked for.
type Pairs struct {
	Instances    int     `json:"instances"`
	SliceSeconds float64 `json:"sliceSeconds"`
	Rounds       []Round `json:"rounds"`
	// Excess of notify over off, in per cent of the CPU time a request: of the
	// servers, of PostgreSQL, and of both. N counts values, of two rounds each.
	Server     Interval `json:"server"`
	PostgreSQL Interval `json:"postgresql"`
	Both       Interval `json:"both"`
	Rate       Interval `json:"rate"` // of the requests a second
}

// Round is the slices between two starts of the servers, in order.
type Round struct {
	Slices []Slice `json:"slices"`
}

// Slice is one slice of time on one of the two.
type Slice struct {
	Transport     string  `json:"transport"`
	Requests      int64   `json:"requests"`
	Errors        int64   `json:"errors"`
	RPS           float64 `json:"rps"`
	ServerCPU     float64 `json:"serverCPU"`     // seconds
	PostgreSQLCPU float64 `json:"postgresqlCPU"` // seconds
}

// sliceWarmUp is how long each slice runs before it is measured.
const sliceWarmUp = 300 * time.Millisecond

func (c *Config) runPairs(ctx context.Context) (pairs *Pairs, err error) {
	group := &deploy.Group{Logs: c.Logs}
	defer func() { err = errors.Join(err, group.Stop()) }()
	var clusters [2]*deploy.PostgreSQL
	for i := range clusters {
		if clusters[i], err = c.startPostgreSQL(group, fmt.Sprintf("pair-postgresql%d", i+1), Notify, "autovacuum=off", "checkpoint_timeout=1d"); err != nil {
			return nil, err
		}
	}
	pairs = &Pairs{Instances: c.PairInstances, SliceSeconds: c.Slice.Seconds()}
	for n := range c.Rounds {
		round, err := c.runRound(ctx, n, clusters)
		if err != nil {
			return nil, err
		}
		pairs.Rounds = append(pairs.Rounds, *round)
		pairs.sum()
		fmt.Fprintf(c.Progress, "== pairs, round %d of %d: notify takes %+.2f %% CPU a request (%+.2f to %+.2f)\n",
			n+1, c.Rounds, pairs.Both.Mean, pairs.Both.Low, pairs.Both.High)
	}
	return pairs, nil
}

// side is one of the two that take turns.
type side struct {
	transport  string
	postgresql *deploy.PostgreSQL
	instances  []*deploy.Instance
	targets    []wire.Target
}

func (c *Config) runRound(ctx context.Context, n int, clusters [2]*deploy.PostgreSQL) (round *Round, err error) {
	group := &deploy.Group{Logs: c.Logs}
	defer func() { err = errors.Join(err, group.Stop()) }()
	var sides [2]side
	for i, transport := range []string{Notify, Off} {
		s := side{transport: transport, postgresql: clusters[(n+i)%2]}
		if s.instances, err = c.startServers(ctx, group, "pair-"+transport, transport, s.postgresql.URL(), c.PairInstances); err != nil {
			return nil, err
		}
		if s.targets, err = targets(s.instances); err != nil {
			return nil, err
		}
		sides[i] = s
	}
	round = &Round{}
	for pair := -1; pair < c.Pairs; pair++ { // the first warms up and is not kept
		for turn := range sides {
			s := sides[(turn+pair+1+n)%2] // who goes first takes turns, too
			slice, err := c.runSlice(ctx, &s)
			if err != nil {
				return nil, err
			}
			if pair >= 0 {
				round.Slices = append(round.Slices, *slice)
			}
		}
	}
	return round, nil
}

func (c *Config) runSlice(ctx context.Context, s *side) (*Slice, error) {
	measured, err := load.CRUD(ctx, load.Config{
		Targets: s.targets, Users: c.Users, Timeout: requestTimeout, WarmUp: sliceWarmUp, Duration: c.Slice,
		Watch: roots(s.instances, s.postgresql), Progress: io.Discard, Run: strconv.FormatInt(time.Now().UnixMilli(), 36),
	})
	if err != nil {
		return nil, err
	}
	if ctx.Err() != nil {
		return nil, ctx.Err()
	}
	return &Slice{
		Transport: s.transport, Requests: measured.Total.Requests, Errors: measured.Total.Errors, RPS: measured.Total.RPS,
		ServerCPU: process(measured, serversName).CPUSeconds, PostgreSQLCPU: process(measured, postgresqlName).CPUSeconds,
	}, nil
}

// sum gives the intervals, of one value for two rounds: slices of a round share
// their processes, so they do not count as many.
func (p *Pairs) sum() {
	var server, postgresql, both, rate []float64 // of notify to off, a round each
	for _, round := range p.Rounds {
		var sums [2]Slice
		for _, s := range round.Slices {
			sum := &sums[0]
			if s.Transport == Off {
				sum = &sums[1]
			}
			sum.Requests += s.Requests
			sum.ServerCPU += s.ServerCPU
			sum.PostgreSQLCPU += s.PostgreSQLCPU
			sum.RPS += s.RPS
		}
		notify, off := sums[0], sums[1]
		ratio := func(cpu func(Slice) float64) float64 {
			return cpu(notify) / float64(notify.Requests) / (cpu(off) / float64(off.Requests))
		}
		server = append(server, ratio(func(s Slice) float64 { return s.ServerCPU }))
		postgresql = append(postgresql, ratio(func(s Slice) float64 { return s.PostgreSQLCPU }))
		both = append(both, ratio(func(s Slice) float64 { return s.ServerCPU + s.PostgreSQLCPU }))
		rate = append(rate, notify.RPS/off.RPS)
	}
	for interval, ratios := range map[*Interval][]float64{&p.Server: server, &p.PostgreSQL: postgresql, &p.Both: both, &p.Rate: rate} {
		*interval = intervalOf(swapped(ratios))
	}
}

// swapped gives the excess in per cent for each two rounds: the mean of their
// ratios, the geometric one, from which what one cluster takes more than the other
// goes. A last round without its other is left out.
func swapped(ratios []float64) (percent []float64) {
	for i := 1; i < len(ratios); i += 2 {
		more := (math.Sqrt(ratios[i-1]*ratios[i]) - 1) * 100
		if math.IsNaN(more) || math.IsInf(more, 0) { // nothing was done in one of them
			more = 0
		}
		percent = append(percent, more)
	}
	return percent
}
