package postgres

import (
	"context"
	"errors"
	"os"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"starling/internal/fhir"
	"starling/internal/postgres/postgrestest"
)

func openTwo(t *testing.T) (*Store, *Store, string) {
	t.Helper()
	url := postgrestest.New(t)
	var stores [2]*Store
	for i := range stores {
		s, err := Open(t.Context(), Config{URL: url})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(s.Close)
		stores[i] = s
	}
	return stores[0], stores[1], url
}

func put(t *testing.T, s *Store, typ fhir.ResourceType, id string) {
	t.Helper()
	_, err := s.Write(t.Context(), &fhir.Write{
		Op: fhir.OpUpdate, Method: fhir.MethodPut, Key: fhir.Key{Type: typ, ID: id},
		Content: fhir.Content{Body: []byte(`,"status":"active"`)}, Index: &fhir.Index{},
	})
	if err != nil {
		t.Fatal(err)
	}
}

func TestDomainVersionRisesOncePerTransaction(t *testing.T) {
	s, other, _ := openTwo(t)
	before, err := other.State(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	err = s.Transact(t.Context(), nil, func(tx fhir.Tx) error {
		var writes []*fhir.Write
		for _, id := range []string{"a", "b", "c"} {
			writes = append(writes, &fhir.Write{Op: fhir.OpUpdate, Method: fhir.MethodPut, Key: fhir.Key{Type: "ValueSet", ID: id}, Index: &fhir.Index{}})
		}
		_, err := tx.Apply(t.Context(), writes)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	put(t, s, "Patient", "p1")
	after, err := other.State(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for _, domain := range fhir.Domains() {
		want := before.Versions[domain]
		if domain == fhir.DomainValidation {
			want++
		}
		if after.Versions[domain] != want {
			t.Errorf("%s: version %d, want %d", domain, after.Versions[domain], want)
		}
	}
	read, err := other.Load(t.Context(), fhir.DomainValidation, fhir.DomainSnapshot{})
	if err != nil || read.Version != after.Versions[fhir.DomainValidation] || read.Lineage != after.Lineage || len(read.Resources) != 3 {
		t.Errorf("Load: %+v, %v", read, err)
	}
}

func TestDomainChangesAreHeardOnOtherInstances(t *testing.T) {
	s, other, url := openTwo(t)
	ctx, cancel := context.WithCancel(t.Context())
	heard, ready, ended := make(chan fhir.DomainVersions, 8), make(chan struct{}), make(chan error, 1)
	go func() {
		ended <- other.Notify().Listen(ctx, func() error { close(ready); return nil }, func(v fhir.DomainVersions) { heard <- v })
	}()
	select {
	case <-ready:
	case err := <-ended:
		if errors.Is(err, fhir.ErrUnheard) && os.Getenv("TEST_POOL_MODE") != "" {
			t.Skip("nothing is heard through this pooler:", err)
		}
		t.Fatal(err)
	}
	put(t, s, "Subscription", "s1")
	expect(t, heard, fhir.DomainSubscriptions)

	// Changes made without the server, by SQL, count too.
	conn, err := pgx.Connect(t.Context(), url)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = conn.Close(context.WithoutCancel(t.Context())) }()
	if _, err := conn.Exec(t.Context(), `TRUNCATE version`); err != nil {
		t.Fatal(err)
	}
	expect(t, heard, fhir.Domains()...)
	cancel()
	if err := <-ended; err == nil {
		t.Error("Listen ended without an error")
	}
}

func expect(t *testing.T, heard <-chan fhir.DomainVersions, domains ...fhir.Domain) {
	t.Helper()
	missing := map[fhir.Domain]bool{}
	for _, domain := range domains {
		missing[domain] = true
	}
	for len(missing) > 0 {
		select {
		case versions := <-heard:
			for domain := range versions {
				delete(missing, domain)
			}
		case <-time.After(5 * time.Second):
			t.Fatalf("not heard of: %v", missing)
		}
	}
}

// What a rebuild reads does not grow with what else is stored.
func TestDomainLoadReadsItsTypesAlone(t *testing.T) {
	url := postgrestest.New(t)
	s := open(t, url)
	for _, id := range []string{"a", "b", "c"} {
		put(t, s, "ValueSet", id)
	}
	conn, err := pgx.Connect(t.Context(), url)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close(context.Background())
	// Resources of other types, rows alone.
	const others = 20_000
	for _, sql := range []string{
		`INSERT INTO resource (rid, self, type, id, version, updated, deleted, terms, ranges)
			SELECT 1000000 + n, 0, (SELECT id FROM resource_type WHERE name = (ARRAY['Patient', 'Observation', 'Claim'])[1 + n % 3]),
				'other-' || n, 1, now(), false, '{}', '' FROM generate_series(1, ` + strconv.Itoa(others) + `) n`,
		`INSERT INTO version (rid, type, version, updated, writer, method, meta, body)
			SELECT rid, type, 1, now(), pg_current_xact_id(), 1, '', '' FROM resource WHERE rid > 1000000`,
		`ANALYZE resource`, `ANALYZE version`,
	} {
		if _, err := conn.Exec(t.Context(), sql); err != nil {
			t.Fatal(err)
		}
	}
	tx, err := conn.Begin(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	// As many installations have it: a scan the planner would avoid at any price
	// makes it think that compiling pays.
	if _, err := tx.Exec(t.Context(), `SET jit = on`); err != nil {
		t.Fatal(err)
	}
	if _, err := tx.Exec(t.Context(), planDomain); err != nil {
		t.Fatal(err)
	}
	rows, err := tx.Query(t.Context(), `EXPLAIN (ANALYZE, COSTS OFF, TIMING OFF) `+selectDomain, fhir.DomainValidation, []int16{}, []string{}, []int32{}, []time.Time{})
	if err != nil {
		t.Fatal(err)
	}
	lines, err := pgx.CollectRows(rows, pgx.RowTo[string])
	if err != nil {
		t.Fatal(err)
	}
	plan := strings.Join(lines, "\n")
	read := regexp.MustCompile(`(?:rows=|Removed by \w+(?: \w+)?: )(\d+)`)
	for _, match := range read.FindAllStringSubmatch(plan, -1) {
		if n, _ := strconv.Atoi(match[1]); n > 100 {
			t.Fatalf("%d rows are read of %d:\n%s", n, others, plan)
		}
	}
	var jit string // a plan tells only where PostgreSQL was built with it
	if err := tx.QueryRow(t.Context(), `SHOW jit`).Scan(&jit); err != nil || jit != "off" {
		t.Errorf("jit is %s, %v", jit, err)
	}
	if !strings.Contains(plan, "(actual rows=3") {
		t.Errorf("the three are not found:\n%s", plan)
	}
	got, err := s.Load(t.Context(), fhir.DomainValidation, fhir.DomainSnapshot{})
	if err != nil || len(got.Resources) != 3 || got.Version < 2 {
		t.Errorf("%d resources at version %d, %v", len(got.Resources), got.Version, err)
	}
}
