package program

import (
	"fmt"
	"net/url"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"
)

// Database starts a PostgreSQL for this test alone, with durable commits, on a
// socket in a folder of its own, and gives the URL for --database-url. It skips
// the test where no PostgreSQL is installed.
func Database(t testing.TB) string {
	t.Helper()
	bin := installation()
	if bin == "" {
		t.Skip("PostgreSQL is not installed here: neither in PATH nor in /usr/lib/postgresql")
	}
	// Not t.TempDir: the unprivileged account must reach it, and a socket's path
	// is at most 107 bytes.
	dir, err := os.MkdirTemp("", "pg-")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	account := unprivileged(t, dir)
	data := filepath.Join(dir, "data")
	initdb := exec.Command(filepath.Join(bin, "initdb"), "-D", data, "-U", "postgres", "-A", "trust", "-E", "UTF8", "--locale=C", "--no-sync")
	initdb.SysProcAttr, initdb.Dir = account, dir
	if out, err := initdb.CombinedOutput(); err != nil {
		t.Fatalf("initdb: %v\n%s", err, out)
	}
	log := &tail{}
	server := exec.Command(filepath.Join(bin, "postgres"), "-D", data, "-k", dir, "-c", "listen_addresses=", "-c", "max_connections=200")
	server.SysProcAttr, server.Dir, server.Stderr = account, dir, log
	if err := server.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = server.Process.Signal(syscall.SIGINT) // fast shutdown
		_ = server.Wait()
	})
	socket := filepath.Join(dir, ".s.PGSQL.5432")
	for deadline := time.Now().Add(30 * time.Second); ; time.Sleep(20 * time.Millisecond) {
		if _, err := os.Stat(socket); err == nil && strings.Contains(log.String(), "ready to accept connections") {
			break
		}
		if time.Now().After(deadline) {
			t.Fatalf("PostgreSQL does not start:\n%s", log)
		}
	}
	return fmt.Sprintf("postgres://postgres@/postgres?host=%s", url.QueryEscape(dir))
}

// installation is the folder of the newest PostgreSQL's programs, "" if there is none.
func installation() string {
	if path, err := exec.LookPath("initdb"); err == nil {
		if real, err := filepath.EvalSymlinks(path); err == nil {
			return filepath.Dir(real)
		}
	}
	found, _ := filepath.Glob("/usr/lib/postgresql/*/bin/initdb")
	slices.SortFunc(found, func(a, b string) int { return version(b) - version(a) })
	if len(found) == 0 {
		return ""
	}
	return filepath.Dir(found[0])
}

func version(initdb string) int {
	n, _ := strconv.Atoi(filepath.Base(filepath.Dir(filepath.Dir(initdb))))
	return n
}

// unprivileged gives dir to an account PostgreSQL runs under: it refuses root.
func unprivileged(t testing.TB, dir string) *syscall.SysProcAttr {
	t.Helper()
	if os.Geteuid() != 0 {
		return nil
	}
	for _, name := range []string{"postgres", "nobody"} {
		account, err := user.Lookup(name)
		if err != nil {
			continue
		}
		uid, _ := strconv.Atoi(account.Uid)
		gid, _ := strconv.Atoi(account.Gid)
		if err := os.Chown(dir, uid, gid); err != nil {
			t.Fatal(err)
		}
		return &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: uint32(uid), Gid: uint32(gid)}}
	}
	t.Skip("there is no unprivileged account here to run PostgreSQL under")
	return nil
}
