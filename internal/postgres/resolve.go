package postgres

import (
	"context"
	"errors"
	"time"
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
func (s *Store) resolve(items []*item, pid uint32, state *commitState, cause error) error {
	s.metrics.retries.WithLabelValues("resolve").Inc()
	ctx, cancel := context.WithTimeout(context.Background(), resolveTimeout)
	defer cancel()
	for attempt := 1; ctx.Err() == nil; attempt++ {
		settled, committed, err := s.outcome(ctx, items, pid, state)
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

// outcome asks once. The transaction is known by its xid or, when the answer
// that carries it was lost, too, by the internal id of a resource it created.
func (s *Store) outcome(ctx context.Context, items []*item, pid uint32, state *commitState) (settled, committed bool, err error) {
	var running bool
	// The backend of a lost connection may still be committing.
	err = s.reserve.QueryRow(ctx, `SELECT EXISTS (SELECT FROM pg_stat_activity WHERE pid = $1 AND datname = current_database() AND state <> 'idle')`, int32(pid)).Scan(&running)
	if err != nil || running {
		return false, false, err
	}
	if state.xid != 0 {
		var status *string
		err = s.reserve.QueryRow(ctx, `SELECT pg_xact_status($1::text::xid8)`, formatUint(state.xid)).Scan(&status)
		if err != nil || status == nil || *status == "in progress" {
			return false, false, err
		}
		return true, *status == "committed", nil
	}
	for _, it := range items {
		if it.isNew {
			err = s.reserve.QueryRow(ctx, `SELECT coalesce((SELECT (extract(epoch FROM updated) * 1000000)::bigint FROM version WHERE rid = $1 AND version = 1), 0)`, it.rid).Scan(&state.now)
			state.now -= postgresEpoch
			return err == nil, state.now > 0, err
		}
	}
	return false, false, nil
}
