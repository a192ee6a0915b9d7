package postgres

import (
	"context"
	"strconv"
	"strings"

	"github.com/jackc/pgx/v5"
)

// sqlBuilder puts a statement together. Values go in as parameters, so no text
// of a client is ever part of the SQL.
type sqlBuilder struct {
	strings.Builder
	args []any
}

func (b *sqlBuilder) write(parts ...string) {
	for _, part := range parts {
		b.WriteString(part)
	}
}

// arg adds a parameter and gives its placeholder.
func (b *sqlBuilder) arg(value any) string {
	b.args = append(b.args, value)
	return "$" + strconv.Itoa(len(b.args))
}

// The bounds of a statement: what the protocol has for its parameters, and a length
// that is still planned within a search's time.
const (
	mostArgs      = 1<<16 - 1
	mostStatement = 1 << 20
)

// query runs the statement of a search. One that a client's long query has made too
// large is refused.
func (b *sqlBuilder) query(ctx context.Context, conn *pgx.Conn) (pgx.Rows, error) {
	if len(b.args) > mostArgs || b.Len() > mostStatement {
		return nil, tooCostly("The search asks for too much at once; give it fewer parameters, or types to those that may lead to many.")
	}
	return conn.Query(ctx, b.String(), b.args...)
}

// scan runs the statement of a search that gives one row.
func (b *sqlBuilder) scan(ctx context.Context, conn *pgx.Conn, into ...any) error {
	rows, err := b.query(ctx, conn)
	if err != nil {
		return err
	}
	defer rows.Close()
	if !rows.Next() {
		if err := rows.Err(); err != nil {
			return err
		}
		return pgx.ErrNoRows
	}
	if err := rows.Scan(into...); err != nil {
		return err
	}
	rows.Close()
	return rows.Err()
}
