package robustness

import (
	"context"
	"math/rand/v2"
	"net/http"
	"strings"
	"time"

	"starling/loadtest/register"
)

// watchers of each server look at one register after the other.
const watchers = 2

func (r *run) startClients(ctx context.Context) {
	number := uint64(1)
	start := func(client func(ctx context.Context, random *rand.Rand)) {
		number++
		random := rand.New(rand.NewPCG(uint64(r.config.Seed), number))
		r.clients.Go(func() {
			for !r.stopped() && ctx.Err() == nil {
				client(ctx, random)
			}
		})
	}
	for i, reg := range r.registers {
		s := &setter{run: r, register: reg, value: 1, session: i >= plainRegisters}
		start(s.step)
	}
	for i := range r.cluster.servers {
		for range watchers {
			start(func(ctx context.Context, random *rand.Rand) { r.watch(ctx, i, random) })
		}
		start(func(ctx context.Context, random *rand.Rand) { r.post(ctx, i, random) })
	}
	if r.cluster.balancer != "" {
		start(func(ctx context.Context, random *rand.Rand) { r.post(ctx, -1, random) })
	}
}

// base gives the FHIR base of a server, and its name; -1 is the load balancer.
func (r *run) base(server int) (url, name string) {
	if server < 0 {
		return r.cluster.balancer, ""
	}
	s := r.cluster.servers[server]
	return s.URL(), s.Name()
}

// anywhere is the load balancer, or any server where there is none.
func (r *run) anywhere(random *rand.Rand) (url, name string) {
	if r.cluster.balancer != "" {
		return r.base(-1)
	}
	return r.base(random.IntN(len(r.cluster.servers)))
}

func (r *run) any(random *rand.Rand) *shared { return r.registers[random.IntN(len(r.registers))] }

func pause(random *rand.Rand, low, high time.Duration) {
	time.Sleep(low + time.Duration(random.Int64N(int64(high-low))))
}

// watch looks at a register on one server.
func (r *run) watch(ctx context.Context, server int, random *rand.Rand) {
	reg := r.any(random)
	url, name := r.base(server)
	r.lookAt(ctx, reg, url, name, "", 0)
	pause(random, 2*time.Millisecond, 10*time.Millisecond)
}

func (r *run) lookAt(ctx context.Context, reg *shared, url, name, version string, carried int64) {
	value, a, err := r.client.Get(ctx, url, reg.Register, version)
	if err != nil {
		r.failed("look", a, err)
		return
	}
	r.look(Look{Register: reg.Name, Value: value, Server: name, Begin: r.since(a.Begin), End: r.since(a.End), Carried: carried, How: Validated})
}

// post posts a resource that fits the newest value of a register, the one before,
// or the one to come.
func (r *run) post(ctx context.Context, server int, random *rand.Rand) {
	defer pause(random, 5*time.Millisecond, 20*time.Millisecond)
	reg := r.any(random)
	value := reg.newest.Load()
	switch chance := random.Float64(); {
	case chance < 0.25 && value > 1:
		value--
	case chance > 0.85:
		value++
	}
	url, name := r.base(server)
	a, err := r.client.Do(ctx, http.MethodPost, url+"/Basic", reg.Resource(value, "posted"), "Prefer", "return=minimal")
	l := Look{Register: reg.Name, Value: value, Server: name, Begin: r.since(a.Begin), End: r.since(a.End), How: Accepted}
	if err == nil && a.Status == http.StatusCreated {
		id, ok := idOf(a.Location)
		if !ok {
			r.failed("post without an id", a, nil)
			return
		}
		r.mu.Lock()
		r.history.Stored = append(r.history.Stored, Stored{reg.Name, value, id})
		r.mu.Unlock()
		r.look(l)
		return
	}
	told, ok := register.Value(a.Body)
	if err != nil || !ok || a.Status != http.StatusBadRequest && a.Status != http.StatusUnprocessableEntity {
		r.failed("post", a, err)
		return
	}
	l.Value, l.How = told, Refused
	r.look(l)
}

// idOf finds the id in …/Basic/id/_history/1.
func idOf(location string) (string, bool) {
	_, rest, ok := strings.Cut(location, "/Basic/")
	id, _, found := strings.Cut(rest, "/")
	return id, ok && found && id != ""
}

// setter sets one register, which nobody else does: each value once, and only on
// top of the version it knows, so that a late write cannot undo a newer one.
type setter struct {
	*run
	register *shared
	value    int64
	etag     string // empty: to be asked for
	session  bool   // goes through the load balancer, and looks there, too
	// What a session carries, and the value of that change.
	version string
	carried int64
}

func (s *setter) step(ctx context.Context, random *rand.Rand) {
	if s.etag == "" && !s.recover(ctx, random) {
		pause(random, 20*time.Millisecond, 100*time.Millisecond)
		return
	}
	url, _ := s.base(random.IntN(len(s.cluster.servers)))
	if s.session {
		url, _ = s.anywhere(random)
	}
	s.value++
	async := random.Float64() < 0.5
	a, err := s.client.Set(ctx, url, s.register.Register, s.value, s.etag, async)
	acknowledged := err == nil && a.Status == http.StatusOK
	s.set(Set{
		Register: s.register.Name, Value: s.value, Begin: s.since(a.Begin), End: s.since(a.End), Acknowledged: acknowledged, Async: async,
	})
	if acknowledged {
		s.register.newest.Store(s.value)
		s.etag, s.version, s.carried = a.ETag, a.Version, s.value
	} else {
		s.failed("set", a, err)
		s.etag = ""
	}
	if s.session && s.version != "" {
		for range 1 + random.IntN(6) {
			url, name := s.anywhere(random)
			s.lookAt(ctx, s.register, url, name, s.version, s.carried)
		}
	}
	pause(random, 10*time.Millisecond, 120*time.Millisecond)
}

// recover asks for the version there is.
func (s *setter) recover(ctx context.Context, random *rand.Rand) bool {
	url, _ := s.base(random.IntN(len(s.cluster.servers)))
	a, err := s.client.Do(ctx, http.MethodGet, url+s.register.Path(), nil)
	if err != nil || a.Status != http.StatusOK || a.ETag == "" {
		s.failed("read", a, err)
		return false
	}
	s.etag = a.ETag
	return true
}
