package parameter

import (
	"fmt"
	"log/slog"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"starling/internal/fhir"
	"starling/internal/fhir/definition"
	"starling/internal/fhir/element"
	"starling/internal/fhir/search"
	"starling/internal/postgres"
	"starling/internal/postgres/postgrestest"
)

func TestMain(m *testing.M) { postgrestest.Main(m) }

// instance is one server: a set that changes when told to, and a runner.
type instance struct {
	*Indexing
	build   func([]*fhir.Resource) *Set
	current atomic.Pointer[Set]
	version atomic.Int64
	runner  *Runner
}

func start(t *testing.T, store *postgres.Store, resources ...*fhir.Resource) *instance {
	t.Helper()
	x := &instance{}
	progress := &Progress{}
	x.build = Builder(search.New(definition.R4()), progress)
	x.Indexing = &Indexing{Progress: progress, Current: func() (fhir.Basis, *Set) {
		basis := fhir.Basis{}
		basis.Versions[fhir.DomainRouting.Number()] = x.version.Load()
		return basis, x.current.Load()
	}}
	x.set(resources...)
	x.runner = &Runner{Indexing: x.Indexing, Store: store, Base: "http://localhost/fhir", Logger: slog.New(slog.DiscardHandler)}
	if err := x.runner.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	return x
}

func (x *instance) set(resources ...*fhir.Resource) {
	x.current.Store(x.build(resources))
	x.version.Add(1)
}

// find counts by the parameter room; the error says how far it is indexed.
func (x *instance) find(t *testing.T, store *postgres.Store, code string) (int, error) {
	t.Helper()
	query, _, err := x.Plan([]fhir.ResourceType{"Basic"}, code+"=r&_count=0", true, "")
	if err != nil {
		return 0, err
	}
	page, err := store.Search(t.Context(), query)
	if err != nil {
		t.Fatal(err)
	}
	return int(page.Total), nil
}

func (x *instance) wait(t *testing.T, store *postgres.Store, code string, want int) {
	t.Helper()
	for began := time.Now(); ; time.Sleep(5 * time.Millisecond) {
		got, err := x.find(t, store, code)
		if err == nil && got != want {
			t.Fatalf("%d found by %s, want %d", got, code, want)
		}
		if err == nil {
			return
		}
		if !strings.Contains(err.Error(), "cannot be searched by yet") {
			t.Fatal(err)
		}
		if time.Since(began) > time.Minute {
			t.Fatalf("it does not end: %v", err)
		}
	}
}

func openStore(t *testing.T, resources int) *postgres.Store {
	t.Helper()
	if testing.Short() {
		t.Skip("-short starts no PostgreSQL")
	}
	store, err := postgres.Open(t.Context(), postgres.Config{URL: postgrestest.New(t)})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(store.Close)
	base := search.New(definition.R4())
	for i := range resources {
		text := fmt.Sprintf(`{"resourceType":"Basic","id":"b%d","code":{"text":"x"},"extension":[{"url":"http://example.org/room","valueString":"r"}]}`, i)
		tree, err := element.Parse([]byte(text), element.DefaultLimits)
		if err != nil {
			t.Fatal(err)
		}
		content, err := element.Content(tree.Root())
		if err != nil {
			t.Fatal(err)
		}
		index, err := base.Index("Basic", tree.Root(), "")
		if err != nil {
			t.Fatal(err)
		}
		if _, err := store.Write(t.Context(), &fhir.Write{Op: fhir.OpCreate, Method: fhir.MethodPost, Key: fhir.Key{Type: "Basic", ID: fmt.Sprintf("b%d", i)}, Index: index, Content: content}); err != nil {
			t.Fatal(err)
		}
	}
	return store
}

func state(t *testing.T, store *postgres.Store) fhir.ParameterState {
	t.Helper()
	states, err := store.ParameterStates(t.Context())
	if err != nil || len(states) > 1 {
		t.Fatalf("%+v %v", states, err)
	}
	if len(states) == 0 {
		return fhir.ParameterState{}
	}
	return states[0]
}

// A parameter is answered when all resources are indexed for it, and not before;
// changed it is indexed anew, unless the change makes no difference; removed it is
// unknown and forgotten.
func TestParameterIsIndexed(t *testing.T) {
	const count = 300
	store := openStore(t, count)
	x := start(t, store, stored(t, "room", 1, room))
	defer x.runner.Close()
	x.wait(t, store, "room", count)
	if s := state(t, store); !s.Complete || s.Done != count || s.Total != count || s.Version != 1 {
		t.Errorf("%+v", s)
	}
	if note := x.Note(x.current.Load().Custom[0]); note != "" {
		t.Errorf("%q", note)
	}
	// A change of the description alone: at no moment is a search refused.
	x.set(stored(t, "room", 2, strings.Replace(room, "A room", "The room", 1)))
	for began := time.Now(); state(t, store).Version != 2; {
		if got, err := x.find(t, store, "room"); err != nil || got != count {
			t.Fatalf("%d %v", got, err)
		}
		if time.Since(began) > time.Minute {
			t.Fatal("the second version is not kept")
		}
	}
	if s := state(t, store); !s.Complete || s.Done != count {
		t.Errorf("%+v", s)
	}
	// A version that nobody here has seen may have been another.
	x.set(stored(t, "room", 4, room))
	if _, err := x.find(t, store, "room"); err == nil || !strings.Contains(err.Error(), "cannot be searched by yet") {
		t.Errorf("after a version left out: %v", err)
	}
	x.wait(t, store, "room", count)
	if s := state(t, store); !s.Complete || s.Version != 4 {
		t.Errorf("%+v", s)
	}
	// Another expression: other values.
	x.set(stored(t, "room", 5, strings.Replace(room, "example.org/room').value", "example.org/no').value", 1)))
	x.wait(t, store, "room", 0)
	x.set(stored(t, "room", 6, room))
	x.wait(t, store, "room", count)
	x.set()
	if _, err := x.find(t, store, "room"); err == nil || !strings.Contains(err.Error(), "no such parameter") {
		t.Errorf("removed: %v", err)
	}
	for began := time.Now(); state(t, store).Param != ""; time.Sleep(5 * time.Millisecond) {
		if time.Since(began) > time.Minute {
			t.Fatal("it is not forgotten")
		}
	}
}

// One instance begins and ends; another goes on from there and says how far it is.
func TestIndexingGoesOn(t *testing.T) {
	const count = 1500
	store := openStore(t, count)
	parameter := stored(t, "room", 1, room)
	one := start(t, store, parameter)
	for began := time.Now(); state(t, store).Done == 0; {
		if time.Since(began) > time.Minute {
			t.Fatal("it does not begin")
		}
	}
	one.runner.Close()
	at := state(t, store)
	if at.Complete {
		t.Skip("it was done before it could be ended")
	}
	if at.Done <= 0 || at.Done >= count || at.Total != count {
		t.Errorf("%+v", at)
	}
	progress := &Progress{}
	progress.learn([]fhir.ParameterState{at})
	if said := progress.text(at.Param, 1); !strings.Contains(said, fmt.Sprintf("%d of about %d", at.Done, count)) {
		t.Errorf("%q", said)
	}
	other := start(t, store, parameter)
	defer other.runner.Close()
	if _, err := other.find(t, store, "room"); err == nil {
		t.Error("half of it is answered")
	}
	other.wait(t, store, "room", count)
	if s := state(t, store); s.Done != count {
		t.Errorf("%+v: what was done was done again", s)
	}
}
