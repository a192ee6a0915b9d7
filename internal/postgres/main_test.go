package postgres

import (
	"testing"

	"starling/internal/postgres/postgrestest"
)

func TestMain(m *testing.M) { postgrestest.Main(m) }
