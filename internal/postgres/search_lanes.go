package postgres

import (
	"context"
	"sync/atomic"
	"time"

	"starling/internal/fhir"
)

// quickSearch is how long a search may take before it counts as slow.
const quickSearch = 100 * time.Millisecond

// lanes bound the searches that are under way, so that connections are left for
// other requests, and among them the slow ones, so that places are left for
// quick ones. Which it is shows only while it runs: a search that has become slow
// goes on if a slow place is free, or if nobody waits; else it is cancelled in the
// database, waits for a slow place without a connection, and runs again.
type lanes struct {
	all, slow chan struct{}
	waiting   atomic.Int64 // for a place in all
	again     func()       // is called for each search that runs again
}

func newLanes(all int, again func()) *lanes {
	return &lanes{all: make(chan struct{}, all), slow: make(chan struct{}, max(all/2, 1)), again: again}
}

// run runs a search, perhaps a second time: it must have no effects. The error
// is the context's if no place became free.
func (l *lanes) run(ctx context.Context, search func(ctx context.Context) error) error {
	pushedOut, err := l.attempt(ctx, search, false)
	if !pushedOut {
		return err
	}
	if err := take(ctx, l.slow); err != nil {
		return err
	}
	defer func() { <-l.slow }()
	l.again()
	_, err = l.attempt(ctx, search, true)
	return err
}

var errNoPlace = fhir.NewError(fhir.KindThrottled, fhir.IssueThrottled, "Too many searches are under way; try again.")

func take(ctx context.Context, places chan struct{}) error {
	select {
	case places <- struct{}{}:
		return nil
	case <-ctx.Done():
		return errNoPlace
	}
}

// attempt runs a search in a place of all; slow says that it has a slow place,
// too. pushedOut says that it was cancelled for want of one.
func (l *lanes) attempt(outer context.Context, search func(ctx context.Context) error, slow bool) (pushedOut bool, err error) {
	l.waiting.Add(1)
	err = take(outer, l.all)
	l.waiting.Add(-1)
	if err != nil {
		return false, err
	}
	defer func() { <-l.all }()
	if slow {
		return false, search(outer)
	}
	ctx, cancel := context.WithCancel(outer)
	done, ended := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(ended)
		pushedOut = l.watch(done)
		if pushedOut {
			cancel()
		}
	}()
	err = search(ctx)
	close(done)
	<-ended
	cancel()
	return pushedOut && err != nil && outer.Err() == nil, err
}

// watch looks after a search until it is done. It takes a slow place for it when
// it has become slow; pushedOut says that there was none and others wait.
func (l *lanes) watch(done <-chan struct{}) (pushedOut bool) {
	ticker := time.NewTicker(quickSearch)
	defer ticker.Stop()
	for {
		select {
		case <-done:
			return false
		case <-ticker.C:
		}
		select {
		case l.slow <- struct{}{}:
			<-done
			<-l.slow
			return false
		default:
			if l.waiting.Load() > 0 {
				return true
			}
		}
	}
}
