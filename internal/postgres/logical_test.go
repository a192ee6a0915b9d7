package postgres

import (
	"context"
	"errors"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"starling/internal/fhir"
	"starling/internal/postgres/embedded"
	"starling/internal/postgres/postgrestest"
)

// refusal is what Listen says that cannot work.
func refusal(t *testing.T, s *Store) string {
	t.Helper()
	err := s.Logical().Listen(t.Context(), func() error { return errors.New("it works") }, func(fhir.DomainVersions) {})
	if !errors.Is(err, fhir.ErrUnheard) {
		t.Errorf("%v", err)
	}
	return err.Error()
}

// server starts a PostgreSQL with settings of its own.
func server(t *testing.T, settings ...string) string {
	t.Helper()
	dir, err := os.MkdirTemp("", "starling")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	if err := os.Chmod(dir, 0o755); err != nil { // for the account it runs under
		t.Fatal(err)
	}
	own, err := embedded.Start(t.Context(), embedded.Options{DataDir: dir, BinDir: os.Getenv("TEST_POSTGRES_BIN"), Settings: settings})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = own.Stop() })
	return own.URL()
}

// What logical replication needs and does not find is told by its name.
func TestLogicalNeeds(t *testing.T) {
	t.Run("wal_level", func(t *testing.T) {
		if says := refusal(t, open(t, server(t))); !strings.Contains(says, "wal_level of PostgreSQL is replica") {
			t.Error(says)
		}
	})
	t.Run("a publication of that name", func(t *testing.T) {
		s := open(t, postgrestest.New(t))
		if _, err := s.reserve.Exec(t.Context(), `CREATE PUBLICATION starling_cache FOR TABLE resource`); err != nil {
			t.Fatal(err)
		}
		if says := refusal(t, s); !strings.Contains(says, "publication") {
			t.Error(says)
		}
	})
	t.Run("max_wal_senders and max_replication_slots", func(t *testing.T) {
		s := open(t, server(t, "wal_level=logical", "max_wal_senders=2", "max_replication_slots=1"))
		hear(t, s.Logical()).await()
		if says := refusal(t, s); !strings.Contains(says, "max_replication_slots") {
			t.Error(says)
		}
	})
	t.Run("roles", func(t *testing.T) {
		url := postgrestest.New(t)
		s := open(t, url)
		role := "plain_" + strings.ToLower(t.Name()[:4])
		for _, sql := range []string{`DROP ROLE IF EXISTS ` + role, `CREATE ROLE ` + role + ` LOGIN`} {
			if _, err := s.reserve.Exec(t.Context(), sql); err != nil {
				t.Fatal(err)
			}
		}
		t.Cleanup(func() {
			if _, err := s.reserve.Exec(context.Background(), `DROP ROLE `+role); err != nil {
				t.Error(err)
			}
		})
		config, err := pgx.ParseConfig(url)
		if err != nil {
			t.Fatal(err)
		}
		s.listenURL = strings.Replace(url, config.User+"@", role+"@", 1)
		if says := refusal(t, s); !strings.Contains(says, "REPLICATION") {
			t.Error(says)
		}
	})
}

// An instance that sleeps, or whose connection is half open, loses its slot, with
// the WAL that it holds back.
func TestSlotOfASleeper(t *testing.T) {
	url := postgrestest.New(t)
	proxy := postgrestest.NewProxy(t, url)
	s, err := Open(t.Context(), Config{URL: url, ListenURL: proxy.URL})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.Close)
	h := hear(t, Logical{s, 2 * time.Second})
	h.await()
	held := func() (slots int, lag int64) {
		t.Helper()
		err := s.reserve.QueryRow(t.Context(), `SELECT count(*), coalesce(max(pg_current_wal_lsn() - confirmed_flush_lsn), 0)::bigint
			FROM pg_replication_slots WHERE database = current_database() AND temporary`).Scan(&slots, &lag)
		if err != nil {
			t.Fatal(err)
		}
		return slots, lag
	}
	// What others write is confirmed, though nothing of it is published.
	if _, err := s.reserve.Exec(t.Context(), `CREATE TABLE others AS SELECT repeat('x', 1000) FROM generate_series(1, 20000)`); err != nil {
		t.Fatal(err)
	}
	if slots, _ := held(); slots != 1 {
		t.Fatalf("%d slots", slots)
	}
	eventually(t, "the WAL of others is let go", func() bool { _, lag := held(); return lag < 64<<10 })
	proxy.Hold()
	eventually(t, "the slot is dropped", func() bool { slots, _ := held(); return slots == 0 })
	proxy.Release()
}

// The making of a slot waits for writers under way, and is not an error.
func TestSlotWaitsForWriters(t *testing.T) {
	s := open(t, postgrestest.New(t))
	if err := s.Logical().publish(t.Context()); err != nil {
		t.Fatal(err)
	}
	writer, err := pgx.Connect(t.Context(), s.reserve.Config().ConnString())
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = writer.Close(context.Background()) }()
	if _, err := writer.Exec(t.Context(), `BEGIN; SELECT pg_current_xact_id()`); err != nil {
		t.Fatal(err)
	}
	h := hear(t, s.Logical())
	eventually(t, "the slot is being made", func() bool {
		var waits bool
		err := s.reserve.QueryRow(t.Context(), `SELECT EXISTS (SELECT `+listeners+` AND query LIKE 'CREATE_REPLICATION_SLOT%')`).Scan(&waits)
		return err == nil && waits
	})
	select {
	case <-h.ready:
		t.Error("ready, though a writer is under way")
	default:
	}
	if _, err := writer.Exec(t.Context(), `COMMIT`); err != nil {
		t.Fatal(err)
	}
	h.await()
}
