package robustness

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"sync"
	"time"
)

// calm is how long nothing is done between faults, in leases.
const calm = 0.6

// schedule does each kind of fault once, in an order of the seed's, and then goes
// on for the duration. It comes back when all faults are over.
func (r *run) schedule(ctx context.Context) error {
	random := rand.New(rand.NewPCG(uint64(r.config.Seed), 1))
	all := slices.Clone(kinds)
	if r.cluster.standby != nil {
		all = append(all, promotion)
	}
	random.Shuffle(len(all), func(i, j int) { all[i], all[j] = all[j], all[i] })
	for i := range all {
		if err := r.fault(ctx, random, &all[i]); err != nil {
			return err
		}
	}
	for deadline := time.Now().Add(r.config.Duration); time.Now().Before(deadline) && ctx.Err() == nil; {
		kinds := []*kind{&all[random.IntN(len(all))]}
		another := &all[random.IntN(len(all))]
		if bothDatabase := another.database && kinds[0].database; r.config.Together && !bothDatabase {
			kinds = append(kinds, another)
		}
		if err := r.fault(ctx, random, kinds...); err != nil {
			return err
		}
	}
	return ctx.Err()
}

// fault does faults at once, each on a server of its own.
func (r *run) fault(ctx context.Context, random *rand.Rand, kinds ...*kind) error {
	first := random.IntN(len(r.cluster.servers))
	errs := make([]error, len(kinds))
	var all sync.WaitGroup
	for i, k := range kinds {
		s := r.cluster.servers[(first+i)%len(r.cluster.servers)]
		own := rand.New(rand.NewPCG(random.Uint64(), random.Uint64()))
		all.Go(func() {
			f := Fault{Kind: k.name, On: on(k, s), Begin: r.now()}
			if err := k.do(ctx, r.cluster, s, own); err != nil {
				errs[i] = fmt.Errorf("%s: %w", k, err)
			}
			f.End = r.now()
			r.mu.Lock()
			defer r.mu.Unlock()
			r.history.Faults = append(r.history.Faults, f)
			fmt.Fprintf(r.config.Progress, "%6.1f s  %s\n", f.End.Seconds(), describe(&f))
		})
	}
	all.Wait()
	wait(ctx, time.Duration(calm*float64(r.config.Lease)))
	return errors.Join(errs...)
}
