package main

import (
	"context"

	"github.com/jackc/pgx/v5"
)

// stored gives the bytes that a resource takes in all tables and indexes, and the
// rows that it has only to be found by.
func (s *indexingSide) stored(ctx context.Context) (bytes, rows float64, err error) {
	conn, err := pgx.Connect(ctx, s.url)
	if err != nil {
		return 0, 0, err
	}
	defer func() { _ = conn.Close(ctx) }()
	err = conn.QueryRow(ctx, `SELECT r.size::float8 / r.n, r.rows::float8 / r.n FROM (SELECT
		(SELECT sum(pg_total_relation_size(oid)) FROM pg_class WHERE relname IN ('resource', 'version') OR relname LIKE 'search\_%' AND relkind = 'r') AS size,
		(SELECT count(*) FROM search_key) + (SELECT count(*) FROM search_date) + (SELECT count(*) FROM search_number)
			+ (SELECT count(*) FROM search_string) + (SELECT count(*) FROM search_text) AS rows,
		(SELECT count(*) FROM resource) AS n) r`).Scan(&bytes, &rows)
	return bytes, rows, err
}
