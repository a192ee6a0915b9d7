package postgres

import (
	"context"
	"errors"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"starling/internal/cache"
	"starling/internal/fhir"
	"starling/internal/postgres/postgrestest"
)

// Through a real PgBouncer: what each transport makes of each mode, and that
// nothing is left behind in the connections that others use.
func TestTransportsThroughPooler(t *testing.T) {
	for mode, heard := range map[string]bool{"session": true, "transaction": false} {
		t.Run(mode, func(t *testing.T) {
			direct := postgrestest.New(t)
			pooled := postgrestest.Pooler(t, direct, mode)
			s, other := open(t, pooled), open(t, pooled)
			if !s.pooled {
				t.Fatal("the pooler is not noticed")
			}
			t.Run("notify", func(t *testing.T) {
				h := hear(t, s.Notify())
				if !heard {
					if err := h.lost(); !errors.Is(err, fhir.ErrUnheard) || !strings.Contains(err.Error(), "pooler") {
						t.Errorf("%v", err)
					}
					return
				}
				h.await()
				put(t, other, "ValueSet", "x")
				h.has(fhir.DomainValidation, version(t, other, fhir.DomainValidation))
			})
			t.Run("logical", func(t *testing.T) {
				h := hear(t, s.Logical())
				if err := h.lost(); !errors.Is(err, fhir.ErrUnheard) || !strings.Contains(err.Error(), "--listen-database-url") {
					t.Errorf("%v", err)
				}
			})
			t.Run("poll", func(t *testing.T) {
				h := hear(t, cache.NewPoll(s, 20*time.Millisecond, time.Minute))
				h.await()
				put(t, other, "ValueSet", "x")
				h.has(fhir.DomainValidation, version(t, other, fhir.DomainValidation))
			})
			past, err := Open(t.Context(), Config{URL: pooled, ListenURL: direct})
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(past.Close)
			for _, transport := range transports(past) {
				t.Run("past it, "+transport.Name(), func(t *testing.T) {
					h := hear(t, transport)
					h.await()
					put(t, other, "ValueSet", "x")
					h.has(fhir.DomainValidation, version(t, other, fhir.DomainValidation))
				})
			}
			nobodyListens(t, pooled)
		})
	}
}

// nobodyListens looks at all the server connections of a pooler, by keeping one
// after the other busy.
func nobodyListens(t *testing.T, pooled string) {
	t.Helper()
	seen := map[int]bool{}
	for range 10 {
		config, err := pgx.ParseConfig(pooled)
		if err != nil {
			t.Fatal(err)
		}
		config.DefaultQueryExecMode = pgx.QueryExecModeExec
		conn, err := pgx.ConnectConfig(t.Context(), config)
		if err != nil {
			t.Fatal(err)
		}
		defer conn.Close(t.Context())
		tx, err := conn.Begin(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		defer tx.Rollback(t.Context())
		var backend, channels int
		if err := tx.QueryRow(t.Context(), `SELECT pg_backend_pid(), (SELECT count(*)::int FROM pg_listening_channels())`).Scan(&backend, &channels); err != nil {
			t.Fatal(err)
		}
		if channels > 0 {
			t.Errorf("backend %d listens on %d channels", backend, channels)
		}
		seen[backend] = true
	}
	t.Logf("%d server connections looked at", len(seen))
}

// Why a listener must not ask itself: in transaction mode LISTEN seems to work for
// one that notifies over its own connection, and is deaf to all others.
func TestListenSeemsToWork(t *testing.T) {
	pooled := postgrestest.Pooler(t, postgrestest.New(t), "transaction")
	conn, err := pgx.Connect(t.Context(), pooled)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = conn.Close(context.Background()) }()
	if _, err := conn.Exec(t.Context(), `LISTEN seems`); err != nil {
		t.Fatal(err)
	}
	if _, err := conn.Exec(t.Context(), `NOTIFY seems, 'own'`); err != nil {
		t.Fatal(err)
	}
	waiting, cancel := context.WithTimeout(t.Context(), testPatience)
	defer cancel()
	if n, err := conn.WaitForNotification(waiting); err != nil || n.Payload != "own" {
		t.Errorf("%v, %v", n, err)
	}
	other, err := pgx.Connect(t.Context(), pooled)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = other.Close(context.Background()) }()
	if _, err := other.Exec(t.Context(), `NOTIFY seems, 'other'`); err != nil {
		t.Fatal(err)
	}
	shortly, cancel := context.WithTimeout(t.Context(), listenPatience)
	defer cancel()
	if n, err := conn.WaitForNotification(shortly); err == nil {
		t.Errorf("%v", n)
	}
}

// A pooler in statement mode has no transactions: that is said at once.
func TestStatementModeIsRefused(t *testing.T) {
	pooled := postgrestest.Pooler(t, postgrestest.New(t), "statement")
	s, err := Open(t.Context(), Config{URL: pooled})
	if err == nil {
		s.Close()
	}
	if err == nil || !strings.Contains(err.Error(), "statement") {
		t.Errorf("%v", err)
	}
}

// Behind a pooler each transaction has its settings, the statements alone in
// their batch too, and nobody else's connection keeps them.
func TestSettingsThroughPooler(t *testing.T) {
	direct := postgrestest.New(t)
	pooled := postgrestest.Pooler(t, direct, "transaction")
	s := open(t, pooled)
	show := func(conn *pgx.Conn) (seqscan, idle string) {
		t.Helper()
		if err := conn.QueryRow(t.Context(), `SELECT current_setting('enable_seqscan'), current_setting('idle_in_transaction_session_timeout')`).Scan(&seqscan, &idle); err != nil {
			t.Fatal(err)
		}
		return seqscan, idle
	}
	err := s.withConn(t.Context(), func(conn *pgx.Conn) error {
		if seqscan, idle := show(conn); seqscan != "off" || idle != "10s" {
			t.Errorf("a search has enable_seqscan %s, idle_in_transaction_session_timeout %s", seqscan, idle)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	conn, err := s.coalesced.Acquire(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for _, begin := range []func(*pipeline){(*pipeline).begin, (*pipeline).set} {
		p := startPipeline(t.Context(), conn.Conn().PgConn())
		begin(p)
		var got string
		p.SendQueryParams(`SELECT current_setting('enable_seqscan') || ' ' || current_setting('plan_cache_mode') || ' ' || current_setting('idle_in_transaction_session_timeout')`, nil, nil, nil, nil)
		p.handlers = append(p.handlers, func(result *pgconn.ResultReader) {
			for result.NextRow() {
				got = string(result.Values()[0])
			}
		})
		if err := errors.Join(p.flush(), p.Close()); err != nil {
			t.Fatal(err)
		}
		if got != "off force_generic_plan 1s" {
			t.Errorf("a batch has %q", got)
		}
		if _, err := conn.Exec(t.Context(), `ROLLBACK`); err != nil {
			t.Fatal(err)
		}
	}
	if seqscan, _ := show(conn.Conn()); seqscan != "on" {
		t.Error("settings outlive their transaction")
	}
	conn.Release()
}

// A pooler does not pass on the schema of the tables. Whether migrations go through
// it or past it, the server says so, and what to do.
func TestSchemaThroughPooler(t *testing.T) {
	direct := postgrestest.New(t)
	conn, err := pgx.Connect(t.Context(), direct)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = conn.Close(context.Background()) }()
	if _, err := conn.Exec(t.Context(), `CREATE SCHEMA app`); err != nil {
		t.Fatal(err)
	}
	through := func() string {
		return withSetting(t, postgrestest.Pooler(t, direct, "transaction"), "search_path", "app")
	}
	before := through()
	for way, listenURL := range map[string]string{"through it": "", "past it": withSetting(t, direct, "search_path", "app")} {
		s, err := Open(t.Context(), Config{URL: before, ListenURL: listenURL})
		if err == nil {
			s.Close()
		}
		if err == nil || !strings.Contains(err.Error(), "SET search_path = app") {
			t.Errorf("migrated %s: %v", way, err)
		}
	}
	if _, err := conn.Exec(t.Context(), `DO $$ BEGIN EXECUTE format('ALTER DATABASE %I SET search_path = app', current_database()); END $$`); err != nil {
		t.Fatal(err)
	}
	put(t, open(t, through()), "ValueSet", "x")
}

// Writers of one resource and of what it is checked by, on two instances behind
// a pooler, are fenced as they are without one.
func TestFenceThroughPooler(t *testing.T) {
	pooled := postgrestest.Pooler(t, postgrestest.New(t), "transaction")
	s, other := open(t, pooled), open(t, pooled)
	var writers sync.WaitGroup
	stop := make(chan struct{})
	written, refused := 0, 0
	writers.Go(func() {
		for {
			select {
			case <-stop:
				return
			default:
			}
			basis := basisOf(t, s)
			_, err := s.Write(t.Context(), writeOn(basis, "Basic", "b"))
			switch {
			case err == nil:
				written++
			case errors.Is(err, fhir.ErrStale):
				refused++
			default:
				t.Errorf("%v", err)
				return
			}
		}
	})
	for range 50 {
		put(t, other, "StructureDefinition", "x")
	}
	close(stop)
	writers.Wait()
	t.Logf("%d written, %d refused", written, refused)
	if written == 0 {
		t.Error("nothing was written")
	}
	before := basisOf(t, s)
	put(t, other, "StructureDefinition", "x")
	if _, err := s.Write(t.Context(), writeOn(before, "Basic", "b")); !errors.Is(err, fhir.ErrStale) {
		t.Errorf("by what was replaced: %v", err)
	}
}
