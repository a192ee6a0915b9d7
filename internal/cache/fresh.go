package cache

import (
	"context"
	"sync"
)

// fresh shares readings of the versions among requests: each gets one that
// began after it asked.
type fresh struct {
	mu      sync.Mutex
	running *reading
	next    *reading
}

type reading struct {
	done chan struct{}
	err  error
}

// read waits for a reading that begins after the call. A caller that goes away
// ends nothing for the others.
func (f *fresh) read(ctx context.Context, do func() error) error {
	f.mu.Lock()
	r := f.next
	if r == nil {
		r = &reading{done: make(chan struct{})}
		f.next = r
		if f.running == nil {
			go f.work(do)
		}
	}
	f.mu.Unlock()
	select {
	case <-r.done:
		return r.err
	case <-ctx.Done():
		return ctx.Err()
	}
}

// work carries out one reading after the other while any is asked for.
func (f *fresh) work(do func() error) {
	for {
		f.mu.Lock()
		f.running, f.next = f.next, nil
		r := f.running
		f.mu.Unlock()
		if r == nil {
			return
		}
		r.err = do()
		close(r.done)
	}
}
