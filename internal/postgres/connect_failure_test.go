package postgres

import (
	"errors"
	"io"
	"net"
	"net/url"
	"strings"
	"syscall"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"starling/internal/postgres/postgrestest"
)

// A database that is not there, and one that refuses, are told in a line, once,
// and without a word of the attempt with TLS that came before.
func TestConnectFailureIsPlain(t *testing.T) {
	closed := address(t, nil)
	database := postgrestest.New(t)
	open := address(t, func(conn net.Conn) { forward(t, conn, database) })
	for _, c := range []struct{ url, says string }{
		{"postgres://u:secret@" + closed + "/d", "connect to the database: dial tcp " + closed + ": connect: connection refused (user u, database d)"},
		{
			"postgres://u:secret@" + closed + "/d?sslmode=disable",
			"connect to the database: dial tcp " + closed + ": connect: connection refused (user u, database d)",
		},
		{"postgres://u:secret@host.invalid/d", "connect to the database: lookup host.invalid"},
		{
			"postgres://u:secret@/d?host=" + url.QueryEscape(t.TempDir()),
			"connect: no such file or directory (user u, database d)",
		},
		{
			"postgres://" + userOf(t, database) + "@" + open + "/none",
			`connect to the database: FATAL: database "none" does not exist (SQLSTATE `, // a pooler's is another
		},
		{
			"postgres://" + userOf(t, database) + "@" + open + "/none?sslmode=require",
			"server refused TLS connection",
		},
	} {
		_, err := Open(t.Context(), Config{URL: c.url})
		if err == nil || !strings.Contains(err.Error(), c.says) || strings.Contains(err.Error(), "\n") || strings.Contains(err.Error(), "secret") {
			t.Errorf("%s: %v, want %s", c.url, err, c.says)
			continue
		}
		var failure *pgconn.ConnectError
		if !errors.As(err, &failure) {
			t.Errorf("%s: %T has lost its cause", c.url, err)
		}
		if strings.Contains(c.url, closed) && !errors.Is(err, syscall.ECONNREFUSED) {
			t.Errorf("%s: %v is no refused connection", c.url, err)
		}
	}
}

// address gives one at which accept gets connections, or at which nobody listens.
func address(t *testing.T, accept func(net.Conn)) string {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	if accept == nil {
		_ = listener.Close()
		return listener.Addr().String()
	}
	t.Cleanup(func() { _ = listener.Close() })
	go func() {
		for {
			conn, err := listener.Accept()
			if err != nil {
				return
			}
			go accept(conn)
		}
	}()
	return listener.Addr().String()
}

// forward joins a connection to the server of a database, which the tests reach by
// a socket alone, where nobody tries TLS.
func forward(t *testing.T, from net.Conn, database string) {
	config, err := pgx.ParseConfig(database)
	if err != nil {
		t.Error(err)
		return
	}
	network, address := pgconn.NetworkAddress(config.Host, config.Port)
	to, err := net.Dial(network, address)
	if err != nil {
		t.Error(err)
		return
	}
	go func() {
		_, _ = io.Copy(to, from)
		_ = to.Close()
	}()
	_, _ = io.Copy(from, to)
	_ = from.Close()
}

func userOf(t *testing.T, database string) string {
	t.Helper()
	config, err := pgx.ParseConfig(database)
	if err != nil {
		t.Fatal(err)
	}
	return config.User
}
