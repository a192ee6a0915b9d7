package coherence

import (
	"context"
	"fmt"
	"net/http"
	"sync"
	"time"

	"starling/loadtest/register"
)

// lanes is how many changes may be under way at once: each has a profile of its
// own, so that one register's values are set in order.
const lanes = 24

// lane is a register and its newest value.
type lane struct {
	register register.Register
	value    int64
}

// newLanes sets up the registers of a deployment.
func (d *deployment) newLanes(ctx context.Context) (chan *lane, error) {
	free := make(chan *lane, lanes)
	for i := range lanes {
		l := &lane{register.Register{Name: fmt.Sprintf("lane-%d", i+1)}, 1}
		a, err := d.client.Set(ctx, d.instances[i%len(d.instances)].URL(), l.register, l.value, "", false)
		if err != nil {
			return nil, err
		}
		if a.Status != http.StatusCreated {
			return nil, fmt.Errorf("%s: status %d: %.200s", l.register.Path(), a.Status, a.Body)
		}
		free <- l
	}
	return free, nil
}

// watched is how many changes a second are looked at until they are applied.
// Looking costs the servers requests.
const watched = 10

// changer changes system resources at a rate, and looks when that is applied.
type changer struct {
	*deployment
	free     chan *lane
	rate     float64
	lease    time.Duration
	from, to time.Time // the measured time, by when a change was sent

	mu                                  sync.Mutex
	waiting, async, applied, resolution []time.Duration
	changes                             Changes
}

// run changes from now on until the measured time is over, and waits for what
// is under way. A change that finds all registers in use is late.
func (c *changer) run(ctx context.Context) {
	if c.rate <= 0 {
		return
	}
	interval := time.Duration(float64(time.Second) / c.rate)
	var under sync.WaitGroup
	start := time.Now()
	every := max(1, int(c.rate/watched))
	for n := 0; ctx.Err() == nil; n++ {
		due := start.Add(time.Duration(n) * interval)
		time.Sleep(time.Until(due))
		l := <-c.free
		sent := time.Now()
		if !sent.Before(c.to) {
			c.free <- l
			break
		}
		looked := n%every == 0
		waits := n/every%4 == 3
		under.Go(func() {
			c.change(ctx, l, n, waits, looked, !sent.Before(c.from))
			c.free <- l
		})
	}
	under.Wait()
}

func (c *changer) change(ctx context.Context, l *lane, n int, waits, looked, measured bool) {
	l.value++
	a, err := c.client.Set(ctx, c.instances[n%len(c.instances)].URL(), l.register, l.value, "", !waits)
	if err == nil && a.Status != http.StatusOK {
		err = fmt.Errorf("status %d: %.200s", a.Status, a.Body)
	}
	if err != nil {
		c.failed(err)
		return
	}
	took := a.End.Sub(a.Begin)
	if measured {
		c.mu.Lock()
		c.changes.Acknowledged++
		if waits {
			c.waiting = append(c.waiting, took)
		} else {
			c.async = append(c.async, took)
		}
		c.mu.Unlock()
	}
	if !looked {
		return
	}
	if waits {
		c.lookOnce(ctx, l, a.End, took, measured)
	} else {
		c.lookUntilApplied(ctx, l, a.End, measured)
	}
}

const maxSamples = 5

func (c *changer) failed(err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.changes.Failed++
	if len(c.changes.Samples) < maxSamples {
		c.changes.Samples = append(c.changes.Samples, err.Error())
	}
}

// result sums up when all is done.
func (c *changer) result() Changes {
	changes := c.changes
	changes.PerSecond = float64(changes.Acknowledged) / c.to.Sub(c.from).Seconds()
	changes.Waiting, changes.Async = timesOf(c.waiting), timesOf(c.async)
	changes.Applied, changes.Resolution = timesOf(c.applied), timesOf(c.resolution)
	return changes
}
