package interaction

import (
	"context"
	"errors"
	"time"

	"starling/internal/fhir"
)

// Caches are what the instance holds of system resources: profiles and
// terminology, search parameters, subscriptions.
type Caches interface {
	// Begin waits until what is held may be used: it is known to be current within
	// the lease, and is of the version wanted (Request.CacheVersion) or a later
	// one. What is written under the context it gives is refused with
	// fhir.ErrStale if what is held has been replaced by then. async: who changes
	// system resources does not wait for the other instances.
	Begin(ctx context.Context, wanted string, async bool) (context.Context, error)
	// Confirm is called when the answer is ready, with the context of Begin. It
	// fails if what the answer rests on may be out of date by now.
	Confirm(ctx context.Context) error
	// Renew reads anew what is held.
	Renew(ctx context.Context) error
	// Reached is the version made by the changes under the context; empty if
	// there were none.
	Reached(ctx context.Context) string
}

// maxRenewals bounds how often a request is carried out again because system
// resources were changed meanwhile.
const maxRenewals = 100

// Serve carries out one interaction. Its error is an *fhir.Error, or the
// server's own fault.
func (s *Service) Serve(ctx context.Context, request *Request) (*Response, error) {
	if s.Caches == nil || !usesCaches(request) {
		return s.serve(ctx, request)
	}
	asked, look := time.Now(), prepareLook
	for renewals := 0; ; renewals++ {
		using, err := s.Caches.Begin(ctx, request.CacheVersion, request.RespondAsync)
		if err != nil {
			return nil, err
		}
		response, err := s.serve(using, request)
		switch {
		case errors.Is(err, fhir.ErrStale):
		case preparing(err) && time.Since(asked) < preparePatience && rest(ctx, look):
			look *= 2
			renewals-- // nothing was renewed
			continue
		case err == nil && fenced(request.Interaction, response):
			// The store has seen to it.
			response.CacheVersion = s.Caches.Reached(using)
			return response, nil
		case err != nil && !decided(err) || s.Caches.Confirm(using) == nil:
			return response, err
		default:
			err = fhir.NewError(fhir.KindUnavailable, fhir.IssueTransient, "the server was stopped while it worked on the answer; try again").Because(fhir.ErrStale)
		}
		if renewals == maxRenewals || ctx.Err() != nil {
			return nil, err
		}
		if err := s.Caches.Renew(ctx); err != nil {
			return nil, err
		}
	}
}

// Indexing a few resources for a new search parameter takes a moment: so long is
// waited for it, with looks at first so far apart, then ever farther.
const (
	preparePatience = 2 * time.Second
	prepareLook     = 10 * time.Millisecond
)

// preparing reports whether a search parameter cannot be searched by yet. It is
// found out before anything is done.
func preparing(err error) bool {
	var failure *fhir.Error
	return errors.As(err, &failure) && failure.Kind == fhir.KindPreparing
}

// rest reports false if ctx has ended before the time was over.
func rest(ctx context.Context, d time.Duration) bool {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return false
	case <-timer.C:
		return true
	}
}

// usesCaches reports whether an answer may rest on system resources as the
// instance holds them.
func usesCaches(request *Request) bool {
	switch request.Interaction {
	case Read, VRead, HistoryInstance, HistoryType, HistorySystem:
		return false
	case Operation:
		return request.operation == nil || !request.operation.operators
	}
	return true
}

// fenced reports whether a success is of a write, whose versions the store has
// compared, or was confirmed entry by entry. What criteria alone decided, since they
// found what was to be made, or nothing to delete, has written nothing.
func fenced(name Name, response *Response) bool {
	switch name {
	case Update, ConditionalUpdate, Patch, ConditionalPatch, Delete:
		return true
	case Create, ConditionalDelete, Batch:
		return response.Changed
	}
	return false
}

// decided reports whether a failure is a judgement of the request, so that
// nothing was written and what is held may have been the reason.
func decided(err error) bool {
	var failure *fhir.Error
	if !errors.As(err, &failure) {
		return false
	}
	switch failure.Kind {
	case fhir.KindInvalid, fhir.KindUnprocessable, fhir.KindNotFound, fhir.KindMethodNotAllowed, fhir.KindPreconditionFailed:
		return true
	}
	return false
}
