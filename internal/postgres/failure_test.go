package postgres

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"starling/internal/fhir"
	"starling/internal/postgres/embedded"
	"starling/internal/postgres/postgrestest"
)

// poison makes the database refuse, at COMMIT, each resource whose content
// says "poison".
func poison(t *testing.T, s *Store) {
	t.Helper()
	_, err := s.reserve.Exec(t.Context(), `
		CREATE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql AS $$
		BEGIN
		  IF NEW.body LIKE '%poison%' THEN RAISE EXCEPTION 'poison' USING ERRCODE = '23514'; END IF;
		  RETURN NULL;
		END $$;
		CREATE CONSTRAINT TRIGGER refuse AFTER INSERT ON version DEFERRABLE INITIALLY DEFERRED
		FOR EACH ROW EXECUTE FUNCTION refuse()`)
	if err != nil {
		t.Fatal(err)
	}
}

// TestFailuresAtOnce: loops whose batches fail at the same time share
// connections one after the other, never at once.
func TestFailuresAtOnce(t *testing.T) {
	s, err := Open(t.Context(), Config{URL: postgrestest.New(t), coalesce: 1, writeLoops: 8})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.Close)
	poison(t, s)
	var wait sync.WaitGroup
	for i := range 400 {
		wait.Go(func() {
			if _, err := s.Write(context.Background(), patient(fmt.Sprint("p", i), `,"text":"poison"`)); err == nil {
				t.Errorf("write %d is acknowledged", i)
			}
		})
	}
	wait.Wait()
}

// TestBadRowAlone: what one write does wrong, in its statement or at COMMIT,
// fails that write and no other of its batch (rule 21).
func TestBadRowAlone(t *testing.T) {
	s := open(t, postgrestest.New(t))
	poison(t, s)
	var wait sync.WaitGroup
	var failed atomic.Int32
	for i := range 60 {
		wait.Go(func() {
			w := patient(fmt.Sprint("p", i), "")
			bad := i%20 == 7
			switch {
			case i == 27:
				w.Index.Numbers = []fhir.NumberValue{{Param: "n", Value: "no number"}}
			case bad:
				w.Body = []byte(`,"text":"poison"`)
			}
			_, err := s.Write(context.Background(), w)
			if bad {
				failed.Add(1)
			}
			if bad != (err != nil) {
				t.Errorf("write %d: %v", i, err)
			}
		})
	}
	wait.Wait()
	if got := len(search(t, s, nil)); got != 57 || failed.Load() != 3 {
		t.Fatalf("%d stored", got)
	}
}

// hammer writes creates and updates until stop, and gives what was
// acknowledged: the last version of each id.
func hammer(s *Store, stop <-chan struct{}, acknowledged *sync.Map, t *testing.T) {
	var wait sync.WaitGroup
	for client := range 16 {
		wait.Go(func() {
			for n := 0; ; n++ {
				select {
				case <-stop:
					return
				default:
				}
				id := fmt.Sprintf("c%d-%d", client, n)
				result, err := s.Write(context.Background(), patient(id, `,"n":1`, id))
				if err != nil {
					kindOf(t, err)
					continue
				}
				if result.VersionID != 1 {
					t.Errorf("create of %s made version %d", id, result.VersionID)
				}
				acknowledged.Store(id, int64(1))
				result, err = s.Write(context.Background(), as(patient(id, `,"n":2`, id), fhir.OpUpdate, func(w *fhir.Write) { w.IfMatch = 1 }))
				if err != nil {
					if kindOf(t, err) == fhir.KindPreconditionFailed {
						t.Errorf("an update of %s was carried out twice: %v", id, err)
					}
					continue
				}
				acknowledged.Store(id, result.VersionID)
			}
		})
	}
	wait.Wait()
}

func checkAcknowledged(t *testing.T, s *Store, acknowledged *sync.Map) {
	t.Helper()
	count := 0
	acknowledged.Range(func(id, version any) bool {
		count++
		var got *fhir.Resource
		var err error
		// The last kill may still be recovered from: then nothing can be told.
		waitFor(t, func() bool {
			got, err = s.Read(context.Background(), fhir.Key{Type: "Patient", ID: id.(string)})
			var refused *fhir.Error
			return !errors.As(err, &refused) || refused.Kind != fhir.KindUnavailable
		})
		if err != nil || got.VersionID < version.(int64) {
			t.Errorf("acknowledged version %d of %s is lost: %+v %v", version, id, got, err)
		}
		return true
	})
	if count == 0 {
		t.Error("nothing was written")
	}
	t.Logf("%d resources", count)
}

// TestBackendsTerminated ends the connections of the writers again and again:
// nothing acknowledged is lost, and nothing is carried out twice.
func TestBackendsTerminated(t *testing.T) {
	s := open(t, postgrestest.New(t))
	stop := make(chan struct{})
	var acknowledged sync.Map
	var wait sync.WaitGroup
	wait.Go(func() { hammer(s, stop, &acknowledged, t) })
	for range 25 {
		time.Sleep(30 * time.Millisecond)
		_, err := s.reserve.Exec(t.Context(), `SELECT pg_terminate_backend(pid) FROM pg_stat_activity
			WHERE datname = current_database() AND state <> 'idle' AND pid <> pg_backend_pid()`)
		if err != nil {
			t.Error(err)
		}
	}
	close(stop)
	wait.Wait()
	checkAcknowledged(t, s, &acknowledged)
}

// TestBackendKilled kills a backend with SIGKILL under load: PostgreSQL ends
// all sessions and recovers from its log.
func TestBackendKilled(t *testing.T) {
	if testing.Short() {
		t.Skip("starts a server of its own")
	}
	dir, err := os.MkdirTemp("", "starling-kill")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = os.RemoveAll(dir) }()
	if err := os.Chmod(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	server, err := embedded.Start(t.Context(), embedded.Options{DataDir: dir, BinDir: os.Getenv("TEST_POSTGRES_BIN")})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = server.Stop() }()
	s := open(t, server.URL())
	stop := make(chan struct{})
	var acknowledged sync.Map
	var wait sync.WaitGroup
	wait.Go(func() { hammer(s, stop, &acknowledged, t) })
	for range 2 {
		time.Sleep(300 * time.Millisecond)
		var pid int
		err := s.reserve.QueryRow(t.Context(), `SELECT pid FROM pg_stat_activity
			WHERE datname = current_database() AND pid <> pg_backend_pid() ORDER BY state = 'active' DESC LIMIT 1`).Scan(&pid)
		if err != nil {
			t.Log(err)
			continue
		}
		if err := syscall.Kill(pid, syscall.SIGKILL); err != nil {
			t.Error(err)
		}
		waitFor(t, func() bool { return s.Ready(context.Background()) == nil })
	}
	close(stop)
	wait.Wait()
	checkAcknowledged(t, s, &acknowledged)
}

func TestServerChecks(t *testing.T) {
	url := postgrestest.New(t)
	s := open(t, url)
	if err := s.Ready(t.Context()); err != nil {
		t.Fatal(err)
	}
	name := "ascii_" + strconv.FormatInt(time.Now().UnixNano(), 36)
	if _, err := s.reserve.Exec(t.Context(), `CREATE DATABASE `+name+` TEMPLATE template0 ENCODING 'SQL_ASCII' LOCALE 'C'`); err != nil {
		t.Fatal(err)
	}
	i, j := strings.LastIndex(url, "/"), strings.Index(url, "?")
	_, err := Open(t.Context(), Config{URL: url[:i+1] + name + url[j:]})
	if err == nil || !strings.Contains(err.Error(), "UTF8") {
		t.Errorf("a database in SQL_ASCII: %v", err)
	}
	if _, err := s.reserve.Exec(t.Context(), `DROP DATABASE `+name+` WITH (FORCE)`); err != nil {
		t.Fatal(err)
	}
}
