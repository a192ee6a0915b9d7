package load

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"starling/internal/fhir"
	"starling/internal/interaction"
)

// The most that one transaction stores of packages. It is much: each transaction
// makes every instance rebuild its caches.
const (
	chunkResources = 2000
	chunkContent   = 64 << 20
)

// LoadedPackage says what a package came to.
type LoadedPackage struct {
	Package
	New, Changed, Unchanged int
	// BuiltIn are left out, since the package is one of the specification's own, and
	// the server has what these define. Others are left out since they define nothing:
	// examples, mostly.
	BuiltIn, Others int
	// Faulty are those that break rules of the specification, and were stored
	// all the same. Faults has the first of them.
	Faulty int
	Faults []Failure
}

// maxFaults is how many faulty resources of a package are told.
const maxFaults = 5

// packages loads packages, and those they need before them.
type packages struct {
	*run
	results map[*Package]*LoadedPackage
	// pending are resources not yet stored, one of each identity.
	pending map[identity]*packageResource
	order   []identity
	size    int
}

// identity is what makes two resources the same: the canonical with its version, or
// the id where a type has no canonical.
type identity struct {
	resourceType     fhir.ResourceType
	url, version, id string
}

func (r *packageResource) identity() identity {
	if r.url == "" {
		return identity{resourceType: r.key.Type, id: r.key.ID}
	}
	return identity{resourceType: r.key.Type, url: r.url, version: r.version}
}

// loadPackages loads package files. Its error says that they, or what they need, could
// not be read, or that the store failed.
func (r *run) loadPackages(ctx context.Context, files []File) error {
	if len(files) == 0 {
		return nil
	}
	order, builtIn, err := r.Dependencies.resolve(ctx, files)
	if err != nil {
		return err
	}
	for _, p := range order { // one that is damaged is to load nothing
		if _, err := p.verify(ctx); err != nil {
			return err
		}
	}
	for _, p := range builtIn {
		resources, err := p.verify(ctx)
		if err != nil {
			return err
		}
		r.result.Packages = append(r.result.Packages, LoadedPackage{Package: *p, BuiltIn: resources})
		r.done(p)
	}
	l := packages{run: r, results: map[*Package]*LoadedPackage{}, pending: map[identity]*packageResource{}}
	defer func() {
		for _, p := range order {
			if result := l.results[p]; result != nil {
				r.result.Packages = append(r.result.Packages, *result)
			}
		}
	}()
	for _, p := range order {
		if err := l.load(ctx, p); err != nil {
			return err
		}
		r.done(p)
	}
	return l.flush(ctx)
}

func (r *run) done(p *Package) {
	r.result.Bytes += p.size
	r.progress.Advance(p.size, 0)
}

// load takes in the resources of a package.
func (l *packages) load(ctx context.Context, p *Package) error {
	result := &LoadedPackage{Package: *p}
	l.results[p] = result
	return walk(ctx, p.Path, packageBounds, func(f *packageFile) error {
		if !isResourceFile(f.name) {
			return nil
		}
		text, err := f.all(maxPackageDocument)
		if err != nil {
			return err
		}
		resource, faults, err := readResource(l.Checker, p, f.name, text)
		switch {
		case err != nil:
			l.fail(Failure{p.Path + ": " + f.name, interaction.Failure(err)})
			return nil
		case resource == nil:
			result.Others++
			return nil
		case len(faults) > 0:
			result.fault(Failure{resource.where, &fhir.Error{Kind: fhir.KindUnprocessable, Issues: faults}})
		}
		l.add(resource)
		if len(l.pending) >= chunkResources || l.size >= chunkContent {
			return l.flush(ctx)
		}
		return nil
	})
}

func (p *LoadedPackage) fault(f Failure) {
	if p.Faulty++; len(p.Faults) < maxFaults {
		p.Faults = append(p.Faults, f)
	}
}

// add takes in a resource. Of two that are the same the later counts: it is of the
// package that needs the other's.
func (l *packages) add(r *packageResource) {
	id := r.identity()
	if l.pending[id] == nil {
		l.order = append(l.order, id)
	}
	l.pending[id] = r
	l.size += r.size()
}

// flush stores what is pending. It is finished also when ctx ends.
func (l *packages) flush(ctx context.Context) error {
	if len(l.order) == 0 {
		return nil
	}
	resources := make([]*packageResource, len(l.order))
	for i, id := range l.order {
		resources[i] = l.pending[id]
	}
	clear(l.pending)
	l.order, l.size = nil, 0
	return l.store(context.WithoutCancel(ctx), resources)
}

// races is how often a transaction is planned anew because another writer
// came between.
const races = 10

// store stores resources in one transaction. What is refused is left out of it.
func (l *packages) store(ctx context.Context, resources []*packageResource) error {
	for lost := 0; ; {
		plan, err := l.plan(ctx, resources)
		if errors.Is(err, errOvertaken) {
			if lost++; lost < races {
				continue
			}
		}
		if err != nil {
			return err
		}
		if len(plan.writes) == 0 {
			l.count(plan)
			return nil
		}
		done, err := l.post(ctx, l.Unchecked, plan.request(), plan.writes[0].resource.of.Path)
		if err == nil {
			l.result.Resources += int64(done.resources)
			l.result.Units++
			l.progress.Advance(0, done.resources)
			l.count(plan)
			return nil
		}
		failure := interaction.Failure(err)
		entry, of := failedEntry(failure)
		switch {
		case failure.Kind == fhir.KindPreconditionFailed || failure.Kind == fhir.KindConflict:
			if lost++; lost == races {
				return fmt.Errorf("%s: others keep changing what it has: %w", resources[0].of.Path, err)
			}
		case of && entry < len(plan.writes) && failure.Kind != fhir.KindInternal:
			refused := plan.writes[entry].resource
			l.fail(Failure{refused.where, failure})
			resources = slices.DeleteFunc(resources, func(r *packageResource) bool { return r == refused })
		default:
			return fmt.Errorf("%s: %w", resources[0].of.Path, err)
		}
	}
}

// count adds to the sums what a plan that was carried out did.
func (l *packages) count(plan *packagePlan) {
	for _, r := range plan.unchanged {
		l.results[r.of].Unchanged++
	}
	for _, w := range plan.writes {
		if w.version == "" {
			l.results[w.resource.of].New++
		} else {
			l.results[w.resource.of].Changed++
		}
	}
}

// failedEntry finds the number of the entry that a transaction failed at.
func failedEntry(failure *fhir.Error) (number int, ok bool) {
	for _, issue := range failure.Issues {
		if n, err := fmt.Sscanf(issue.Expression, "Bundle.entry[%d]", &number); n == 1 && err == nil {
			return number, true
		}
	}
	return 0, false
}
