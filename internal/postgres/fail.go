package postgres

import (
	"context"
	"errors"
	"strings"

	"github.com/jackc/pgx/v5/pgconn"

	"starling/internal/fhir"
)

// outcome is what an error of the database means for the requests of a batch.
type outcome uint8

const (
	outcomeFailed  outcome = iota // not done, and trying again will not help
	outcomeBadRow                 // one row is at fault: bisect
	outcomeRetry                  // not done; try the whole again
	outcomeUnknown                // the connection was lost: done or not
)

// classify sorts errors by SQLSTATE
// (https://www.postgresql.org/docs/current/errcodes-appendix.html).
func classify(err error) outcome {
	if errors.Is(err, errLostInsert) || errors.Is(err, errNotCommitted) {
		return outcomeRetry
	}
	var known *fhir.Error
	if errors.As(err, &known) {
		return outcomeFailed
	}
	var pgErr *pgconn.PgError
	if !errors.As(err, &pgErr) {
		return outcomeUnknown
	}
	switch pgErr.Code {
	case "40001", "40P01", "55P03", // serialization failure, deadlock, lock timeout
		"26000": // a prepared statement is gone (a pooler changed servers)
		return outcomeRetry
	}
	switch pgErr.Code[:2] {
	case "22", "23", "54": // data, integrity, program limit
		return outcomeBadRow
	case "08", "57", "25": // connection, operator intervention, idle in transaction
		return outcomeUnknown
	}
	return outcomeFailed
}

// errLostInsert says another transaction created a resource first, between our
// look and our insert.
var errLostInsert = errors.New("postgres: another transaction created the resource first")

// report turns any error into one a client may see. Errors of fn and
// *fhir.Error pass through.
func report(ctx context.Context, err error) error {
	if err == nil {
		return nil
	}
	var known *fhir.Error
	if errors.As(err, &known) {
		return err
	}
	if ctx.Err() != nil {
		return fhir.NewError(fhir.KindTimeout, fhir.IssueTimeout, "the request was given up before it was done").Because(err)
	}
	var pgErr *pgconn.PgError
	if errors.As(err, &pgErr) {
		switch {
		case pgErr.Code == "57014":
			return fhir.NewError(fhir.KindTimeout, fhir.IssueTimeout, "the database took longer than the limit").Because(err)
		case strings.HasPrefix(pgErr.Code, "22"), strings.HasPrefix(pgErr.Code, "54"):
			return fhir.NewError(fhir.KindUnprocessable, fhir.IssueNotSupported, "the resource holds a value the database cannot keep").Because(err)
		case pgErr.Code == staleBasis:
			return stale()
		case pgErr.Code == "23505":
			return fhir.NewError(fhir.KindConflict, fhir.IssueDuplicate, "a resource with this id exists").Because(err)
		case strings.HasPrefix(pgErr.Code, "40"), pgErr.Code == "55P03":
			return fhir.NewError(fhir.KindConflict, fhir.IssueTransient, "other writes to the same resources kept getting in the way; try again").Because(err)
		case strings.HasPrefix(pgErr.Code, "08"), strings.HasPrefix(pgErr.Code, "25"), strings.HasPrefix(pgErr.Code, "53"), strings.HasPrefix(pgErr.Code, "57"):
			return unavailable(err)
		}
		return err
	}
	return unavailable(err)
}

func unavailable(cause error) *fhir.Error {
	return fhir.NewError(fhir.KindUnavailable, fhir.IssueTransient, "the database cannot be reached; try again").Because(cause)
}

func shuttingDown() *fhir.Error {
	return fhir.NewError(fhir.KindUnavailable, fhir.IssueTransient, "the server is shutting down")
}

// unknownOutcome is for a write whose transaction may or may not have been
// committed.
func unknownOutcome(cause error) *fhir.Error {
	return fhir.NewError(fhir.KindUnavailable, fhir.IssueTransient,
		"the database was lost while the write was being committed, and its outcome is unknown: read the resource before trying again").Because(cause)
}

func notFound(key fhir.Key) *fhir.Error {
	return fhir.NewError(fhir.KindNotFound, fhir.IssueNotFound, "there is no "+key.String())
}

// errNotCommitted says COMMIT was answered with another tag, ROLLBACK.
var errNotCommitted = errors.New("postgres: the transaction was not committed")
