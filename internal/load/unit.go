package load

import (
	"context"
	"crypto/sha256"

	"starling/internal/fhir"
	"starling/internal/fhir/element"
	"starling/internal/interaction"
)

// load carries out one unit. What was begun is finished also when ctx ends:
// only then it is known whether it is stored.
func (r *run) load(ctx context.Context, u *unit) {
	if ctx.Err() != nil {
		return
	}
	ctx = context.WithoutCancel(ctx)
	if u.line > 0 {
		r.loadLines(ctx, u)
	} else {
		r.loadDocument(ctx, u)
	}
}

// loadDocument loads a file that is one document.
func (r *run) loadDocument(ctx context.Context, u *unit) {
	text, err := u.document()
	if err != nil {
		r.refuse(u, Failure{u.where(), interaction.Failure(err)})
		return
	}
	sum := digest(sha256.Sum256(text))
	if r.skip(ctx, u, sum) {
		return
	}
	conditional := conditionalReference.Match(text)
	if conditional && !u.deferred {
		r.putOff(u)
		return
	}
	var done posted
	request, err := requestOf(text)
	if err == nil {
		done, err = r.post(ctx, r.Service, request, u.where())
	}
	switch {
	case err == nil:
		r.finish(u, sum, done)
	case conditional:
		u.failure = &Failure{u.where(), interaction.Failure(err)}
		r.putOff(u)
	default:
		r.refuse(u, Failure{u.where(), interaction.Failure(err)})
	}
}

// loadLines loads a chunk of lines: all in one transaction, or, where that is
// refused, each on its own, so that one bad line costs no other.
func (r *run) loadLines(ctx context.Context, u *unit) {
	hash := sha256.New()
	together := newTransaction()
	alone := false
	for _, line := range u.lines {
		hash.Write(append(line, '\n'))
		if len(line) == 0 {
			continue
		}
		tree, err := element.Parse(line, limits)
		if err != nil || keyOf(tree.Root()).Type == "Bundle" {
			alone = true
			continue
		}
		together.add(tree.Root(), nil)
	}
	sum := digest(hash.Sum(nil))
	if together.entries == 0 && !alone || r.skip(ctx, u, sum) {
		return
	}
	if !alone {
		if done, err := r.post(ctx, r.Service, together.request(), u.where()); err == nil && len(done.failures) == 0 {
			r.finish(u, sum, done)
			return
		}
	}
	r.finish(u, sum, r.postEach(ctx, u))
}

// postEach posts the lines of a chunk one by one.
func (r *run) postEach(ctx context.Context, u *unit) posted {
	var sum posted
	for i, line := range u.lines {
		if len(line) == 0 {
			continue
		}
		where := (&unit{file: u.file, line: u.line + i}).where()
		request, err := requestOf(line)
		var done posted
		if err == nil {
			done, err = r.post(ctx, r.Service, request, where)
		}
		if err != nil {
			done.failures = []Failure{{where, interaction.Failure(err)}}
		}
		sum.add(done)
	}
	return sum
}

// putOff leaves a unit for the pass after this one.
func (r *run) putOff(u *unit) {
	u.deferred = true
	r.mu.Lock()
	r.deferred = append(r.deferred, u)
	r.mu.Unlock()
}

// skip reports whether the journal has a unit already.
func (r *run) skip(ctx context.Context, u *unit, sum digest) bool {
	if !r.Journal.has(ctx, r.Store, sum) {
		return false
	}
	r.mu.Lock()
	r.result.Skipped++
	r.result.Bytes += u.bytes
	r.advanced = true
	r.mu.Unlock()
	r.progress.Advance(u.bytes, 0)
	return true
}

// refuse counts a unit of which nothing was stored.
func (r *run) refuse(u *unit, failure Failure) {
	r.fail(failure)
	r.progress.Advance(u.bytes, 0)
}

// finish counts and records a unit of which something was stored, or which asked
// for nothing to be stored. Parts of it may have been refused.
func (r *run) finish(u *unit, sum digest, done posted) {
	for _, failure := range done.failures {
		r.fail(failure)
	}
	if done.proof != (fhir.Key{}) {
		if err := r.Journal.add(sum, done.proof); err != nil {
			r.fail(Failure{u.where(), fhir.NewError(fhir.KindInternal, fhir.IssueException,
				"Loaded, but the journal could not be written: the next load would load it again.").Because(err)})
		}
	}
	r.mu.Lock()
	r.result.Units++
	r.result.Resources += int64(done.resources)
	r.result.Bytes += u.bytes
	r.advanced = true
	r.mu.Unlock()
	r.progress.Advance(u.bytes, done.resources)
}
