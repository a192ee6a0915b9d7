package interaction

import (
	"context"
	"testing"

	"starling/internal/fhir"
	"starling/internal/postgres"
	"starling/internal/postgres/postgrestest"
)

func TestMain(m *testing.M) { postgrestest.Main(m) }

// openStore gives a store on a database of its own.
func openStore(t *testing.T) fhir.Store {
	t.Helper()
	store, err := postgres.Open(context.Background(), postgres.Config{URL: postgrestest.New(t), MaxConns: 8})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(store.Close)
	return store
}
