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

// TestMigrationOfALowerNumber: one that came later than those with higher numbers
// is made up for.
func TestMigrationOfALowerNumber(t *testing.T) {
	url := postgrestest.New(t)
	s := open(t, url)
	for _, statement := range []string{
		`DROP TABLE search_parameter, reindex`, `DELETE FROM goose_db_version WHERE version_id IN (8, 17)`,
	} {
		if _, err := s.reserve.Exec(t.Context(), statement); err != nil {
			t.Fatal(err)
		}
	}
	if err := Migrate(t.Context(), url); err != nil {
		t.Fatal(err)
	}
	if states, err := s.ParameterStates(t.Context()); err != nil || len(states) != 0 {
		t.Error(states, err)
	}
}
