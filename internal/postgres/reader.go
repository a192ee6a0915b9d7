package postgres

import (
	"context"
	"runtime"
	"sync"
	"sync/atomic"
	"time"

	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgxpool"

	"starling/internal/fhir"
)

// maxBatch is the most requests one statement or transaction serves.
const maxBatch = 512

// batchTimeout is how long a batch may take. It is the server's own limit: a
// client that gives up withdraws only what is still queued.
const batchTimeout = 15 * time.Second

// readRequest is a read that waits for its batch. version 0 asks for the
// current one.
type readRequest struct {
	key       fhir.Key
	typ       int16
	version   int32
	withdrawn atomic.Bool

	resource *fhir.Resource // nil: not found
	err      error
	done     chan struct{}
}

// reader coalesces reads: each of its loops takes the first request waiting
// and all others that wait already, and serves them in one round trip. There
// is no timer, so an idle server answers at once.
type reader struct {
	pool    *pgxpool.Pool
	metrics *metrics
	queue   chan *readRequest
	limit   int // requests a batch
	loops   sync.WaitGroup
	stop    chan struct{} // closed to end the loops
	ended   chan struct{} // closed when they have ended
}

func newReader(pool *pgxpool.Pool, m *metrics, loops, limit int) *reader {
	r := &reader{pool: pool, metrics: m, queue: make(chan *readRequest, 8*maxBatch), limit: limit, stop: make(chan struct{}), ended: make(chan struct{})}
	for range loops {
		r.loops.Go(r.loop)
	}
	return r
}

// close lets the loops finish what is queued.
func (r *reader) close() {
	close(r.stop)
	r.loops.Wait()
	close(r.ended)
}

// read gives a version, nil if there is none.
func (r *reader) read(ctx context.Context, request *readRequest) (*fhir.Resource, error) {
	request.done = make(chan struct{})
	select {
	case r.queue <- request:
	case <-ctx.Done():
		return nil, report(ctx, ctx.Err())
	case <-r.ended:
		return nil, shuttingDown()
	}
	select {
	case <-request.done:
		return request.resource, request.err
	case <-r.ended:
		return nil, shuttingDown()
	case <-ctx.Done():
		request.withdrawn.Store(true)
		return nil, report(ctx, ctx.Err())
	}
}

func (r *reader) loop() {
	batch := make([]*readRequest, 0, r.limit)
	for {
		batch = batch[:0]
		select {
		case request := <-r.queue:
			batch = append(batch, request)
		case <-r.stop:
		}
		runtime.Gosched() // as in writer.loop
		batch = r.drain(batch)
		if len(batch) == 0 {
			return // stopped, and nothing is left
		}
		r.serve(batch)
	}
}

// drain adds what waits already to batch.
func (r *reader) drain(batch []*readRequest) []*readRequest {
	for len(batch) < r.limit {
		select {
		case request := <-r.queue:
			batch = append(batch, request)
		default:
			return batch
		}
	}
	return batch
}

// serve answers a batch. A lost connection is tried again once, with a new
// one: reads have no effects.
func (r *reader) serve(batch []*readRequest) {
	start := time.Now()
	ctx, cancel := context.WithTimeout(context.Background(), batchTimeout)
	defer cancel()
	err := r.fetch(ctx, batch)
	if err != nil && classify(err) != outcomeFailed {
		r.metrics.retries.WithLabelValues("read").Inc()
		err = r.fetch(ctx, batch)
	}
	r.metrics.batch("read", len(batch), time.Since(start))
	for _, request := range batch {
		if err != nil {
			request.resource, request.err = nil, report(context.Background(), err)
		}
		close(request.done)
	}
}

func (r *reader) fetch(ctx context.Context, batch []*readRequest) error {
	conn, err := r.pool.Acquire(ctx)
	if err != nil {
		return err
	}
	defer conn.Release()
	return fetch(ctx, conn.Conn().PgConn(), batch)
}

// wanted identifies what a read asks for, so that equal ones are read once.
type wanted struct {
	key     fhir.Key
	version int32
}

// fetch reads what a batch asks for, in one round trip.
func fetch(ctx context.Context, conn *pgconn.PgConn, batch []*readRequest) error {
	current, versions := make([]*readRequest, 0, len(batch)), []*readRequest(nil)
	first := make(map[wanted]*readRequest, len(batch))
	for _, request := range batch {
		if request.withdrawn.Load() {
			continue
		}
		w := wanted{request.key, request.version}
		if first[w] != nil {
			continue
		}
		first[w] = request
		if request.version == 0 {
			current = append(current, request)
		} else {
			versions = append(versions, request)
		}
	}
	p := startPipeline(ctx, conn)
	p.set()
	sendReads(p, current, versions)
	err := p.flush()
	if closeErr := p.Close(); err == nil {
		err = closeErr
	}
	if err != nil {
		return err
	}
	for _, request := range batch {
		if one := first[wanted{request.key, request.version}]; one != nil && one != request && one.resource != nil {
			same := *one.resource
			request.resource = &same
		}
	}
	return nil
}

func sendReads(p *pipeline, current, versions []*readRequest) {
	if len(current) > 0 {
		typ, id, _ := readParams(current)
		p.send(stmtRead, func(v [][]byte) { current[getInt8(v[0])-1].fill(v[1:]) }, int2Array(typ), textArray(id))
	}
	if len(versions) > 0 {
		typ, id, version := readParams(versions)
		p.send(stmtReadVer, func(v [][]byte) { versions[getInt8(v[0])-1].fill(v[1:]) }, int2Array(typ), textArray(id), int4Array(version))
	}
}

func readParams(requests []*readRequest) (typ []int16, id []string, version []int32) {
	for _, request := range requests {
		typ, id, version = append(typ, request.typ), append(id, request.key.ID), append(version, request.version)
	}
	return typ, id, version
}

// fill takes the columns version, updated, method, meta, body.
func (request *readRequest) fill(v [][]byte) { request.resource = resourceOf(request.key, v) }

// resourceOf makes a resource of the columns version, updated, method, meta,
// body, which it copies.
func resourceOf(key fhir.Key, v [][]byte) *fhir.Resource {
	meta, body := v[3], v[4]
	text := make([]byte, len(meta)+len(body))
	copy(text, meta)
	copy(text[len(meta):], body)
	return &fhir.Resource{
		Key:         key,
		VersionID:   int64(getInt4(v[0])),
		LastUpdated: timeOf(getInt8(v[1])),
		Method:      fhir.Method(getInt2(v[2])),
		Content:     fhir.Content{Meta: text[:len(meta):len(meta)], Body: text[len(meta):]},
	}
}
