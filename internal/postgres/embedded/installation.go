package embedded

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
)

// installation is a folder with the programs postgres and initdb.
type installation struct {
	dir     string
	version string // "18.4"
	major   int
	minor   int
}

// oldest is the first major version the store works with.
const oldest = 15

var versionText = regexp.MustCompile(`\(PostgreSQL\) ((\d+)(?:\.(\d+))?)`)

func inspect(ctx context.Context, dir string) (installation, error) {
	in := installation{dir: dir}
	if _, err := os.Stat(filepath.Join(dir, "initdb")); err != nil {
		return in, err
	}
	output, err := exec.CommandContext(ctx, filepath.Join(dir, "postgres"), "--version").Output()
	if err != nil {
		return in, err
	}
	match := versionText.FindStringSubmatch(string(output))
	if match == nil {
		return in, fmt.Errorf("cannot read the version of %s", dir)
	}
	in.version = match[1]
	in.major, _ = strconv.Atoi(match[2])
	in.minor, _ = strconv.Atoi(match[3])
	return in, nil
}

// findInstallation gives the newest local installation, one that fits an
// existing cluster, or fetches one.
func findInstallation(ctx context.Context, dir, data, binDir string, logger *slog.Logger) (installation, error) {
	major := clusterMajor(data)
	if binDir != "" {
		in, err := inspect(ctx, binDir)
		if err == nil && major != 0 && in.major != major {
			err = fmt.Errorf("the data in %s is of PostgreSQL %d, the programs in %s are of %s", data, major, binDir, in.version)
		}
		return in, err
	}
	var best installation
	for _, candidate := range append(localFolders(ctx), fetchedFolder(dir)) {
		in, err := inspect(ctx, candidate)
		if err != nil || in.major < oldest || major != 0 && in.major != major {
			continue
		}
		if in.major > best.major || in.major == best.major && in.minor > best.minor {
			best = in
		}
	}
	if best.dir != "" {
		return best, nil
	}
	return fetch(ctx, dir, major, logger)
}

// clusterMajor is the major version of an existing cluster, 0 if there is none.
func clusterMajor(data string) int {
	text, err := os.ReadFile(filepath.Join(data, "PG_VERSION"))
	if err != nil {
		return 0
	}
	major, _ := strconv.Atoi(strings.TrimSpace(string(text)))
	return major
}

// localFolders gives where PostgreSQL may be installed.
func localFolders(ctx context.Context) []string {
	var dirs []string
	if path, err := exec.LookPath("postgres"); err == nil {
		if path, err = filepath.EvalSymlinks(path); err == nil {
			dirs = append(dirs, filepath.Dir(path))
		}
	}
	for _, pattern := range []string{"/usr/lib/postgresql/*/bin", "/usr/pgsql-*/bin", "/opt/homebrew/opt/postgresql@*/bin", "/usr/local/opt/postgresql@*/bin"} {
		found, _ := filepath.Glob(pattern)
		dirs = append(dirs, found...)
	}
	if output, err := exec.CommandContext(ctx, "pg_config", "--bindir").Output(); err == nil {
		dirs = append(dirs, strings.TrimSpace(string(output)))
	}
	return dirs
}

var errNoInstallation = errors.New("no PostgreSQL 15 or later is installed, and none could be fetched")
