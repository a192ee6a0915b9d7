package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"starling/internal/fhir"
	"starling/internal/fhir/definition"
	"starling/internal/fhir/element"
	"starling/internal/fhir/search"
	"starling/internal/postgres"
	"starling/loadtest/procs"
	"starling/loadtest/scenario"
)

const (
	indexingClients = 64
	indexingTurns   = 8   // of each side in a run
	indexingTurn    = 250 // iterations of nine creates
)

// indexing compares creates of the scenario's nine types, parsed and stored, with all
// that they are found by and with nothing of it. Each side has a database server of its
// own, and they take turns.
func (b *bench) indexing(ctx context.Context) error {
	bodies, err := scenario.Load()
	if err != nil {
		return err
	}
	index := search.New(definition.R4())
	index.UseTextSearch(search.TextNarrative)
	figures := map[string][]float64{}
	add := func(what string, value float64) { figures[what] = append(figures[what], value) }
	for run := range b.runs {
		fmt.Println("indexing …")
		var sides []*indexingSide
		for _, indexed := range []bool{true, false} {
			side, err := b.indexingSide(ctx, bodies)
			if err != nil {
				return err
			}
			defer side.stop()
			if indexed {
				side.index = index
			}
			sides = append(sides, side)
		}
		for turn := range indexingTurns + 1 {
			for _, side := range sides {
				if err := side.turn(ctx, fmt.Sprint("run", run, "turn", turn), turn > 0); err != nil {
					return err
				}
			}
		}
		with, without := sides[0], sides[1]
		for name, of := range map[string]func(*indexingSide) float64{
			"server, µs of CPU":     func(s *indexingSide) float64 { return s.own * 1e6 / float64(s.creates) },
			"PostgreSQL, µs of CPU": func(s *indexingSide) float64 { return s.database * 1e6 / float64(s.creates) },
			"creates a second":      func(s *indexingSide) float64 { return float64(s.creates) / s.took.Seconds() },
		} {
			add(name+", indexed", of(with))
			add(name+", not indexed", of(without))
			add(name+", ratio", of(with)/of(without))
		}
		bytes, rows, err := with.stored(ctx)
		if err != nil {
			return err
		}
		bare, _, err := without.stored(ctx)
		if err != nil {
			return err
		}
		add("bytes stored, indexed", bytes)
		add("bytes stored, not indexed", bare)
		add("index rows", rows)
		for _, side := range sides {
			side.stop()
		}
	}
	for _, name := range []string{"server, µs of CPU", "PostgreSQL, µs of CPU", "creates a second"} {
		b.add("a create, "+name+", indexed", "", "", figures[name+", indexed"]...)
		b.add("a create, "+name+", not indexed", "", "", figures[name+", not indexed"]...)
		b.add("a create, "+name+", ratio", "×", "", figures[name+", ratio"]...)
	}
	for _, name := range []string{"bytes stored, indexed", "bytes stored, not indexed", "index rows"} {
		b.add("a create, "+name, "", "", figures[name]...)
	}
	return nil
}

// indexingSide is a store with a server of its own, and what its creates have taken.
type indexingSide struct {
	store  *postgres.Store
	watch  *procs.Watch
	stop   func()
	bodies *scenario.Bodies
	index  *search.Search // nil: nothing is indexed
	url    string

	creates       int
	own, database float64 // seconds of CPU
	took          time.Duration
}

func (b *bench) indexingSide(ctx context.Context, bodies *scenario.Bodies) (side *indexingSide, err error) {
	dir, err := b.folder("database")
	if err != nil {
		return nil, err
	}
	db, err := databaseIn(ctx, dir)
	if err != nil {
		return nil, err
	}
	side = &indexingSide{bodies: bodies, url: db.URL(), stop: sync.OnceFunc(func() { _ = db.Stop() })}
	defer func() {
		if err != nil {
			side.stop()
		}
	}()
	if side.store, err = postgres.Open(ctx, postgres.Config{URL: db.URL()}); err != nil {
		return side, err
	}
	side.stop = sync.OnceFunc(func() { side.store.Close(); _ = db.Stop() })
	text, err := os.ReadFile(filepath.Join(dir, "postgres", "postmaster.pid"))
	if err != nil {
		return side, err
	}
	first, _, _ := strings.Cut(string(text), "\n")
	pid, err := strconv.Atoi(first)
	if err != nil {
		return side, err
	}
	side.watch, err = procs.NewWatch([]procs.Root{{Name: "postgresql", PIDs: []int{pid}}})
	return side, err
}

// turn makes creates; measured says that they count.
func (s *indexingSide) turn(ctx context.Context, name string, measured bool) error {
	before, err := s.usage()
	if err != nil {
		return err
	}
	start := time.Now()
	var next atomic.Int64
	failures := make(chan error, indexingClients)
	for client := range indexingClients {
		go func() {
			it := &scenario.Iteration{Bodies: s.bodies}
			var failed error
			for i := next.Add(1); i <= indexingTurn && failed == nil; i = next.Add(1) {
				it.Start(name, client, int(i))
				failed = s.iterate(ctx, it, fmt.Sprint(name, "-", i))
			}
			failures <- failed
		}()
	}
	for range indexingClients {
		if failed := <-failures; failed != nil && err == nil {
			err = failed
		}
	}
	if err != nil || !measured {
		return err
	}
	s.took += time.Since(start)
	after, err := s.usage()
	s.own += after.own - before.own
	s.database += after.database - before.database
	s.creates += indexingTurn * len(scenario.Types)
	return err
}

// iterate creates one resource of each type.
func (s *indexingSide) iterate(ctx context.Context, it *scenario.Iteration, id string) error {
	for i, typ := range scenario.Types {
		step := scenario.Step{Interaction: scenario.Create, Type: i}
		text := it.AppendBody(nil, step)
		tree, err := element.Parse(text, element.DefaultLimits)
		if err != nil {
			return err
		}
		t, index := fhir.ResourceType(typ), &fhir.Index{}
		if s.index != nil {
			if index, err = s.index.Index(t, tree.Root(), "http://127.0.0.1/fhir"); err != nil {
				return err
			}
		}
		_, members, _ := strings.Cut(string(text[:len(text)-1]), ",")
		_, err = s.store.Write(ctx, &fhir.Write{
			Op: fhir.OpCreate, Method: fhir.MethodPost, Key: fhir.Key{Type: t, ID: id},
			Content: fhir.Content{Body: []byte("," + members)}, Index: index,
		})
		if err != nil {
			return err
		}
		// What later ones refer to is taken from the header of an answer.
		it.Check(step, scenario.Answer{Status: 201, Location: typ + "/" + id, ETag: `W/"1"`})
	}
	return nil
}

type indexingUsage struct{ own, database float64 }

func (s *indexingSide) usage() (u indexingUsage, err error) {
	var own syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &own); err != nil {
		return u, err
	}
	u.own = float64(own.Utime.Nano()+own.Stime.Nano()) / 1e9
	samples, err := s.watch.Sample()
	if err == nil {
		u.database = samples[0].CPUSeconds
	}
	return u, err
}
