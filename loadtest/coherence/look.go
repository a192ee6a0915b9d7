package coherence

import (
	"context"
	"fmt"
	"sync"
	"time"
)

const (
	// lookAgain is the pause between two looks at one server.
	lookAgain = 500 * time.Microsecond
	// giveUp is how many leases a change may take until it is applied everywhere.
	giveUp = 10
)

// look asks one server for the register's value.
func (c *changer) look(ctx context.Context, server int, l *lane, acknowledged time.Time) (current bool, end time.Time, err error) {
	value, a, err := c.client.Get(ctx, c.instances[server].URL(), l.register, "")
	if err != nil {
		return false, a.End, err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.changes.Looks++
	c.resolution = append(c.resolution, a.End.Sub(a.Begin))
	if value < l.value && a.Begin.Sub(acknowledged) > c.lease {
		c.changes.Stale++
	}
	return value >= l.value, a.End, nil
}

// lookUntilApplied looks at all servers at once, again and again, until each has
// shown the change.
func (c *changer) lookUntilApplied(ctx context.Context, l *lane, acknowledged time.Time, measured bool) {
	ctx, cancel := context.WithTimeout(ctx, giveUp*c.lease)
	defer cancel()
	seen := make([]time.Time, len(c.instances))
	var servers sync.WaitGroup
	for i := range c.instances {
		servers.Go(func() {
			for ctx.Err() == nil {
				current, end, err := c.look(ctx, i, l, acknowledged)
				if err != nil {
					c.failed(err)
					return
				}
				if current {
					seen[i] = end
					return
				}
				time.Sleep(lookAgain)
			}
		})
	}
	servers.Wait()
	var last time.Time
	for i, at := range seen {
		if at.IsZero() {
			c.failed(fmt.Errorf("%s has not shown a change within %d leases", c.instances[i].Name(), giveUp))
			return
		}
		if at.After(last) {
			last = at
		}
	}
	if measured {
		c.mu.Lock()
		c.applied = append(c.applied, last.Sub(acknowledged))
		c.mu.Unlock()
	}
}

// lookOnce looks at each server once, after a change that waited for all of them.
func (c *changer) lookOnce(ctx context.Context, l *lane, acknowledged time.Time, took time.Duration, measured bool) {
	all := make([]bool, len(c.instances))
	var servers sync.WaitGroup
	for i := range c.instances {
		servers.Go(func() {
			current, _, err := c.look(ctx, i, l, acknowledged)
			if err != nil {
				c.failed(err)
				current = true // it is counted as failed
			}
			all[i] = current
		})
	}
	servers.Wait()
	if !measured || took >= c.lease { // it did not wait for all: some did not answer
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.changes.Looked++
	for _, current := range all {
		if !current {
			c.changes.Late++
			return
		}
	}
}
