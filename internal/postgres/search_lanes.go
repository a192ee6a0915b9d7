package postgres

import (
	"context"
	"sync"
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
	defer cancel()
	watch := l.watch(cancel)
	err = search(ctx)
	return watch.stop() && err != nil && outer.Err() == nil, err
}

// watch looks after a search until it is stopped: every now and then, without a
// goroutine of its own.
type watch struct {
	lanes  *lanes
	cancel func() // of the search

	mu    sync.Mutex
	timer *time.Timer
	done  bool
	slow  bool // it has a slow place
	// pushedOut says that it was cancelled, since it had become slow, there was no slow
	// place and others waited.
	pushedOut bool
}

func (l *lanes) watch(cancel func()) *watch {
	w := &watch{lanes: l, cancel: cancel}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.timer = time.AfterFunc(quickSearch, w.look)
	return w
}

// look finds that the search has become slow, and takes a slow place for it.
func (w *watch) look() {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.done {
		return
	}
	select {
	case w.lanes.slow <- struct{}{}:
		w.slow = true
	default:
		if w.pushedOut = w.lanes.waiting.Load() > 0; w.pushedOut {
			w.cancel()
		} else {
			w.timer.Reset(quickSearch)
		}
	}
}

// stop ends the watch and gives the slow place back.
func (w *watch) stop() (pushedOut bool) {
	w.timer.Stop()
	w.mu.Lock()
	defer w.mu.Unlock()
	w.done = true
	if w.slow {
		<-w.lanes.slow
	}
	return w.pushedOut
}
