package main

import (
	"context"
	"errors"
	"strings"

	"github.com/jackc/pgx/v5"

	"starling/internal/postgres/embedded"
)

// statements asks PostgreSQL how its time is shared out among kinds of
// statement; nil where the installation cannot say.
type statements struct{ conn *pgx.Conn }

// countingDatabase starts an empty PostgreSQL that counts its statements if it
// can.
func (b *bench) countingDatabase(ctx context.Context) (*embedded.Server, *statements, error) {
	dir, err := b.folder("database")
	if err != nil {
		return nil, nil, err
	}
	db, err := databaseIn(ctx, dir)
	if err != nil {
		return nil, nil, err
	}
	conn, err := pgx.Connect(ctx, db.URL())
	if err != nil {
		return nil, nil, errors.Join(err, db.Stop())
	}
	var can bool
	err = conn.QueryRow(ctx, `SELECT EXISTS (SELECT FROM pg_available_extensions WHERE name = 'pg_stat_statements')`).Scan(&can)
	if err != nil || !can {
		return db, nil, errors.Join(err, conn.Close(ctx))
	}
	// The library is loaded at the next start.
	_, err = conn.Exec(ctx, `ALTER SYSTEM SET shared_preload_libraries = 'pg_stat_statements'`)
	if err := errors.Join(err, conn.Close(ctx), db.Stop()); err != nil {
		return nil, nil, err
	}
	if db, err = databaseIn(ctx, dir); err != nil {
		return nil, nil, err
	}
	if conn, err = pgx.Connect(ctx, db.URL()); err == nil {
		_, err = conn.Exec(ctx, `CREATE EXTENSION pg_stat_statements`)
	}
	if err != nil {
		return nil, nil, errors.Join(err, db.Stop())
	}
	return db, &statements{conn}, nil
}

func (s *statements) reset(ctx context.Context) error {
	if s == nil {
		return nil
	}
	_, err := s.conn.Exec(ctx, `SELECT pg_stat_statements_reset()`)
	return err
}

// shares adds the share that each kind has of the time in all statements.
func (s *statements) shares(ctx context.Context, all figures) error {
	if s == nil {
		return nil
	}
	rows, err := s.conn.Query(ctx, `SELECT query, total_exec_time FROM pg_stat_statements`)
	if err != nil {
		return err
	}
	kinds, sum := map[string]float64{}, 0.0
	var query string
	var milliseconds float64
	_, err = pgx.ForEachRow(rows, []any{&query, &milliseconds}, func() error {
		kinds[kind(query)] += milliseconds
		sum += milliseconds
		return nil
	})
	for k, milliseconds := range kinds {
		all.add("time in statements, "+k, 100*milliseconds/sum)
	}
	return err
}

// kind names a statement by what it does to which table.
func kind(query string) string {
	words := strings.Fields(query)
	verb := strings.ToUpper(words[0])
	for i, word := range words[:len(words)-1] {
		switch strings.ToUpper(word) {
		case "INTO", "FROM", "UPDATE":
			if verb == "INSERT" || verb == "DELETE" || verb == "UPDATE" {
				return verb + " " + words[i+1]
			}
		case "JOIN":
			if verb == "SELECT" && strings.Contains(query, "FOR NO KEY UPDATE") {
				return "SELECT … FOR NO KEY UPDATE " + words[i+1]
			}
			return verb + " " + words[i+1]
		}
	}
	return verb
}
