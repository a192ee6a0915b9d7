package main

import (
	"context"
	"errors"
	"log/slog"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"starling/internal/postgres"
	"starling/internal/postgres/embedded"
)

// database is an open store, with the PostgreSQL under it if that is the
// server's own.
type database struct {
	*postgres.Store
	own *embedded.Server // nil for one that runs elsewhere
}

// open opens the database that the flags name. searchTimeout may be 0 for the
// store's own.
func (f *databaseFlags) open(ctx context.Context, logger *slog.Logger, registerer prometheus.Registerer, searchTimeout time.Duration) (*database, error) {
	url, own, err := f.locate(ctx, logger)
	if err != nil {
		return nil, err
	}
	store, err := postgres.Open(ctx, postgres.Config{URL: url, ListenURL: f.ListenDatabaseURL, MaxConns: f.DatabaseConnections, Registerer: registerer, Logger: logger, SearchTimeout: searchTimeout})
	if err != nil {
		return nil, errors.Join(err, stop(own))
	}
	return &database{store, own}, nil
}

// locate gives the URL of the database, after starting one if none is set.
func (f *databaseFlags) locate(ctx context.Context, logger *slog.Logger) (string, *embedded.Server, error) {
	if f.DatabaseURL != "" {
		return f.DatabaseURL, nil, nil
	}
	own, err := embedded.Start(ctx, embedded.Options{DataDir: f.DataDir, Settings: f.ownSettings, Logger: logger})
	if err != nil {
		return "", nil, err
	}
	return own.URL(), own, nil
}

// close finishes what is queued, then stops the server's own PostgreSQL.
func (d *database) close() error {
	d.Close()
	return stop(d.own)
}

func stop(own *embedded.Server) error {
	if own == nil {
		return nil
	}
	return own.Stop()
}
