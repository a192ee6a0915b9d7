package load

import (
	"context"
	"sync"
	"sync/atomic"
	"time"

	"starling/loadtest/procs"
	"starling/loadtest/record"
	"starling/loadtest/scenario"
	"starling/loadtest/wire"
)

// run is the state the virtual users share.
type run struct {
	config   *Config
	command  string
	window   window
	recorder *record.Recorder

	begun                         atomic.Int64 // iterations, in any phase
	iterations, abandoned, unsent atomic.Int64
}

// another reports whether a user is to begin another iteration.
func (r *run) another(ctx context.Context) bool {
	if ctx.Err() != nil || !time.Now().Before(r.window.end) {
		return false
	}
	return r.config.Iterations == 0 || r.begun.Add(1) <= r.config.Iterations
}

// CRUD runs the CRUD scenario. When ctx ends, users complete their iteration and
// the result is of what was measured until then.
func CRUD(ctx context.Context, config Config) (*record.Result, error) {
	if err := config.validate(); err != nil {
		return nil, err
	}
	bodies, err := scenario.Load()
	if err != nil {
		return nil, err
	}
	watch, err := procs.NewWatch(config.Watch)
	if err != nil {
		return nil, err
	}
	keys := make([]record.Key, 0, scenario.Requests)
	for _, step := range scenario.Steps {
		keys = append(keys, record.Key{Interaction: step.Interaction.String(), Type: scenario.Types[step.Type]})
	}
	return drive(ctx, &config, "crud", keys, watch, func(r *run, number int, p pacer, conn *wire.Conn) iterator {
		return &user{run: r, number: number, it: scenario.Iteration{Bodies: bodies}, conn: conn, pacer: p}
	}), nil
}

// iterator is a virtual user: iterate runs its iterations until the run ends.
type iterator interface{ iterate(ctx context.Context) }

// drive runs virtual users, records requests of the kinds that the keys name,
// and gives the result of the command.
func drive(ctx context.Context, config *Config, command string, keys []record.Key, watch *procs.Watch,
	newUser func(r *run, number int, p pacer, conn *wire.Conn) iterator,
) *record.Result {
	start := time.Now()
	r := &run{config: config, command: command, window: config.window(start), recorder: record.NewRecorder(keys)}
	observer := newObserver(r, watch)
	go observer.observe()

	var users sync.WaitGroup
	for number := range config.Users {
		conn := wire.NewConn(config.Targets[number%len(config.Targets)], config.Timeout)
		u := newUser(r, number, newPacer(config, number, start), conn)
		users.Go(func() { u.iterate(ctx) })
	}
	users.Wait()
	finished := time.Now()
	observer.stop()
	return r.result(start, finished, observer)
}

func (r *run) result(start, finished time.Time, o *observer) *record.Result {
	measuredTo := r.window.to
	if finished.Before(measuredTo) {
		measuredTo = finished
	}
	c := r.config
	result := &record.Result{
		Schema: record.Schema, Command: r.command, Started: start.UTC(), Finished: finished.UTC(),
		Options: record.Options{
			VirtualUsers: c.Users, Rate: c.Rate, Iterations: c.Iterations, TimeoutSeconds: c.Timeout.Seconds(),
		},
		Machine:         record.ThisMachine(),
		MeasuredSeconds: max(0, measuredTo.Sub(r.window.from).Seconds()),
		Iterations:      r.iterations.Load(), Abandoned: r.abandoned.Load(), Unsent: r.unsent.Load(),
		Seconds: o.seconds,
	}
	if c.Iterations == 0 {
		result.Options.WarmUpSeconds = c.WarmUp.Seconds()
		result.Options.DurationSeconds = c.Duration.Seconds()
		result.Options.CoolDownSeconds = c.CoolDown.Seconds()
	}
	for _, target := range c.Targets {
		result.Options.Targets = append(result.Options.Targets, "http://"+target.Host+target.Base)
	}
	r.recorder.Fill(result)
	result.Processes = o.processes(result.Total.Requests)
	return result
}
