package main

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"time"

	"github.com/jackc/pgx/v5"
)

// load brings the Synthea sample into an empty database.
func (b *bench) load(ctx context.Context) error {
	data := os.Getenv("CONFORMANCE_DATA")
	if data == "" {
		fmt.Println("load: skipped, CONFORMANCE_DATA is not set")
		return nil
	}
	archives, err := filepath.Glob(filepath.Join(data, "synthea", "*.tar.xz"))
	if err != nil || len(archives) == 0 {
		return fmt.Errorf("no Synthea sample in %s", data)
	}
	bundles := b.program("synthea")
	if err := os.Mkdir(bundles, 0o755); err != nil {
		return err
	}
	if err := exec.CommandContext(ctx, "tar", "-xJf", archives[0], "-C", bundles).Run(); err != nil {
		return fmt.Errorf("unpack %s: %w", archives[0], err)
	}
	var bundleRate, resourceRate, bytes []float64
	for range b.runs {
		fmt.Println("load …")
		loaded, err := b.loadOnce(ctx, bundles)
		if err != nil {
			return err
		}
		bundleRate = append(bundleRate, float64(loaded.bundles)/loaded.took.Seconds())
		resourceRate = append(resourceRate, float64(loaded.resources)/loaded.took.Seconds())
		bytes = append(bytes, float64(loaded.bytes)/float64(loaded.resources))
	}
	b.add("loading the Synthea bundles", "bundles/s", "", bundleRate...)
	b.add("loading the Synthea bundles", "resources/s", "", resourceRate...)
	b.add("stored, with all indexes", "bytes a resource", "", bytes...)
	return nil
}

type loaded struct {
	bundles, resources, bytes int64
	took                      time.Duration
}

func (b *bench) loadOnce(ctx context.Context, bundles string) (*loaded, error) {
	db, err := b.database(ctx)
	if err != nil {
		return nil, err
	}
	defer func() { _ = db.Stop() }()
	run := func(args ...string) error {
		command := exec.CommandContext(ctx, b.program("fhir-server"), append(args, "--database-url="+db.URL())...)
		if text, err := command.CombinedOutput(); err != nil {
			return fmt.Errorf("fhir-server %s: %w\n%s", args[0], err, text)
		}
		return nil
	}
	if err := run("migrate"); err != nil {
		return nil, err
	}
	conn, err := pgx.Connect(ctx, db.URL())
	if err != nil {
		return nil, err
	}
	defer func() { _ = conn.Close(ctx) }()
	var before, after int64
	size := `SELECT pg_database_size(current_database())`
	if err := conn.QueryRow(ctx, size).Scan(&before); err != nil {
		return nil, err
	}
	l := &loaded{}
	start := time.Now()
	if err := run("load", bundles, "--data-dir="+filepath.Join(b.dir, fmt.Sprint("journal", start.UnixNano()))); err != nil {
		return nil, err
	}
	l.took = time.Since(start)
	if err := conn.QueryRow(ctx, size).Scan(&after); err != nil {
		return nil, err
	}
	l.bytes = after - before
	if err := conn.QueryRow(ctx, `SELECT count(*) FROM resource`).Scan(&l.resources); err != nil {
		return nil, err
	}
	files, err := filepath.Glob(filepath.Join(bundles, "*", "*", "*", "*.json"))
	l.bundles = int64(len(files))
	return l, err
}
