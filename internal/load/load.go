package load

import (
	"context"
	"sync"
	"time"

	"github.com/samber/lo"

	"starling/internal/fhir"
	"starling/internal/interaction"
)

// Service carries out what is loaded: *interaction.Service.
type Service interface {
	Serve(ctx context.Context, request *interaction.Request) (*interaction.Response, error)
}

// Reader finds out whether what the journal says was loaded is still there: a
// fhir.Store.
type Reader interface {
	Read(ctx context.Context, key fhir.Key) (*fhir.Resource, error)
}

// Progress hears how far a load is. Its methods are called from many
// goroutines.
type Progress interface {
	// Advance reports bytes of the files done with, and resources stored.
	Advance(bytes int64, resources int)
	// Fail reports a failure as it happens.
	Fail(failure Failure)
}

// Loader loads files. All its fields but Dependencies are needed.
type Loader struct {
	Service Service
	Store   Reader
	// Base is the server's base URL: absolute references to it are local.
	Base string
	// Workers is how many units are in work at once.
	Workers int
	Journal *Journal
	// Checker checks the resources of packages, and Unchecked, which does not
	// do so again, stores them.
	Checker   interaction.Validator
	Unchecked Service
	// Dependencies says where the packages are that packages need.
	Dependencies Dependencies
}

// Result is the sum of a load.
type Result struct {
	Files     int
	Units     int // Bundles, and chunks of lines, loaded
	Skipped   int // units that the journal had
	Resources int64
	Bytes     int64 // of the files, as they are on disk
	Packages  []LoadedPackage
	Failures  []Failure
	Duration  time.Duration
}

// Failure is a unit, or a part of it, that was not loaded.
type Failure struct {
	Where string // the file, and the line or entry in it
	Err   *fhir.Error
}

// run is one load at work.
type run struct {
	*Loader
	progress Progress

	mu       sync.Mutex
	result   Result
	deferred []*unit // to be tried when the others are done
	advanced bool    // something was stored in this pass
}

// Run loads the files: first the packages, so that profiles are there before what
// follows them. Units that refer to others by a search
// ("Practitioner?identifier=…") come after all those that do not, and again as
// long as that brings something on: such references must find their target.
// When ctx ends, units at work are finished and the rest is left. The error
// says that not all files could be read; refused units are in Result.Failures.
func (l *Loader) Run(ctx context.Context, files []File, progress Progress) (Result, error) {
	started := time.Now()
	r := &run{Loader: l, progress: progress}
	r.result.Files = len(files)
	archives, files := lo.FilterReject(files, func(f File, _ int) bool { return f.Package })
	err := r.loadPackages(ctx, archives)
	if err == nil {
		err = r.pass(ctx, func(ctx context.Context, units chan<- *unit) error {
			return readAll(ctx, files, units)
		})
	}
	for waiting := r.take(); len(waiting) > 0; waiting = r.take() {
		if tried(waiting) && !r.advanced || ctx.Err() != nil || err != nil {
			r.giveUp(waiting)
			break
		}
		r.advanced = false
		err = r.pass(ctx, func(ctx context.Context, units chan<- *unit) error {
			return send(ctx, waiting, units)
		})
	}
	r.result.Duration = time.Since(started)
	if err == nil {
		err = ctx.Err()
	}
	return r.result, err
}

// pass has the workers load what produce sends.
func (r *run) pass(ctx context.Context, produce func(ctx context.Context, units chan<- *unit) error) error {
	units := make(chan *unit)
	var workers sync.WaitGroup
	for range r.Workers {
		workers.Go(func() {
			for u := range units {
				r.load(ctx, u)
			}
		})
	}
	err := produce(ctx, units)
	close(units)
	workers.Wait()
	return err
}

func send(ctx context.Context, waiting []*unit, units chan<- *unit) error {
	for _, u := range waiting {
		select {
		case units <- u:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	return nil
}

// tried reports whether all of the units failed before.
func tried(waiting []*unit) bool {
	for _, u := range waiting {
		if u.failure == nil {
			return false
		}
	}
	return true
}

// take gives the units put off, and forgets them.
func (r *run) take() []*unit {
	r.mu.Lock()
	defer r.mu.Unlock()
	waiting := r.deferred
	r.deferred = nil
	return waiting
}

// giveUp counts as failed what was tried, and leaves the rest for the next load.
func (r *run) giveUp(waiting []*unit) {
	for _, u := range waiting {
		if u.failure != nil {
			r.refuse(u, *u.failure)
		}
	}
}

func (r *run) fail(failure Failure) {
	r.mu.Lock()
	r.result.Failures = append(r.result.Failures, failure)
	r.mu.Unlock()
	r.progress.Fail(failure)
}
