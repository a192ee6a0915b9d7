package postgres

import (
	"context"
	"runtime"
	"sync"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"

	"starling/internal/fhir"
)

// A batch costs as much as four writes before its first row, so a further loop
// joins only when crowd writes wait for each batch under way, or when a batch
// keeps nobody busy: it has written all and waits for the disk, or it is slow
// and may be waiting for another instance's lock.
const (
	crowd = 64
	slow  = 250 * time.Millisecond
)

// maxBatchBytes is the most content one transaction writes.
const maxBatchBytes = 4 << 20

// ticket is a write that waits for its batch.
type ticket struct {
	item  *item
	taken bool // guarded by writer.mu
	done  chan struct{}
}

// writer coalesces writes. Its loops take the writes that wait and carry them
// out in one transaction, where each has its own outcome. A key is written at
// most once in a batch and by one loop at a time, so writes to one resource
// keep their order.
type writer struct {
	store *Store
	pool  *pgxpool.Pool
	limit int // writes a batch

	mu      sync.Mutex
	wake    sync.Cond
	waiting []*ticket
	busy    map[fhir.Key]struct{} // keys in batches under way
	running int                   // batches under way that others wait for
	closed  bool
	loops   sync.WaitGroup

	patience  patience
	gathering bool          // a loop waits for company; the others leave it to it
	joined    chan struct{} // tells it that enough have come, or that the writer closes
}

func newWriter(s *Store, pool *pgxpool.Pool, loops, limit int) *writer {
	w := &writer{store: s, pool: pool, limit: limit, busy: map[fhir.Key]struct{}{}, joined: make(chan struct{}, 1)}
	w.wake.L = &w.mu
	for range loops {
		w.loops.Go(w.loop)
	}
	return w
}

// close lets the loops finish what is queued.
func (w *writer) close() {
	w.mu.Lock()
	w.closed = true
	w.tell()
	w.mu.Unlock()
	w.wake.Broadcast()
	w.loops.Wait()
}

// write queues an item and waits for its outcome. Cancelling ctx withdraws it
// only while it is queued.
func (w *writer) write(ctx context.Context, it *item) (fhir.WriteResult, error) {
	t := &ticket{item: it, done: make(chan struct{})}
	w.mu.Lock()
	if w.closed {
		w.mu.Unlock()
		return fhir.WriteResult{}, shuttingDown()
	}
	w.waiting = append(w.waiting, t)
	w.store.metrics.queued.WithLabelValues("write").Inc()
	if w.gathering && len(w.waiting) >= w.wanted() {
		w.tell()
	}
	more := w.enough()
	w.mu.Unlock()
	if more {
		w.wake.Signal()
	}
	select {
	case <-t.done:
	case <-ctx.Done():
		if w.withdraw(t) {
			return fhir.WriteResult{}, report(ctx, ctx.Err())
		}
		<-t.done
	}
	return it.result, it.err
}

func (w *writer) withdraw(t *ticket) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	if t.taken {
		return false
	}
	for i, other := range w.waiting {
		if other == t {
			w.waiting = append(w.waiting[:i], w.waiting[i+1:]...)
			w.store.metrics.queued.WithLabelValues("write").Dec()
			if w.closed { // loops may have waited for this one alone
				w.wake.Broadcast()
			}
			return true
		}
	}
	return false
}

func (w *writer) loop() {
	for w.await() {
		// Requests that are ready to run queue their writes first: on one core the
		// first of them would otherwise have a batch of its own.
		runtime.Gosched()
		if batch := w.take(); len(batch) > 0 {
			w.carryOut(batch)
		}
	}
}

func (w *writer) carryOut(batch []*ticket) {
	items := make([]*item, len(batch))
	for i, t := range batch {
		items[i] = t.item
	}
	sortItems(items)
	start := time.Now()
	late := time.AfterFunc(slow, w.done)
	leave := sync.OnceFunc(func() {
		w.mu.Lock()
		w.patience.wrote(time.Since(start))
		w.mu.Unlock()
		if late.Stop() {
			w.done()
		}
	})
	w.store.carryOut(w.pool, items, leave)
	leave()
	w.finish(batch)
}

// await waits until a batch may be taken. It gives false when the writer is
// closed and nothing is left.
func (w *writer) await() bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	for !w.enough() {
		if w.closed && len(w.waiting) == 0 {
			return false
		}
		w.wake.Wait()
	}
	return true
}

// enough reports whether those that wait are worth a batch beside those under
// way.
func (w *writer) enough() bool {
	return len(w.waiting) > 0 && !w.gathering && len(w.waiting) >= w.running*min(crowd, w.limit)
}

// wanted is how many writes need not wait for more.
func (w *writer) wanted() int { return min(w.patience.wanted(), w.limit) }

// gather waits for more writes, if they are to be expected. It is called with
// w.mu held, gives it up while it waits, and has it again when it returns.
func (w *writer) gather() {
	w.patience.saw(len(w.waiting) + len(w.busy))
	wait := w.patience.limit()
	if w.closed || len(w.waiting) >= w.wanted() || wait < shortest {
		return
	}
	w.gathering = true
	w.mu.Unlock()
	timer := time.NewTimer(wait)
	select {
	case <-w.joined:
	case <-timer.C:
	}
	timer.Stop()
	w.mu.Lock()
	w.gathering = false
	select {
	case <-w.joined: // told at the last moment
	default:
	}
	w.patience.saw(len(w.waiting) + len(w.busy))
}

// tell ends the wait of gather.
func (w *writer) tell() {
	select {
	case w.joined <- struct{}{}:
	default:
	}
}

// take takes as many of those that wait as go into one batch, once they have
// company. It gives none if another loop was faster, or after a wait if all are
// for resources that are being written.
func (w *writer) take() []*ticket {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.enough() {
		w.gather()
	}
	if !w.enough() { // another loop was faster, or all have been withdrawn
		return nil
	}
	batch := w.pick()
	if len(batch) == 0 {
		w.wake.Wait()
		return nil
	}
	w.running++
	w.store.metrics.queued.WithLabelValues("write").Sub(float64(len(batch)))
	if w.enough() {
		w.wake.Signal()
	}
	return batch
}

// pick moves writes from waiting to a batch, in their order, leaving those
// whose resource is being written.
func (w *writer) pick() []*ticket {
	var batch []*ticket
	bytes := 0
	left := w.waiting[:0]
	for i, t := range w.waiting {
		if len(batch) == w.limit || bytes > maxBatchBytes {
			left = append(left, w.waiting[i:]...)
			break
		}
		key := t.item.write.Key
		if _, busy := w.busy[key]; busy {
			left = append(left, t)
			continue
		}
		w.busy[key] = struct{}{}
		t.taken = true
		bytes += t.item.size()
		batch = append(batch, t)
	}
	clear(w.waiting[len(left):])
	w.waiting = left
	return batch
}

// done takes a batch out of those that others wait for: it waits for the disk,
// has ended, or is slow.
func (w *writer) done() {
	w.mu.Lock()
	w.running--
	more := len(w.waiting) > 0
	w.mu.Unlock()
	if more {
		w.wake.Signal()
	}
}

func (w *writer) finish(batch []*ticket) {
	w.mu.Lock()
	for _, t := range batch {
		delete(w.busy, t.item.write.Key)
	}
	more := len(w.waiting) > 0 || w.closed
	w.mu.Unlock()
	if more {
		w.wake.Broadcast()
	}
	for _, t := range batch {
		close(t.done)
	}
}
