package robustness

import (
	"context"
	"fmt"
	"math/rand/v2"
	"syscall"
	"time"
)

// kind is a kind of fault. It comes back when the fault is over.
type kind struct {
	name string
	// database faults meet all servers; two of them never come together.
	database bool
	do       func(ctx context.Context, c *cluster, s *server, random *rand.Rand) error
}

// kinds are all kinds, but for those that need a standby.
var kinds = []kind{
	{"terminate", true, terminate},
	{"hold", false, hold},
	{"hold-reset", false, holdReset},
	{"delay", false, delay},
	{"stop", false, stop},
	{"kill", false, kill},
	{"restart-fast", true, restart(syscall.SIGINT)},
	{"restart-immediate", true, restart(syscall.SIGQUIT)},
}

// promotion needs a standby.
var promotion = kind{"promote", true, promote}

// between gives a time from low to high leases.
func (c *cluster) between(random *rand.Rand, low, high float64) time.Duration {
	return time.Duration((low + random.Float64()*(high-low)) * float64(c.config.Lease))
}

func wait(ctx context.Context, d time.Duration) {
	select {
	case <-time.After(d):
	case <-ctx.Done():
	}
}

// terminate ends the servers' sessions, again and again.
func terminate(ctx context.Context, c *cluster, _ *server, random *rand.Rand) error {
	for range 3 + random.IntN(4) {
		if err := c.terminate(ctx); err != nil {
			return err
		}
		wait(ctx, c.between(random, 0.1, 0.4))
	}
	return nil
}

// hold makes all connections of a server half open, and lets them go on.
func hold(ctx context.Context, c *cluster, s *server, random *rand.Rand) error {
	s.proxy.Hold()
	defer s.proxy.Release()
	wait(ctx, c.between(random, 1.2, 3))
	return nil
}

// holdReset makes all connections of a server half open, and resets them.
func holdReset(ctx context.Context, c *cluster, s *server, random *rand.Rand) error {
	s.proxy.Hold()
	defer s.proxy.Release()
	wait(ctx, c.between(random, 1.2, 3))
	s.proxy.Reset()
	return nil
}

// delay has a server's connections be slow.
func delay(ctx context.Context, c *cluster, s *server, random *rand.Rand) error {
	s.proxy.Delay(c.between(random, 0.05, 0.3))
	defer s.proxy.Delay(0)
	wait(ctx, c.between(random, 1.5, 3))
	return nil
}

// stop stops a server for longer than its lease.
func stop(ctx context.Context, c *cluster, s *server, random *rand.Rand) error {
	if err := s.Signal(syscall.SIGSTOP); err != nil {
		return err
	}
	wait(ctx, c.between(random, 1.2, 3))
	return s.Signal(syscall.SIGCONT)
}

// kill kills a server and starts it again.
func kill(ctx context.Context, c *cluster, s *server, random *rand.Rand) error {
	if err := s.End(syscall.SIGKILL); err != nil {
		return err
	}
	wait(ctx, c.between(random, 0, 1.5))
	return c.until(ctx, func() (bool, error) { // the database may be away
		err := s.Start(ctx)
		return err == nil, err
	})
}

// restart ends PostgreSQL with a signal and starts it again.
func restart(signal syscall.Signal) func(context.Context, *cluster, *server, *rand.Rand) error {
	return func(ctx context.Context, c *cluster, _ *server, random *rand.Rand) error {
		if err := c.primary.End(signal); err != nil {
			return err
		}
		wait(ctx, c.between(random, 0, 1.5))
		return c.primary.Start()
	}
}

// promote kills the primary and has its standby take its place; then that gets
// a standby of its own.
func promote(ctx context.Context, c *cluster, _ *server, random *rand.Rand) error {
	if err := c.primary.End(syscall.SIGQUIT); err != nil {
		return err
	}
	for _, s := range c.servers {
		s.proxy.Reset()
	}
	wait(ctx, c.between(random, 0, 0.5))
	if err := c.standby.Promote(); err != nil {
		return err
	}
	c.primary, c.standby = c.standby, nil
	for _, s := range c.servers {
		s.proxy.To(c.primary.Address)
	}
	wait(ctx, c.between(random, 1, 2))
	return c.addStandby(ctx)
}

func (k *kind) String() string { return k.name }

func on(k *kind, s *server) string {
	if k.database {
		return ""
	}
	return s.Name()
}

func describe(f *Fault) string {
	if f.On == "" {
		return fmt.Sprintf("%s, %.1f s", f.Kind, (f.End - f.Begin).Seconds())
	}
	return fmt.Sprintf("%s on %s, %.1f s", f.Kind, f.On, (f.End - f.Begin).Seconds())
}
