package load

import (
	"context"
	"time"
)

// pacer gives the times at which one virtual user is to send its requests.
type pacer struct {
	interval time.Duration // between two requests of this user; 0: closed loop
	due      time.Time     // of the next request
}

// newPacer spreads the users over the first interval, so that they do not send
// in step.
func newPacer(c *Config, user int, start time.Time) pacer {
	if c.Rate == 0 {
		return pacer{}
	}
	interval := time.Duration(float64(c.Users) / c.Rate * float64(time.Second))
	return pacer{interval: interval, due: start.Add(interval * time.Duration(user) / time.Duration(c.Users))}
}

// next waits until the next request is due and gives that time, which is in the
// past when the user is behind its schedule. In a closed loop it is now.
func (p *pacer) next(ctx context.Context) time.Time {
	now := time.Now()
	if p.interval == 0 {
		return now
	}
	due := p.due
	p.due = due.Add(p.interval)
	if wait := due.Sub(now); wait > 0 {
		select {
		case <-time.After(wait):
		case <-ctx.Done():
		}
	}
	return due
}
