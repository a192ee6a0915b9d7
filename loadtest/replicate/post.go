package replicate

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"sync"
	"sync/atomic"
	"time"

	"starling/loadtest/wire"
)

// Config says how much to post where.
type Config struct {
	Targets   []wire.Target // workers are spread over them in turn
	Bundles   []Bundle
	Resources int // that there shall be, with those there are
	Present   int // that were posted before, by the same bundles
	Workers   int
	Timeout   time.Duration // of one transaction
	Progress  io.Writer     // a line every few seconds
}

// Post posts copies of the bundles, one after the other, from the first that
// the resources present do not hold, until there are as many as wanted. It gives
// how many there are then. The first that fails ends it.
func Post(ctx context.Context, c Config) (int, error) {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	todo := make(chan job)
	var posted atomic.Int64
	posted.Store(int64(c.Present))
	var workers sync.WaitGroup
	for n := range c.Workers {
		conn := wire.NewConn(c.Targets[n%len(c.Targets)], c.Timeout)
		workers.Go(func() {
			defer conn.Close()
			for j := range todo {
				if err := j.post(conn); err != nil {
					cancel(err)
					return
				}
				posted.Add(int64(j.bundle.Resources))
			}
		})
	}
	begun := time.Now()
	done := make(chan struct{})
	go func() {
		defer close(done)
		c.jobs(ctx, todo)
		workers.Wait()
	}()
	ticker := time.NewTicker(5 * time.Second)
	defer ticker.Stop()
	for {
		select {
		case <-ticker.C:
			n := posted.Load()
			fmt.Fprintf(c.Progress, "%d resources, %.0f a second\n", n, float64(n-int64(c.Present))/time.Since(begun).Seconds())
		case <-done:
			return int(posted.Load()), context.Cause(ctx)
		}
	}
}

type job struct {
	bundle *Bundle
	number int
}

// jobs hands out the copies in their order.
func (c *Config) jobs(ctx context.Context, todo chan<- job) {
	defer close(todo)
	for n, number := 0, 0; ; number++ {
		for i := range c.Bundles {
			if n >= c.Resources {
				return
			}
			before := n
			if n += c.Bundles[i].Resources; before < c.Present {
				continue
			}
			select {
			case todo <- job{&c.Bundles[i], number}:
			case <-ctx.Done():
				return
			}
		}
	}
}

func (j job) post(conn *wire.Conn) error {
	response, err := conn.Do("POST", "", func(b []byte) []byte { return Copy(b, j.bundle.Text, j.number) })
	if err != nil {
		return fmt.Errorf("copy %d of %s: %w", j.number, j.bundle.Name, err)
	}
	if response.Status != 200 || !bytes.Contains(response.Body, []byte(`"transaction-response"`)) {
		return errors.New("copy of " + j.bundle.Name + fmt.Sprintf(": status %d: %.400s", response.Status, response.Body))
	}
	return nil
}
