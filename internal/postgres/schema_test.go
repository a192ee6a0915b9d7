package postgres

import (
	"net/url"
	"testing"

	"starling/internal/postgres/postgrestest"
)

// TestRoleNamedAsTheViewsSchema: a role called fhir, the schema of the views,
// opens the database twice.
func TestRoleNamedAsTheViewsSchema(t *testing.T) {
	u, err := url.Parse(postgrestest.New(t))
	if err != nil {
		t.Fatal(err)
	}
	owner := open(t, u.String())
	for _, statement := range []string{
		`DROP SCHEMA fhir CASCADE`, `DROP SCHEMA public CASCADE`, `CREATE SCHEMA public`,
		`DO $$ BEGIN CREATE ROLE fhir SUPERUSER LOGIN; EXCEPTION WHEN duplicate_object THEN NULL; END $$`,
	} {
		if _, err := owner.reserve.Exec(t.Context(), statement); err != nil {
			t.Fatal(err)
		}
	}
	u.User = url.User("fhir")
	for range 2 {
		if err := Migrate(t.Context(), u.String()); err != nil {
			t.Fatal(err)
		}
	}
}
