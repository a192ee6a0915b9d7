package embedded

import (
	"context"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"

	embeddedpostgres "github.com/fergusstrange/embedded-postgres"
)

// fetchable maps major versions to those that are published as binaries.
var fetchable = map[int]embeddedpostgres.PostgresVersion{
	0: embeddedpostgres.V18, 15: embeddedpostgres.V15, 16: embeddedpostgres.V16, 17: embeddedpostgres.V17, 18: embeddedpostgres.V18,
}

func fetchedFolder(dir string) string { return filepath.Join(dir, "programs", "bin") }

// fetch downloads PostgreSQL's programs into the data folder. The library can
// only fetch on the way to starting a server; that one, on a throw-away
// cluster, is not wanted, and as root it fails, but by then the programs are
// there.
func fetch(ctx context.Context, dir string, major int, logger *slog.Logger) (installation, error) {
	version, ok := fetchable[major]
	if !ok {
		return installation{}, fmt.Errorf("the data is of PostgreSQL %d: %w", major, errNoInstallation)
	}
	logger.Info("no local PostgreSQL found, fetching one", "version", string(version))
	scratch, err := os.MkdirTemp(dir, "fetch")
	if err != nil {
		return installation{}, err
	}
	defer func() { _ = os.RemoveAll(scratch) }()
	throwaway := embeddedpostgres.NewDatabase(embeddedpostgres.DefaultConfig().
		Version(version).
		CachePath(filepath.Join(scratch, "cache")).
		RuntimePath(filepath.Join(scratch, "run")).
		DataPath(filepath.Join(scratch, "data")).
		BinariesPath(filepath.Dir(fetchedFolder(dir))).
		Logger(&logWriter{logger: logger}))
	startErr := throwaway.Start()
	if startErr == nil {
		_ = throwaway.Stop()
	}
	in, err := inspect(ctx, fetchedFolder(dir))
	if err != nil {
		return in, fmt.Errorf("%w: %w", errNoInstallation, startErr)
	}
	return in, nil
}
