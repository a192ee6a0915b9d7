package postgres

import (
	"context"
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
	read, err := other.Load(t.Context(), fhir.DomainValidation)
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
	<-ready
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
