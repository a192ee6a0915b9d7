// Command bench measures what docs/performance.md states of one instance, on
// this machine, and prints it as a Markdown table. Where two things are
// compared they take turns in one run, and the ratio is that of each pair.
//
//	go run ./internal/tools/bench [-runs N] [-duration D] [-only coalescing|indexing|validation|crud|load|profile]
//
// CONFORMANCE_DATA, if set, names the folder with the Synthea sample that is
// loaded. TEST_POSTGRES_BIN names the PostgreSQL programs to use.
package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"runtime"
	"time"
)

// bench is one run of all measurements.
type bench struct {
	runs     int
	duration time.Duration // measured time of a crud run
	dir      string        // of everything made
	rows     []row
}

func main() {
	b := &bench{}
	flag.IntVar(&b.runs, "runs", 5, "how often each thing is measured")
	flag.DurationVar(&b.duration, "duration", 15*time.Second, "measured time of a crud run")
	only := flag.String("only", "", "measure this alone: coalescing, indexing, validation, crud, load, or profile (which needs perf and is in no other run)")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := b.run(ctx, *only); err != nil {
		fmt.Fprintln(os.Stderr, "bench:", err)
		os.Exit(1)
	}
}

func (b *bench) run(ctx context.Context, only string) (err error) {
	if b.dir, err = os.MkdirTemp("", "starling-bench"); err != nil {
		return err
	}
	defer func() { _ = os.RemoveAll(b.dir) }()
	// The account PostgreSQL runs under has to reach its folder.
	if err := os.Chmod(b.dir, 0o755); err != nil {
		return err
	}
	fmt.Printf("%s, %d cores, %s\n\n", time.Now().UTC().Format(time.RFC3339), runtime.NumCPU(), revision(ctx))
	if err := b.build(ctx); err != nil {
		return err
	}
	for _, m := range []struct {
		name    string
		measure func(context.Context) error
	}{{"coalescing", b.coalescing}, {"validation", b.validation}, {"indexing", b.indexing}, {"crud", b.crud}, {"load", b.load}, {"profile", b.profile}} {
		if only != m.name && (only != "" || m.name == "profile") {
			continue
		}
		if err := m.measure(ctx); err != nil {
			return err
		}
	}
	b.print(os.Stdout)
	return nil
}
