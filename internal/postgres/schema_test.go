package postgres

import (
	"context"
	"net/url"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

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

// TestMigrationWaitsPastLimits: a role may have limits on statements and locks,
// and waits for another's migration nevertheless.
func TestMigrationWaitsPastLimits(t *testing.T) {
	database := postgrestest.New(t)
	open(t, database)
	holder, err := pgx.Connect(t.Context(), database)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = holder.Close(context.Background()) }()
	for _, limit := range []string{"statement_timeout", "lock_timeout"} {
		t.Run(limit, func(t *testing.T) {
			other, err := holder.Begin(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			if _, err := other.Exec(t.Context(), `SELECT pg_advisory_xact_lock($1)`, int64(migrationLock)); err != nil {
				t.Fatal(err)
			}
			migrated := make(chan error, 1)
			go func() { migrated <- Migrate(t.Context(), withSetting(t, database, limit, "500ms")) }()
			select {
			case err := <-migrated:
				t.Errorf("it did not wait: %v", err)
				migrated <- nil
			case <-time.After(time.Second):
			}
			if err := other.Rollback(t.Context()); err != nil {
				t.Fatal(err)
			}
			if err := <-migrated; err != nil {
				t.Error(err)
			}
		})
	}
}

// withSetting adds a setting of connections to a URL.
func withSetting(t *testing.T, database, name, value string) string {
	t.Helper()
	u, err := url.Parse(database)
	if err != nil {
		t.Fatal(err)
	}
	query := u.Query()
	query.Set(name, value)
	u.RawQuery = query.Encode()
	return u.String()
}
