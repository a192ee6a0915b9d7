package conformance

import (
	"os"
	"testing"

	"starling/internal/postgres/postgrestest"
	"starling/test/program"
)

func TestMain(m *testing.M) { postgrestest.Main(m) }

// archive is program.Archive of the public material.
func archive(t *testing.T, name string) map[string][]byte {
	t.Helper()
	return program.Archive(t, os.Getenv("CONFORMANCE_DATA"), name)
}
