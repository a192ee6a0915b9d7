package parameter

import (
	"context"
	"errors"
	"log/slog"
	"sync"
	"time"

	"starling/internal/fhir"
	"starling/internal/fhir/element"
)

// How often an instance looks whether there is something to index, in its memory
// alone, and while there is, how far it is; and how long it waits after a failure.
const (
	look   = 50 * time.Millisecond
	follow = 200 * time.Millisecond // while another instance is at it
	rest   = 2 * time.Second
)

// Runner has resources indexed for the parameters of Indexing, by this instance or
// another: one at a time.
type Runner struct {
	Indexing *Indexing
	Store    fhir.ReindexStore
	// Base is the base URL whose references are local; empty: that of the last
	// request.
	Base   string
	Logger *slog.Logger

	stop context.CancelFunc
	done sync.WaitGroup
}

// errChanged ends a pass: the parameters are others.
var errChanged = errors.New("parameter: the search parameters changed")

// Start reads how far parameters are indexed and begins.
func (r *Runner) Start(ctx context.Context) error {
	states, err := r.Store.ParameterStates(ctx)
	if err != nil {
		return err
	}
	r.Indexing.Progress.learn(states)
	running, stop := context.WithCancel(context.WithoutCancel(ctx))
	r.stop = stop
	r.done.Go(func() { r.watch(running) })
	r.done.Go(func() { r.work(running) })
	return nil
}

// Close ends the work, which goes on elsewhere or later.
func (r *Runner) Close() {
	r.stop()
	r.done.Wait()
}

// pending gives the parameters that are not indexed as far as is known.
func (r *Runner) pending() (basis fhir.Basis, set *Set, params []string) {
	basis, set = r.Indexing.Current()
	for _, d := range set.Custom {
		if !r.Indexing.Progress.of(d.Param(), set.versions[d.Param()]).Complete {
			params = append(params, d.Param())
		}
	}
	return basis, set, params
}

// watch follows the progress while there is something to index.
func (r *Runner) watch(ctx context.Context) {
	for wait(ctx, look) {
		if _, _, params := r.pending(); len(params) == 0 {
			continue
		}
		states, err := r.Store.ParameterStates(ctx)
		if err != nil {
			wait(ctx, rest)
			continue
		}
		r.Indexing.Progress.learn(states)
	}
}

// work keeps the states those of the current parameters, and indexes.
func (r *Runner) work(ctx context.Context) {
	var kept fhir.Basis
	for wait(ctx, look) {
		basis, set, params := r.pending()
		var err error
		if basis != kept && (len(set.Custom) > 0 || kept != (fhir.Basis{})) || len(params) > 0 {
			err = r.keep(ctx, set)
		}
		if err == nil {
			kept = basis
		}
		first := true
		if err == nil && len(params) > 0 {
			first, err = r.index(ctx, basis, set)
		}
		switch {
		case errors.Is(err, errChanged), errors.Is(err, fhir.ErrStale), ctx.Err() != nil:
		case err != nil:
			r.Logger.Warn("resources are not being indexed for new search parameters; trying again", "error", err)
			wait(ctx, rest)
		case !first:
			wait(ctx, follow) // another instance is at it
		}
	}
}

// keep has the database know the parameters of a set, and no others.
func (r *Runner) keep(ctx context.Context, set *Set) error {
	states := make([]fhir.ParameterState, len(set.Custom))
	for i, d := range set.Custom {
		states[i] = fhir.ParameterState{Param: d.Param(), Types: set.types[d.Param()], Version: set.versions[d.Param()]}
	}
	return r.Store.KeepParameters(ctx, states)
}

// index has resources indexed for parameters, unless another instance is at it.
func (r *Runner) index(ctx context.Context, basis fhir.Basis, set *Set) (bool, error) {
	states, err := r.Store.ParameterStates(ctx)
	if err != nil {
		return true, err
	}
	r.Indexing.Progress.learn(states)
	_, _, params := r.pending()
	if len(params) == 0 {
		return true, nil // another has done it
	}
	base := r.Base
	if last := r.Indexing.base.Load(); base == "" && last != nil {
		base = *last
	}
	only := set.Search.Only(set.Custom)
	start := time.Now()
	first, err := r.Store.IndexParameters(ctx, params, func(resource *fhir.Resource) (*fhir.Index, error) {
		if now, _ := r.Indexing.Current(); now != basis {
			return nil, errChanged
		}
		root, err := element.ParseStored(resource)
		if err != nil {
			return nil, err
		}
		return only.Index(resource.Type, root, base)
	})
	if first && err == nil {
		r.Logger.Info("search parameters are indexed", "parameters", params, "seconds", time.Since(start).Seconds())
		if states, err = r.Store.ParameterStates(ctx); err == nil {
			r.Indexing.Progress.learn(states)
		}
	}
	return first, err
}

// wait reports false when ctx has ended.
func wait(ctx context.Context, d time.Duration) bool {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return false
	case <-timer.C:
		return true
	}
}
