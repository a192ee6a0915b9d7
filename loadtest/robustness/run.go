package robustness

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"sync"
	"sync/atomic"
	"time"

	"starling/loadtest/deploy"
	"starling/loadtest/record"
	"starling/loadtest/register"
)

// run is one experiment under way.
type run struct {
	config  *Config
	cluster *cluster
	client  *register.Client
	started time.Time
	ended   chan struct{} // closed when clients are to stop
	clients sync.WaitGroup
	// registers by their clients: some are set through any server, each of the
	// others by a client that goes through the load balancer.
	registers []*shared

	mu       sync.Mutex
	history  History
	failures map[string]int
}

// shared is a register and the newest value known to be set.
type shared struct {
	register.Register
	newest atomic.Int64
}

// Registers of each kind.
const (
	plainRegisters   = 3
	sessionRegisters = 2
)

// requestTimeout is longer than a server is stopped.
const requestTimeout = 15 * time.Second

func (r *run) now() time.Duration { return time.Since(r.started) }

// Run runs the experiment. The verdict is there when the error is nil; it may be
// that promises were broken.
func Run(ctx context.Context, config Config) (verdict *Verdict, history *History, err error) {
	if err := config.validate(); err != nil {
		return nil, nil, err
	}
	r := &run{
		config: &config, client: register.NewClient(requestTimeout), started: time.Now(), ended: make(chan struct{}),
		failures: map[string]int{}, history: History{Seed: config.Seed, Lease: config.Lease},
	}
	defer r.client.Close()
	if r.cluster, err = startCluster(ctx, &config); err != nil {
		return nil, nil, err
	}
	defer func() { err = errors.Join(err, r.cluster.stop()) }()
	if err := r.setUp(ctx); err != nil {
		return nil, nil, err
	}
	fmt.Fprintf(config.Progress, "%6.1f s  %d servers serve, with %s and a lease of %v; seed %d\n",
		r.now().Seconds(), config.Servers, config.Transport, config.Lease, config.Seed)
	r.startClients(ctx)
	faults := r.schedule(ctx)
	close(r.ended)
	r.clients.Wait()
	if faults != nil {
		return nil, nil, faults
	}
	converged, err := r.settle(ctx)
	if err != nil {
		return nil, nil, err
	}
	return r.verdict(converged), &r.history, nil
}

// setUp makes the registers.
func (r *run) setUp(ctx context.Context) error {
	for i := range plainRegisters + sessionRegisters {
		reg := &shared{Register: register.Register{Name: fmt.Sprintf("register-%d", i+1)}}
		begin := r.now()
		a, err := r.client.Set(ctx, r.cluster.servers[0].URL(), reg.Register, 1, "", false)
		if err != nil {
			return err
		}
		if a.Status != http.StatusCreated {
			return fmt.Errorf("%s: status %d: %.200s", reg.Path(), a.Status, a.Body)
		}
		reg.newest.Store(1)
		r.registers = append(r.registers, reg)
		r.history.Sets = append(r.history.Sets, Set{Register: reg.Name, Value: 1, Begin: begin, End: r.now(), Acknowledged: true})
	}
	return nil
}

// stopped reports whether clients are to stop.
func (r *run) stopped() bool {
	select {
	case <-r.ended:
		return true
	default:
		return false
	}
}

func (r *run) since(t time.Time) time.Duration { return t.Sub(r.started) }

func (r *run) set(s Set) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.history.Sets = append(r.history.Sets, s)
}

func (r *run) look(l Look) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.history.Looks = append(r.history.Looks, l)
}

// failed counts requests that told nothing.
func (r *run) failed(what string, a register.Answer, err error) {
	reason := fmt.Sprintf("%s: status %d", what, a.Status)
	if a.Status == 0 {
		reason = what + ": no answer"
		var timeout interface{ Timeout() bool }
		if errors.As(err, &timeout) && timeout.Timeout() {
			reason = what + ": no answer in time"
		}
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.failures[reason]++
}

// settle waits until all servers show what the database has, looks at each for
// the last time, and reads the database.
func (r *run) settle(ctx context.Context) (took time.Duration, err error) {
	begun := time.Now()
	wait(ctx, r.config.Lease) // for what clients gave up on
	var final []Look
	err = r.cluster.until(ctx, func() (bool, error) {
		var err error
		if r.history.Committed, r.history.Rows, err = r.cluster.readRows(ctx); err != nil {
			return false, err
		}
		final, err = r.lookAtAll(ctx)
		r.history.Final = final
		f := newFacts(&r.history)
		c := f.convergence()
		return err == nil && c.Passed(), err
	})
	if err != nil && len(final) == len(r.registers)*len(r.cluster.servers) && ctx.Err() == nil {
		err = nil // they answer, and wrongly: the verdict says so
	}
	return time.Since(begun), err
}

func (r *run) lookAtAll(ctx context.Context) (all []Look, err error) {
	for _, reg := range r.registers {
		for _, s := range r.cluster.servers {
			value, a, err := r.client.Get(ctx, s.URL(), reg.Register, "")
			if err != nil {
				return all, fmt.Errorf("%s: %w", s.Name(), err)
			}
			all = append(all, Look{Register: reg.Name, Value: value, Server: s.Name(), Begin: r.since(a.Begin), End: r.since(a.End), How: Validated})
		}
	}
	return all, nil
}

func (r *run) verdict(converged time.Duration) *Verdict {
	v := &Verdict{
		Schema: Schema, Machine: record.ThisMachine(),
		PostgreSQL: deploy.PostgreSQLVersion(r.config.PostgreSQL), Server: deploy.FirstLine(r.config.Server, "version"),
		Seed: r.config.Seed, Transport: r.config.Transport, Servers: r.config.Servers, LeaseSeconds: r.config.Lease.Seconds(),
		Seconds: r.now().Seconds(), Balancer: r.cluster.balancer != "", Standby: r.cluster.standby != nil,
		Looks: len(r.history.Looks), Sets: len(r.history.Sets), Resources: len(r.history.Stored), Failures: r.failures,
		ConvergedSeconds: converged.Seconds(), Checks: r.history.Check(),
	}
	for _, s := range r.history.Sets {
		if s.Acknowledged {
			v.Acknowledged++
		}
	}
	v.Faults = map[string]int{}
	for _, f := range r.history.Faults {
		v.Faults[f.Kind]++
	}
	v.Passed = true
	for i := range v.Checks {
		v.Passed = v.Passed && v.Checks[i].Passed()
	}
	return v
}
