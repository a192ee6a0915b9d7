package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"

	"starling/internal/postgres"
)

// migrateCommand brings the tables up to date, as serve does at its start: for
// deployments that give the right to change tables to one job alone.
type migrateCommand struct {
	databaseFlags
	logFlags
}

// Validate checks the flags. Kong calls it.
func (c *migrateCommand) Validate() error { return c.check() }

// Run implements command.
func (c *migrateCommand) Run(ctx context.Context, p *program) error {
	url, own, err := c.locate(ctx, c.logger(p.stderr))
	if err != nil {
		return err
	}
	if c.ListenDatabaseURL != "" {
		if err := postgres.SameDatabase(ctx, url, c.ListenDatabaseURL); err != nil {
			return err
		}
	}
	if err := errors.Join(postgres.Migrate(ctx, cmp.Or(c.ListenDatabaseURL, url)), stop(own)); err != nil {
		return err
	}
	_, err = fmt.Fprintln(p.stdout, "fhir-server: the database is up to date")
	return err
}
