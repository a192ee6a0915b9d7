package load

import (
	"context"
	"time"

	"starling/loadtest/record"
	"starling/loadtest/scenario"
	"starling/loadtest/wire"
)

// methods of the interactions.
var methods = [...]string{scenario.Create: "POST", scenario.Read: "GET", scenario.Update: "PUT", scenario.Delete: "DELETE"}

// pause keeps a user whose requests get no answer at all from spinning.
const pause = 20 * time.Millisecond

// user is one virtual user.
type user struct {
	run    *run
	number int
	conn   *wire.Conn
	pacer  pacer
	it     scenario.Iteration
}

// iterate runs iterations until the run ends.
func (u *user) iterate(ctx context.Context) {
	defer u.conn.Close()
	for number := 0; u.run.another(ctx); number++ {
		u.it.Start(u.run.config.Run, u.number, number)
		begun := time.Now()
		completed := u.iteration(ctx)
		if u.run.window.measures(begun) {
			if completed {
				u.run.iterations.Add(1)
			} else {
				u.run.abandoned.Add(1)
			}
		}
	}
	u.run.countUnsent(&u.pacer)
}

// iteration runs one, to its end even when the run's time is over so that no
// resource is left behind. It reports false if a create failed.
func (u *user) iteration(ctx context.Context) bool {
	for i, step := range scenario.Steps {
		intended := u.pacer.next(ctx)
		kind, answered := u.send(step, intended, i)
		if !answered {
			time.Sleep(pause)
		}
		if kind != "" && step.Interaction == scenario.Create {
			u.cleanUp()
			return false
		}
	}
	return true
}

// send sends one request and records its outcome. kind is "" if the answer was right.
func (u *user) send(step scenario.Step, intended time.Time, key int) (kind string, answered bool) {
	outcome := record.Outcome{Key: key, Measured: u.run.window.measures(intended)}
	response, err := u.do(step)
	outcome.Latency = time.Since(intended)
	if err != nil {
		outcome.Kind, outcome.Sample = wire.Kind(err), err.Error()
	} else if fault := u.it.Check(step, answer(response)); fault != nil {
		outcome.Kind, outcome.Sample = fault.Kind, fault.Detail
	}
	u.run.recorder.Record(outcome)
	return outcome.Kind, err == nil
}

func answer(r wire.Response) scenario.Answer {
	return scenario.Answer{Status: r.Status, Location: r.Location, ETag: r.ETag, Body: r.Body}
}

func (u *user) do(step scenario.Step) (wire.Response, error) {
	path := "/" + scenario.Types[step.Type]
	if step.Interaction != scenario.Create {
		path += "/" + u.it.ID(step.Type)
	}
	if step.Interaction == scenario.Create || step.Interaction == scenario.Update {
		return u.conn.Do(methods[step.Interaction], path, func(b []byte) []byte { return u.it.AppendBody(b, step) })
	}
	return u.conn.Do(methods[step.Interaction], path, nil)
}

// cleanUp deletes what an abandoned iteration has created, unrecorded.
func (u *user) cleanUp() {
	for _, step := range scenario.Steps {
		if step.Interaction == scenario.Delete && u.it.ID(step.Type) != "" {
			if _, err := u.do(step); err != nil {
				return
			}
		}
	}
}

// countUnsent records the requests of an open loop that were due in the measured
// time and never sent, with the time they have waited by now: leaving them out
// would hide exactly the requests that waited longest.
func (r *run) countUnsent(p *pacer) {
	if p.interval == 0 || r.config.Iterations > 0 {
		return
	}
	now := time.Now()
	for ; p.due.Before(r.window.to); p.due = p.due.Add(p.interval) {
		if !r.window.measures(p.due) {
			continue
		}
		r.unsent.Add(1)
		r.recorder.Record(record.Outcome{
			Key: 0, Latency: now.Sub(p.due), Measured: true, Kind: "not sent in time",
			Sample: "the server does not keep up with the rate",
		})
	}
}
