package coherence

import (
	"context"
	"time"

	"github.com/jackc/pgx/v5"
)

// database is the witness's own connection.
type database struct{ conn *pgx.Conn }

// witness is the application name of what is not to be counted.
const witness = "loadtest"

func openDatabase(ctx context.Context, url string) (*database, error) {
	config, err := pgx.ParseConfig(url)
	if err != nil {
		return nil, err
	}
	config.RuntimeParams["application_name"] = witness
	conn, err := pgx.ConnectConfig(ctx, config)
	if err != nil {
		return nil, err
	}
	return &database{conn}, nil
}

func (d *database) close() {
	ctx, cancel := context.WithTimeout(context.Background(), time.Second)
	defer cancel()
	_ = d.conn.Close(ctx)
}

// reading is the state of a database at one moment.
type reading struct {
	wal         int64 // bytes ever written to the log
	connections int   // of clients, without the witness's
}

func (d *database) read(ctx context.Context) (r reading, err error) {
	err = d.conn.QueryRow(ctx, `SELECT pg_wal_lsn_diff(pg_current_wal_insert_lsn(), '0/0')::bigint,
		(SELECT count(*)::int FROM pg_stat_activity WHERE backend_type IN ('client backend', 'walsender') AND application_name <> $1)`,
		witness).Scan(&r.wal, &r.connections)
	return r, err
}

// notifyLock tells who holds, and how many wait for, the lock that a commit with
// a NOTIFY takes (LockSharedObject of DatabaseRelationId in commands/async.c).
func (d *database) notifyLock(ctx context.Context) (held bool, waiting int, err error) {
	err = d.conn.QueryRow(ctx, `SELECT coalesce(bool_or(granted), false), count(*) FILTER (WHERE NOT granted)::int
		FROM pg_locks WHERE locktype = 'object' AND classid = 'pg_database'::regclass AND objid = 0 AND mode = 'AccessExclusiveLock'`).Scan(&held, &waiting)
	return held, waiting, err
}
