package postgres

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"starling/internal/fhir"
)

// A connection that brings word of changes and has been silent for
// listenSilence is asked for a sign of life, which has to come within
// listenPatience: a half-open one gives no error by itself.
const (
	listenSilence  = time.Second
	listenPatience = 2 * time.Second
)

// helloTries is how often a new listener waits, for listenPatience each, for
// what the store says to it over another connection.
const helloTries = 2

// listener opens a connection that is nobody else's and never a pool's, so no
// LISTEN is left behind in one that serves requests. It goes to ListenURL if that
// is given.
func (s *Store) listener(ctx context.Context, parameters map[string]string) (*pgx.Conn, error) {
	config, err := pgx.ParseConfig(s.listenURL)
	if err != nil {
		return nil, fmt.Errorf("URL to listen at: %w", err)
	}
	setSession(config)
	name := config.RuntimeParams["application_name"]
	if name == "" {
		name = "starling"
	}
	config.RuntimeParams["application_name"] = name + " listener"
	for name, value := range parameters {
		config.RuntimeParams[name] = value
	}
	connecting, cancel := context.WithTimeout(ctx, 5*listenPatience)
	defer cancel()
	conn, err := pgx.ConnectConfig(connecting, config)
	if err != nil {
		return nil, connectError(err)
	}
	return conn, nil
}

func closeListener(ctx context.Context, conn *pgx.Conn) {
	closing, cancel := context.WithTimeout(context.WithoutCancel(ctx), listenPatience)
	defer cancel()
	_ = conn.Close(closing)
}

// unheard turns an error into fhir.ErrUnheard if the server itself refused: it
// will again. Losses of a connection, shutdowns and starts will pass.
func unheard(err error, why string) error {
	var pgErr *pgconn.PgError
	if !errors.As(err, &pgErr) || strings.HasPrefix(pgErr.Code, "57") || pgErr.Code == "25006" {
		return err
	}
	return fmt.Errorf("%w: %s: %s (SQLSTATE %s)", fhir.ErrUnheard, why, pgErr.Message, pgErr.Code)
}

// hello makes sure that what this store commits arrives: say sends a text over a
// connection that serves requests, hear gives the next one that has come.
func hello(ctx context.Context, say func(text string) error, hear func(ctx context.Context) (string, error)) (heard bool, err error) {
	for range helloTries {
		text := strings.ToLower(rand.Text())
		if err := say(text); err != nil {
			return false, err
		}
		waiting, cancel := context.WithTimeout(ctx, listenPatience)
		for {
			got, err := hear(waiting)
			if err == nil && got != text {
				continue
			}
			cancel()
			if err == nil {
				return true, nil
			}
			if ctx.Err() != nil || !errors.Is(err, context.DeadlineExceeded) {
				return false, err
			}
			break
		}
	}
	return false, nil
}
