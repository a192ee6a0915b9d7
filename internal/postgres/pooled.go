package postgres

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgxpool"
)

// A pooler such as PgBouncer, in transaction mode, gives each transaction
// whichever server connection is free. So what belongs to a session does not
// last: settings of the connection (it even refuses most of them), prepared
// statements, LISTEN, session-wide advisory locks. Behind one
//   - settings are made in each transaction, for that alone,
//   - statements are sent with their text each time,
//   - the backend of a transaction is asked for, not taken from the connection.
// Locks are of transactions in any case. In session mode all this works, too.

// passedOn are the settings that every pooler takes: PgBouncer makes them on
// whichever server connection a client gets.
var passedOn = []string{"application_name", "client_encoding", "timezone"}

// isPooled reports whether connections to a URL are a pooler's: the key for
// cancelling, which has the backend's process id, is then the pooler's own.
func isPooled(ctx context.Context, url string) (bool, error) {
	config, err := pgx.ParseConfig(url)
	if err != nil {
		return false, fmt.Errorf("database URL: %w", err)
	}
	setSession(config)
	conn, err := pgx.ConnectConfig(ctx, config)
	if err != nil {
		return false, connectError(err)
	}
	defer func() { _ = conn.Close(context.WithoutCancel(ctx)) }()
	backend, err := backendOf(ctx, conn.PgConn(), "")
	if err != nil {
		return false, connectError(err)
	}
	return backend != conn.PgConn().PID(), nil
}

// backendOf executes a statement, unless it is empty, and gives the process id of
// the backend that did.
func backendOf(ctx context.Context, conn *pgconn.PgConn, statement string) (uint32, error) {
	results, err := conn.Exec(ctx, statement+`; SELECT pg_backend_pid()`).ReadAll()
	if err != nil {
		return 0, err
	}
	var pid uint32
	_, err = fmt.Sscan(string(results[len(results)-1].Rows[0][0]), &pid)
	return pid, err
}

// setSession takes out of a connection what a pooler would refuse or confuse,
// and gives the settings taken out.
func setSession(config *pgx.ConnConfig) map[string]string {
	settings := map[string]string{}
	for name, value := range config.RuntimeParams {
		if !slices.Contains(passedOn, strings.ToLower(name)) {
			settings[name] = value
			delete(config.RuntimeParams, name)
		}
	}
	config.DefaultQueryExecMode = pgx.QueryExecModeCacheDescribe
	return settings
}

// throughPooler fits a pool of connections to a pooler: what they were to have as
// settings, each transaction makes for itself.
func throughPooler(config *pgxpool.Config) {
	local := localSettings(setSession(config.ConnConfig))
	config.AfterConnect = func(_ context.Context, conn *pgx.Conn) error {
		conn.PgConn().CustomData()[inSettings] = local
		return nil
	}
}

// findTables gives an error if statements outside of transactions do not find the
// tables through a pooler: for them nobody sets search_path.
func findTables(ctx context.Context, pool *pgxpool.Pool, url string) error {
	config, err := pgx.ParseConfig(url)
	if err != nil {
		return fmt.Errorf("database URL: %w", err)
	}
	setSchema(config.RuntimeParams)
	var found bool
	var user, path string
	err = pool.QueryRow(ctx, `SELECT to_regclass('cache_version') IS NOT NULL, current_user, current_setting('search_path')`).Scan(&found, &user, &path)
	if err != nil {
		return connectError(err)
	}
	if !found {
		return errSearchPath(path, user, config.RuntimeParams["search_path"])
	}
	return nil
}

// localSettings is the statement that makes settings in a transaction.
func localSettings(settings map[string]string) string {
	var sql strings.Builder
	for i, name := range slices.Sorted(maps.Keys(settings)) {
		if i == 0 {
			sql.WriteString("SELECT ")
		} else {
			sql.WriteString(", ")
		}
		fmt.Fprintf(&sql, "set_config(%s, %s, true)", quoted(name), quoted(settings[name]))
	}
	return sql.String()
}

func quoted(text string) string { return "'" + strings.ReplaceAll(text, "'", "''") + "'" }

// inSettings is where, in a connection's CustomData, the statement stands that
// makes its settings: it is a pooler's.
const inSettings = "starling.settings"

// transacting has the settings of a pool made on a connection of a pooler, in a
// transaction that lasts until done is called with the outcome.
func transacting(ctx context.Context, conn *pgconn.PgConn) (done func(error) error, err error) {
	settings, pooled := conn.CustomData()[inSettings].(string)
	if !pooled {
		return func(err error) error { return err }, nil
	}
	if _, err := conn.Exec(ctx, statements[stmtBegin]+`; `+settings).ReadAll(); err != nil {
		_ = conn.Close(ctx)
		return nil, err
	}
	return func(err error) error {
		if conn.IsClosed() {
			return err
		}
		ending, cancel := context.WithTimeout(context.WithoutCancel(ctx), commitTimeout)
		defer cancel()
		if _, endErr := conn.Exec(ending, `COMMIT`).ReadAll(); endErr != nil {
			_ = conn.Close(ending)
		}
		return err
	}, nil
}
