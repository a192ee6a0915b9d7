package postgres

import (
	"strconv"
	"strings"
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
