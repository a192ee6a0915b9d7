package postgres

import (
	"errors"
	"net"
	"slices"
	"strings"

	"github.com/jackc/pgx/v5/pgconn"
)

// refusedTLS is what pgx says of a server without TLS.
const refusedTLS = "server refused TLS connection"

// connectFailure is an error of a connection attempt, told in a line.
type connectFailure struct {
	text string
	err  error
}

func (e *connectFailure) Error() string { return e.text }
func (e *connectFailure) Unwrap() error { return e.err }

// connectError tells why a connection could not be made. With sslmode=prefer, the
// default, pgx tries each address with TLS and then without, and tells of all attempts:
// each cause is told once here, and that the server has no TLS only where nothing else
// is in the way.
func connectError(err error) error {
	text := err.Error()
	var failure *pgconn.ConnectError
	if errors.As(err, &failure) {
		causes := causesOf(failure.Unwrap())
		if others := slices.DeleteFunc(slices.Clone(causes), func(text string) bool { return strings.HasSuffix(text, refusedTLS) }); len(others) > 0 {
			causes = others
		}
		text = strings.Join(causes, "; ") + " (user " + failure.Config.User + ", database " + failure.Config.Database + ")"
	}
	return &connectFailure{"connect to the database: " + text, err}
}

// causesOf gives the texts of errors that may be several, each once and without what
// pgx puts before them.
func causesOf(err error) (causes []string) {
	var several interface{ Unwrap() []error }
	if errors.As(err, &several) {
		for _, one := range several.Unwrap() {
			for _, text := range causesOf(one) {
				if !slices.Contains(causes, text) {
					causes = append(causes, text)
				}
			}
		}
		return causes
	}
	var refused *pgconn.PgError
	var unreachable *net.OpError
	var unknown *net.DNSError
	switch {
	case errors.As(err, &refused):
		err = refused
	case errors.As(err, &unreachable):
		err = unreachable
	case errors.As(err, &unknown):
		err = unknown
	}
	return []string{err.Error()}
}
