package postgres

import (
	"context"
	"errors"
	"math/rand/v2"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"

	"starling/internal/fhir"
)

// maxAttempts bounds how often a transaction is tried again after the database
// asked for it.
const maxAttempts = 12

// backoff waits before attempt n, from 1 on, or until ctx is done.
func backoff(ctx context.Context, n int) {
	limit := min(time.Millisecond<<n, 200*time.Millisecond)
	select {
	case <-time.After(limit/2 + rand.N(limit)):
	case <-ctx.Done():
	}
}

// carryOut writes items, sorted and with distinct keys, and leaves in each
// its result or error. It returns when all are settled.
func (s *Store) carryOut(pool *pgxpool.Pool, items []*item, written func()) {
	start := time.Now()
	ctx, cancel := context.WithTimeout(context.Background(), batchTimeout)
	defer cancel()
	if s.fencingOf(items) == fencedBoth {
		others, changes := s.apart(items)
		s.settle(ctx, pool, others, func() {})
		s.settle(ctx, pool, changes, written)
	} else {
		s.settle(ctx, pool, items, written)
	}
	s.metrics.batch("write", len(items), time.Since(start))
}

// settle carries out items until none is left to be tried again.
func (s *Store) settle(ctx context.Context, pool *pgxpool.Pool, items []*item, written func()) {
	for attempt := 1; ; attempt++ {
		err := s.attempt(ctx, pool, items, written)
		if err == nil {
			if items = itemsAgain(items); len(items) == 0 {
				return
			}
			err = errLostInsert
		}
		if by, stale := replacedBy(err); stale {
			if items = s.refuse(items, by); len(items) == 0 {
				return
			}
			resetAll(items)
			continue
		}
		kind := classify(err)
		if kind == outcomeBadRow && len(items) > 1 {
			s.metrics.retries.WithLabelValues("bisect").Inc()
			resetAll(items)
			half := len(items) / 2
			s.settle(ctx, pool, items[:half], written)
			s.settle(ctx, pool, items[half:], written)
			return
		}
		if kind == outcomeBadRow || kind == outcomeFailed || attempt == maxAttempts || ctx.Err() != nil {
			for _, it := range items {
				it.result, it.err = fhir.WriteResult{}, s.failure(err)
			}
			return
		}
		s.metrics.retries.WithLabelValues("write").Inc()
		resetAll(items)
		backoff(ctx, attempt)
	}
}

// failure logs what is not the client's business and gives what is.
func (s *Store) failure(err error) error {
	shown := report(context.Background(), err)
	var known *fhir.Error
	if !errors.As(shown, &known) || known.Kind == fhir.KindUnavailable {
		s.logger.Error("write failed", "error", err)
	}
	return shown
}

func resetAll(items []*item) {
	for _, it := range items {
		it.reset()
	}
}

func itemsAgain(items []*item) []*item {
	var again []*item
	for _, it := range items {
		if it.again {
			again = append(again, it)
		}
	}
	return again
}

// attempt runs one transaction. After a nil error every item is settled or
// marked again; after any other nothing was written.
func (s *Store) attempt(ctx context.Context, pool *pgxpool.Pool, items []*item, written func()) error {
	conn, err := pool.Acquire(ctx)
	if err != nil {
		return err
	}
	pg := conn.Conn().PgConn()
	delete(pg.CustomData(), commitWarning)
	state := commitState{written: written, pid: s.backend(pg)}
	err = s.applyBatch(ctx, pg, items, &state)
	if err == nil && pg.CustomData()[commitWarning] != nil {
		err = unknownOutcome(errCommitWarning)
	}
	if err != nil && !pg.IsClosed() && pg.TxStatus() != 'I' {
		_, rollbackErr := pg.Exec(ctx, "ROLLBACK").ReadAll()
		if rollbackErr != nil {
			_ = conn.Conn().Close(ctx)
		}
	}
	lost := pg.IsClosed() // asked before another loop may take the connection
	conn.Release()
	// An error on a connection that lives says that the transaction ended.
	if err != nil && state.sent && !state.done && lost && classify(err) == outcomeUnknown {
		return s.resolve(items, &state, err)
	}
	return err
}

// apart separates ordinary writes from those of system resources, which need
// the fence in another way.
func (s *Store) apart(items []*item) (others, changes []*item) {
	for _, it := range items {
		if s.types.system[it.typ] {
			changes = append(changes, it)
		} else {
			others = append(others, it)
		}
	}
	return others, changes
}
