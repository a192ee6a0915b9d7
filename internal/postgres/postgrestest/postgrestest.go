// Package postgrestest gives tests a real PostgreSQL.
package postgrestest

import (
	"context"
	"crypto/rand"
	"fmt"
	"net/url"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"starling/internal/postgres/embedded"
)

// server is the one server of a test program.
var server struct {
	once sync.Once
	url  string
	stop func()
	err  error
}

// Main runs the tests of a package and then stops the shared server. A package
// whose tests call New has it as its TestMain:
//
//	func TestMain(m *testing.M) { postgrestest.Main(m) }
func Main(m *testing.M) {
	code := m.Run()
	if server.stop != nil {
		server.stop()
	}
	os.Exit(code)
}

// New gives the URL of a fresh, empty database, dropped when the test ends. It
// is on the server named by TEST_DATABASE_URL, else on one that is started for
// the test program, with the programs of TEST_POSTGRES_BIN if that is set. With
// TEST_POOL_MODE it leads through a PgBouncer in that mode.
func New(t testing.TB) string {
	t.Helper()
	server.once.Do(start)
	if server.err != nil {
		t.Fatalf("start PostgreSQL: %v", server.err)
	}
	name := "test_" + strings.ToLower(rand.Text())
	execute(t, server.url, `CREATE DATABASE `+name+` TEMPLATE template0 ENCODING 'UTF8'`)
	t.Cleanup(func() { drop(t, name) })
	u, err := url.Parse(server.url)
	if err != nil {
		t.Fatal(err)
	}
	u.Path = "/" + name
	if mode := os.Getenv("TEST_POOL_MODE"); mode != "" {
		return Pooler(t, u.String(), mode)
	}
	return u.String()
}

func start() {
	if server.url = os.Getenv("TEST_DATABASE_URL"); server.url != "" {
		return
	}
	dir, err := os.MkdirTemp("", "starling-test")
	if err != nil {
		server.err = err
		return
	}
	// The account the server runs under must reach its folder.
	if server.err = os.Chmod(dir, 0o755); server.err != nil {
		return
	}
	ctx, cancel := context.WithTimeout(context.Background(), 3*time.Minute)
	defer cancel()
	running, err := embedded.Start(ctx, embedded.Options{
		DataDir: dir, BinDir: os.Getenv("TEST_POSTGRES_BIN"),
		Settings: []string{"wal_level=logical"}, // for tests of logical replication
	})
	if err != nil {
		server.err = fmt.Errorf("%w (folder %s)", err, dir)
		return
	}
	server.url = running.URL()
	server.stop = func() {
		_ = running.Stop()
		_ = os.RemoveAll(dir)
	}
}

// dropWithin is how long a database may be in use after its test.
const dropWithin = 20 * time.Second

// drop drops a database. A replication slot that has just been left is in use for
// another moment, whatever FORCE says.
func drop(t testing.TB, name string) {
	ctx, cancel := context.WithTimeout(context.Background(), dropWithin)
	defer cancel()
	for used := true; used && ctx.Err() == nil; time.Sleep(10 * time.Millisecond) {
		conn, err := pgx.Connect(ctx, server.url)
		if err != nil {
			break // said below
		}
		err = conn.QueryRow(ctx, `SELECT EXISTS (SELECT FROM pg_replication_slots WHERE database = $1)`, name).Scan(&used)
		_ = conn.Close(ctx)
		if err != nil {
			break
		}
	}
	execute(t, server.url, `DROP DATABASE `+name+` WITH (FORCE)`)
}

func execute(t testing.TB, url, sql string) {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	conn, err := pgx.Connect(ctx, url)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = conn.Close(ctx) }()
	if _, err := conn.Exec(ctx, sql); err != nil {
		t.Fatalf("%s: %v", sql, err)
	}
}
