package postgres

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"

	"github.com/jackc/pgx/v5"
)

// SameDatabase gives an error if the URL for listening and migrations does not
// lead to the database of the other: else tables would be made in one that
// belongs to somebody else. It needs no right but to connect: an advisory lock
// taken at one is held at the other if they are one database.
func SameDatabase(ctx context.Context, url, listenURL string) error {
	lock := rand.Int64()
	var conns []*pgx.Conn
	defer func() {
		for _, conn := range conns {
			_ = conn.Close(context.WithoutCancel(ctx))
		}
	}()
	free := false
	for _, url := range []string{url, listenURL} {
		config, err := pgx.ParseConfig(url)
		if err != nil {
			return fmt.Errorf("database URL: %w", err)
		}
		setSession(config)
		conn, err := pgx.ConnectConfig(ctx, config)
		if err != nil {
			return connectError(err)
		}
		conns = append(conns, conn)
		// In a transaction, since a pooler may be in between; it ends with the connection.
		results, err := conn.PgConn().Exec(ctx, fmt.Sprintf(`BEGIN; SELECT pg_try_advisory_xact_lock(%d)`, lock)).ReadAll()
		if err != nil {
			return connectError(err)
		}
		free = string(results[1].Rows[0][0]) == "t"
	}
	if free {
		return errors.New("--listen-database-url leads to another database than --database-url")
	}
	return nil
}
