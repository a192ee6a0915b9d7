package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"strings"
	"sync/atomic"
	"testing"
	"time"
	"uuid"

	"starling/internal/cache"
	"starling/internal/fhir"
	"starling/internal/postgres"
	"starling/internal/postgres/postgrestest"
)

// A package of a thousand profiles raises the version of its domain once, and each
// instance rebuilds once, not a thousand times. Meanwhile both answer.
func TestThousandProfilesRebuildOnce(t *testing.T) {
	url := postgrestest.New(t)
	servers := []*running{serve(t, url), serve(t, url)}
	fills := func(r *running) float64 { return metricOf(t, r, `starling_cache_fills_total{domain="validation"}`) }
	version := func(r *running) float64 { return metricOf(t, r, `starling_cache_version{domain="validation"}`) }
	var before [2]float64
	for i, r := range servers {
		before[i] = fills(r)
	}
	was := version(servers[0])
	const profiles = 1000
	var entries []string
	for n := range profiles {
		entries = append(entries, fmt.Sprintf(`{"resource":{"resourceType":"StructureDefinition","id":"p%[1]d","url":"http://example.org/p%[1]d","name":"P%[1]d","status":"active",
			"kind":"resource","abstract":false,"type":"Basic","baseDefinition":"http://hl7.org/fhir/StructureDefinition/Basic","derivation":"constraint",
			"differential":{"element":[{"id":"Basic","path":"Basic"},{"id":"Basic.author","path":"Basic.author","min":1}]}},
			"request":{"method":"PUT","url":"StructureDefinition/p%[1]d"}}`, n))
	}
	ended := make(chan struct{})
	var answers atomic.Int64
	go func() {
		defer close(ended)
		if a := servers[0].do("POST", "", `{"resourceType":"Bundle","type":"transaction","entry":[`+strings.Join(entries, ",")+`]}`); a.StatusCode != 200 {
			t.Errorf("%d %.500s", a.StatusCode, a.body)
		}
	}()
	for done := false; !done; {
		select {
		case <-ended:
			done = true
		default:
		}
		for _, r := range servers {
			if a := r.do("GET", "Basic?_count=1", ""); a.StatusCode != 200 {
				t.Errorf("a search meanwhile: %d %.300s", a.StatusCode, a.body)
			}
			answers.Add(1)
		}
	}
	for i, r := range servers {
		eventually(t, "the profiles are known", func() bool { return version(r) == was+1 })
		if got := metricOf(t, r, `starling_cache_resources{domain="validation"}`); got != profiles {
			t.Errorf("%v resources", got)
		}
		// A request whose lease is out reads for itself, on a busy machine.
		if rebuilt := fills(r) - before[i]; rebuilt < 1 || rebuilt > 3 {
			t.Errorf("instance %d rebuilt %v times", i+1, rebuilt)
		}
		breaking := `{"resourceType":"Basic","meta":{"profile":["http://example.org/p999"]},"code":{"text":"x"}}`
		if a := r.do("POST", "Basic", breaking); a.StatusCode != 400 {
			t.Errorf("what breaks the last profile: %d %s", a.StatusCode, a.body)
		}
	}
	t.Logf("%d searches were answered meanwhile", answers.Load())
}

// metricOf gives the value of one metric.
func metricOf(t *testing.T, r *running, name string) (value float64) {
	t.Helper()
	for line := range strings.SplitSeq(metrics(t, r), "\n") {
		if text, ok := strings.CutPrefix(line, name+" "); ok {
			if _, err := fmt.Sscan(text, &value); err != nil {
				t.Fatal(err)
			}
			return value
		}
	}
	t.Fatalf("there is no metric %s", name)
	return 0
}

// While a rebuild takes its time, an instance answers by the snapshot it has,
// until its lease is out, and never after.
func TestOldSnapshotServesWhileItIsRebuilt(t *testing.T) {
	logger := slog.New(slog.NewTextHandler(io.Discard, nil))
	store, err := postgres.Open(t.Context(), postgres.Config{URL: postgrestest.New(t), Logger: logger})
	if err != nil {
		t.Fatal(err)
	}
	defer store.Close()
	building, release := make(chan struct{}, 100), make(chan struct{})
	var builds atomic.Int64
	rules := cache.New(fhir.DomainValidation, func(resources []*fhir.Resource) int {
		if len(resources) > 0 {
			builds.Add(1)
			building <- struct{}{}
			<-release
		}
		return len(resources)
	})
	const lease = 3 * time.Second
	s, err := cache.Start(t.Context(), cache.Config{
		Store: store, Transport: store.Notify(), Logger: logger,
		Member: fhir.Member{ID: uuid.NewV7().String(), Name: "test", Mode: "notify", Lease: lease},
	}, rules, cache.New(fhir.DomainRouting, byKey), cache.New(fhir.DomainSubscriptions, byKey))
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	writes := make([]*fhir.Write, 1000)
	for n := range writes {
		writes[n] = &fhir.Write{
			Op: fhir.OpUpdate, Method: fhir.MethodPut, Key: fhir.Key{Type: "StructureDefinition", ID: fmt.Sprint("p", n)},
			Content: fhir.Content{Body: []byte(`,"status":"active"`)}, Index: &fhir.Index{},
		}
	}
	if err := store.Transact(t.Context(), nil, func(tx fhir.Tx) error {
		_, err := tx.Apply(t.Context(), writes)
		return err
	}); err != nil {
		t.Fatal(err)
	}
	committed := time.Now()
	<-building
	answered := 0
	var stale error
	for stale == nil && time.Since(committed) < 4*lease {
		asking, cancel := context.WithTimeout(t.Context(), lease/2)
		using, err := s.Begin(asking, "", false)
		if err == nil {
			err = s.Confirm(using)
		}
		cancel()
		if at := time.Since(committed); err == nil && at > lease+lease/4 {
			t.Fatalf("an answer %v after the change by what was before it", at)
		}
		if stale = err; err == nil {
			answered++
			time.Sleep(time.Millisecond)
		}
	}
	if rules.Current().Value != 0 || answered < 10 {
		t.Errorf("%d answers by the old snapshot, which is of %d resources", answered, rules.Current().Value)
	}
	var failure *fhir.Error
	if !errors.As(stale, &failure) && !errors.Is(stale, context.DeadlineExceeded) {
		t.Errorf("with the lease out: %v", stale)
	}
	close(release)
	eventually(t, "it answers again", func() bool {
		_, err := s.Begin(t.Context(), "", false)
		return err == nil && rules.Current().Value == len(writes)
	})
	// One for the change, one for the requests that came after the lease.
	if n := builds.Load(); n > 2 {
		t.Errorf("%d rebuilds for one change", n)
	}
	t.Logf("%d answers by the old snapshot, %d rebuilds", answered, builds.Load())
}
