package program

import (
	"testing"

	"starling/internal/postgres/postgrestest"
)

// Database gives the URL, for --database-url, of an empty database on a real
// PostgreSQL with durable commits. A package whose tests call it has
// postgrestest.Main as its TestMain.
func Database(t testing.TB) string {
	t.Helper()
	return postgrestest.New(t)
}
