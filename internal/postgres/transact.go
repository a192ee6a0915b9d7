package postgres

import (
	"context"
	"errors"
	"maps"
	"slices"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"starling/internal/fhir"
)

// commitTimeout bounds a COMMIT, which is never cancelled by a client.
const commitTimeout = 15 * time.Second

// Transact implements fhir.Store. The transaction has a connection of its own
// and runs at READ COMMITTED: its locks, taken in one canonical order, are
// what isolates it.
func (s *Store) Transact(ctx context.Context, conditions []fhir.Condition, fn func(tx fhir.Tx) error) error {
	locks := s.conditionLocks(conditions)
	for attempt := 1; ; attempt++ {
		t := &tx{store: s, made: map[fhir.Key]*item{}}
		err := s.transactOnce(ctx, t, locks, fn)
		if err == nil {
			return nil
		}
		cause := err
		if t.failed != nil {
			cause = t.failed
		}
		retry := classify(cause) == outcomeRetry || classify(cause) == outcomeUnknown && !t.state.sent
		if !retry || attempt == maxAttempts || ctx.Err() != nil {
			if t.failed != nil && retry {
				err = t.failed
			}
			return report(ctx, err)
		}
		s.metrics.retries.WithLabelValues("transact").Inc()
		backoff(ctx, attempt)
	}
}

func (s *Store) transactOnce(ctx context.Context, t *tx, locks []conditionLock, fn func(tx fhir.Tx) error) error {
	conn, err := s.requests.Acquire(ctx)
	if err != nil {
		t.failed = err
		return err
	}
	defer conn.Release()
	t.pgx = conn.Conn()
	t.conn = t.pgx.PgConn()
	t.state.pid = s.backend(t.conn)
	if err := t.begin(ctx, locks); err != nil {
		t.failed = err
		t.rollback(ctx)
		return err
	}
	if err := t.run(fn); err != nil {
		t.rollback(ctx)
		return err
	}
	if t.failed != nil {
		// fn swallowed an error of the database: the transaction is over.
		t.rollback(ctx)
		return t.failed
	}
	err = t.commit(ctx)
	if err != nil && !t.state.done && t.conn.IsClosed() && classify(err) == outcomeUnknown {
		if t.state.xid == 0 {
			return nil // nothing was written
		}
		err = s.resolve(slices.Collect(maps.Values(t.made)), &t.state, err)
	}
	if err != nil {
		t.failed = err
		t.rollback(ctx)
	}
	return err
}

// run calls fn; a panic rolls back before it goes on.
func (t *tx) run(fn func(tx fhir.Tx) error) error {
	defer func() {
		if cause := recover(); cause != nil {
			t.rollback(context.Background())
			panic(cause)
		}
	}()
	return fn(t)
}

func (t *tx) begin(ctx context.Context, locks []conditionLock) error {
	delete(t.conn.CustomData(), commitWarning)
	p := startPipeline(ctx, t.conn)
	p.begin()
	err := p.flush()
	if closeErr := p.Close(); err == nil {
		err = closeErr
	}
	if err != nil || len(locks) == 0 {
		return err
	}
	return takeLocks(ctx, t.conn, locks)
}

// commit answers nil only for a COMMIT that the server confirmed.
func (t *tx) commit(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), commitTimeout)
	defer cancel()
	p := startPipeline(ctx, t.conn)
	p.send(stmtCommit, nil)
	t.state.sent = true
	err := p.flush()
	tags := p.tags
	if closeErr := p.Close(); err == nil {
		err = closeErr
	}
	switch {
	case err != nil:
		return err
	case tags[0].String() != "COMMIT":
		return errNotCommitted
	case t.conn.CustomData()[commitWarning] != nil:
		return unknownOutcome(errCommitWarning)
	}
	t.state.done = true
	t.store.names.learn(t.names)
	return nil
}

// rollback ends the transaction; a connection that cannot is closed, which the
// pool notices.
func (t *tx) rollback(ctx context.Context) {
	if t.conn.IsClosed() || t.conn.TxStatus() == 'I' {
		return
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), commitTimeout)
	defer cancel()
	if _, err := t.conn.Exec(ctx, "ROLLBACK").ReadAll(); err != nil {
		_ = t.conn.Close(ctx)
	}
}

// tx implements fhir.Tx.
type tx struct {
	store  *Store
	conn   *pgconn.PgConn
	pgx    *pgx.Conn
	state  commitState
	made   map[fhir.Key]*item // what Apply wrote
	names  []name             // what it added to search_name
	failed error              // the first error of the database
}

// fail keeps an error of the database, so that Transact can try again whatever
// fn makes of it.
func (t *tx) fail(ctx context.Context, err error) error {
	if err == nil {
		return nil
	}
	var known *fhir.Error
	if t.failed == nil && !errors.As(err, &known) {
		t.failed = err
	}
	return report(ctx, err)
}

// Read implements fhir.Tx.
func (t *tx) Read(ctx context.Context, key fhir.Key) (*fhir.Resource, error) {
	typ, ok := t.store.types.number[key.Type]
	if !ok {
		return nil, notFound(key)
	}
	request := &readRequest{key: key, typ: typ}
	if err := fetch(ctx, t.conn, []*readRequest{request}); err != nil {
		return nil, t.fail(ctx, err)
	}
	if request.resource == nil {
		return nil, notFound(key)
	}
	return request.resource, nil
}

// Search implements fhir.Finder.
func (t *tx) Search(ctx context.Context, query *fhir.SearchQuery) (*fhir.SearchPage, error) {
	page, err := t.search(ctx, query)
	return page, t.fail(ctx, err)
}

func (t *tx) search(ctx context.Context, query *fhir.SearchQuery) (*fhir.SearchPage, error) {
	query, err := t.store.awareOfContained(ctx, t.pgx, query)
	if err != nil {
		return nil, err
	}
	sizes, err := t.store.sizesOf(ctx, t.pgx, query)
	if err != nil {
		return nil, err
	}
	total, known, err := t.store.knownTotal(query)
	if err == nil && !known {
		total, err = t.store.count(ctx, t.pgx, query, sizes)
	}
	if err != nil {
		return nil, err
	}
	return t.store.search(ctx, t.pgx, query, sizes, total)
}

// ReadAll implements fhir.Finder.
func (t *tx) ReadAll(ctx context.Context, keys []fhir.VersionKey) ([]*fhir.Resource, error) {
	found, err := t.store.readAll(ctx, t.pgx, keys)
	return found, t.fail(ctx, err)
}

// Referring implements fhir.Finder.
func (t *tx) Referring(ctx context.Context, links []fhir.Link, limit int) ([]*fhir.Resource, error) {
	found, err := t.store.referring(ctx, t.pgx, links, limit)
	return found, t.fail(ctx, err)
}
