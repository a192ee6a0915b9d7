package postgres

import (
	"context"
	"crypto/sha256"
	"encoding/base64"
	"errors"

	"github.com/jackc/pgx/v5"

	"starling/internal/fhir"
)

// KeepQuery implements fhir.Store. Equal texts have one row, named by their
// hash; each use moves its expiry, and takes along a few that have expired.
func (s *Store) KeepQuery(ctx context.Context, query string) (string, error) {
	sum := sha256.Sum256([]byte(query))
	_, err := s.requests.Exec(ctx, `WITH expired AS (
		  SELECT hash FROM search_query WHERE expires < now() ORDER BY expires LIMIT 10 FOR UPDATE SKIP LOCKED
		), removed AS (
		  DELETE FROM search_query q USING expired e WHERE q.hash = e.hash AND q.hash <> $1
		)
		INSERT INTO search_query AS q (hash, expires, query) VALUES ($1, now() + interval '2 days', $2)
		ON CONFLICT (hash) DO UPDATE SET expires = excluded.expires WHERE q.expires < now() + interval '1 day'`, sum[:16], query)
	return base64.RawURLEncoding.EncodeToString(sum[:16]), report(ctx, err)
}

// KeptQuery implements fhir.Store.
func (s *Store) KeptQuery(ctx context.Context, name string) (query string, err error) {
	hash, err := base64.RawURLEncoding.DecodeString(name)
	if err != nil || len(hash) != 16 {
		return "", damagedLink(err)
	}
	err = s.requests.QueryRow(ctx, `SELECT query FROM search_query WHERE hash = $1`, hash).Scan(&query)
	if errors.Is(err, pgx.ErrNoRows) {
		return "", fhir.NewError(fhir.KindGone, fhir.IssueNotFound, "The search this page link belongs to is no longer kept; search again.")
	}
	return query, report(ctx, err)
}
