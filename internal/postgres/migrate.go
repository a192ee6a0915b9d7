package postgres

import (
	"context"
	"database/sql"
	"embed"
	"fmt"
	"io/fs"
	"strings"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/stdlib"
	"github.com/pressly/goose/v3"
)

//go:embed migrations/*.sql
var migrationFiles embed.FS

// migrationLock is the advisory lock that migrations are run under.
const migrationLock = 0x5354_4152_4c49_4e47 // "STARLING"

// Migrate brings the database to the schema of this program. Any number of
// instances may call it at the same time: one migrates, the others wait.
func Migrate(ctx context.Context, url string) error {
	pooled, err := isPooled(ctx, url)
	if err != nil {
		return err
	}
	config, err := pgx.ParseConfig(url)
	if err != nil {
		return fmt.Errorf("database URL: %w", err)
	}
	setSchema(config.RuntimeParams)
	schema := config.RuntimeParams["search_path"]
	if pooled {
		setSession(config)
	}
	conn, err := pgx.ConnectConfig(ctx, config)
	if err != nil {
		return connectError(err)
	}
	defer func() { _ = conn.Close(context.WithoutCancel(ctx)) }()
	err = checkServer(ctx, func(ctx context.Context, sql string, into ...any) error {
		return conn.QueryRow(ctx, sql).Scan(into...)
	})
	if err != nil {
		return err
	}
	// The lock is of a transaction, so that a pooler leaves it where it is, and
	// ends with the connection at the latest. A role may have limits, which another
	// instance's migration is not to run into.
	lock := fmt.Sprintf(`BEGIN; SET LOCAL idle_in_transaction_session_timeout = 0; SET LOCAL statement_timeout = 0; SET LOCAL lock_timeout = 0; SELECT pg_advisory_xact_lock(%d)`, int64(migrationLock))
	if _, err := conn.PgConn().Exec(ctx, lock).ReadAll(); err != nil {
		return fmt.Errorf("wait for other migrations: %w", err)
	}
	db := stdlib.OpenDB(*config)
	defer func() { _ = db.Close() }()
	if pooled {
		return migratePooled(ctx, db, schema)
	}
	return migrate(ctx, db)
}

// migratePooled migrates through a pooler, which does not pass on search_path,
// if new tables come to stand in the right schema nevertheless.
func migratePooled(ctx context.Context, db *sql.DB, schema string) error {
	var current, user, path string
	err := db.QueryRowContext(ctx, `SELECT coalesce(current_schema(), ''), current_user, current_setting('search_path')`).Scan(&current, &user, &path)
	if err != nil {
		return connectError(err)
	}
	// The migrations make a schema named fhir, which a role of that name would
	// then find first.
	if current != schema || user == views && strings.Contains(path, "$user") {
		return errSearchPath(path, user, schema)
	}
	return migrate(ctx, db)
}

func errSearchPath(path, user, schema string) error {
	return fmt.Errorf("the connection pooler in between does not pass on search_path, which is %s for the role %s and has to be %s: "+
		"set it, ALTER ROLE %[2]s SET search_path = %[3]s, then RECONNECT in the pooler", path, user, schema)
}

// views is the schema of the views of resources.
const views = "fhir"

func migrate(ctx context.Context, db *sql.DB) error {
	files, err := fs.Sub(migrationFiles, "migrations")
	if err != nil {
		return err
	}
	// Those of branches that were joined later may have lower numbers than one that
	// the database has already; each stands by itself.
	provider, err := goose.NewProvider(goose.DialectPostgres, db, files, goose.WithAllowOutofOrder(true))
	if err != nil {
		return err
	}
	if _, err := provider.Up(ctx); err != nil {
		return fmt.Errorf("migrate the database: %w", err)
	}
	return nil
}
