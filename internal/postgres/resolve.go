package postgres

import (
	"context"
	"errors"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
)

// commitWarning marks, in a connection's CustomData, that the server sent a
// warning: a COMMIT with one is not acknowledged, since a cancelled wait for a
// synchronous standby says so that way.
const commitWarning = "starling.warning"

var errCommitWarning = errors.New("postgres: COMMIT came with a warning")

// resolveTimeout is how long an unknown outcome is looked into.
const resolveTimeout = 5 * time.Second

// resolve finds out whether a transaction whose COMMIT was sent and not
// answered was committed. It gives nil, with the items' results set, if so; a
// retryable error if not; and an *fhir.Error if that cannot be known.
func (s *Store) resolve(items []*item, state *commitState, cause error) error {
	s.metrics.retries.WithLabelValues("resolve").Inc()
	ctx, cancel := context.WithTimeout(context.Background(), resolveTimeout)
	defer cancel()
	for attempt := 1; ctx.Err() == nil; attempt++ {
		settled, committed, err := s.outcome(ctx, items, state)
		switch {
		case err != nil || !settled:
			backoff(ctx, attempt+4)
		case committed:
			for _, it := range items {
				if it.changes && !it.again {
					it.result.LastUpdated = it.lastUpdated(state.now)
				}
			}
			return nil
		default:
			return errNotCommitted
		}
	}
	return unknownOutcome(cause)
}

// backend is the process at the other end of a connection; 0 if that may be
// another one each time.
func (s *Store) backend(conn *pgconn.PgConn) uint32 {
	if s.pooled {
		return 0
	}
	return conn.PID()
}

// outcome asks once. A transaction is known by a version it made, which only it
// can have made: the same resource, version and writing transaction.
// pg_xact_status alone would not do: a transaction lost in a crash of the
// database leaves its number to one that comes after, and that one's fate would
// be taken for its own. If its backend is not known, only a commit can be: without
// a version it may still be under way.
func (s *Store) outcome(ctx context.Context, items []*item, state *commitState) (settled, committed bool, err error) {
	var running bool
	// The backend of a lost connection may still be committing.
	err = s.reserve.QueryRow(ctx, `SELECT EXISTS (SELECT FROM pg_stat_activity WHERE pid = $1 AND datname = current_database() AND state <> 'idle')`, int32(state.pid)).Scan(&running)
	if err != nil || running {
		return false, false, err
	}
	changed := false
	for _, it := range items {
		if !it.changes || it.again {
			continue
		}
		changed = true
		// The answer that carries the transaction's number may be lost, too; then
		// a resource that it created tells, by the internal id it was given.
		if state.xid == 0 && !it.isNew {
			continue
		}
		var updated int64
		err = s.reserve.QueryRow(ctx, `SELECT (extract(epoch FROM v.updated) * 1000000)::bigint
			FROM version v JOIN resource r ON r.rid = v.rid
			WHERE v.rid = $1 AND v.version = $2 AND r.type = $3 AND r.id = $4 AND ($5::text = '0' OR v.writer = $5::text::xid8)`,
			it.rid, it.version+1, it.typ, it.write.ID, formatUint(state.xid)).Scan(&updated)
		if errors.Is(err, pgx.ErrNoRows) {
			return state.pid != 0, false, nil
		}
		if err == nil && state.now == 0 {
			state.now = updated - postgresEpoch
		}
		return err == nil, err == nil, err
	}
	// Without a change there is nothing that could be lost.
	return !changed, !changed, nil
}
