package matrix

import (
	"bytes"
	"errors"
	"fmt"
	"net/url"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"slices"
	"strconv"
	"syscall"
	"time"
)

// FindPostgreSQL gives the folder of the newest PostgreSQL's programs: Debian's,
// or that of the PATH.
func FindPostgreSQL() (string, error) {
	found, err := filepath.Glob("/usr/lib/postgresql/*/bin/initdb")
	if err != nil {
		return "", err
	}
	if len(found) > 0 {
		newest := slices.MaxFunc(found, func(a, b string) int { return major(a) - major(b) })
		return filepath.Dir(newest), nil
	}
	path, err := exec.LookPath("initdb")
	if err != nil {
		return "", errors.New("PostgreSQL is not installed: neither in /usr/lib/postgresql nor in PATH")
	}
	return filepath.Dir(path), nil
}

func major(initdb string) int {
	n, _ := strconv.Atoi(filepath.Base(filepath.Dir(filepath.Dir(initdb))))
	return n
}

// startPostgreSQL makes a fresh cluster with durable commits, and starts it on a
// socket of its own.
func (p *processes) startPostgreSQL() (database string, pid int, err error) {
	dir, err := os.MkdirTemp("", "matrix-")
	if err != nil {
		return "", 0, err
	}
	p.undo = append(p.undo, func() error { return os.RemoveAll(dir) })
	account, err := unprivileged(dir)
	if err != nil {
		return "", 0, err
	}
	data := filepath.Join(dir, "data")
	initdb := exec.Command(filepath.Join(p.executor.PostgreSQL, "initdb"), "-D", data, "-U", "postgres", "-A", "trust", "-E", "UTF8", "--locale=C")
	initdb.SysProcAttr, initdb.Dir = account, dir
	if out, err := initdb.CombinedOutput(); err != nil {
		return "", 0, fmt.Errorf("initdb: %w\n%s", err, out)
	}
	server := exec.Command(filepath.Join(p.executor.PostgreSQL, "postgres"), "-D", data, "-k", dir,
		"-c", "listen_addresses=", "-c", "max_connections=400", "-c", "shared_buffers=256MB", "-c", "max_wal_size=4GB")
	server.SysProcAttr, server.Dir = account, dir
	ended, err := p.run(server, fmt.Sprintf("%dx%d-postgresql", p.shape.Instances, p.shape.Cores))
	if err != nil {
		return "", 0, err
	}
	// A fast shutdown instead of one that waits for clients.
	p.undo = append(p.undo, func() error { return ignoreEnded(server.Process.Signal(syscall.SIGINT)) })
	pidFile := filepath.Join(data, "postmaster.pid")
	for deadline := time.Now().Add(readyTimeout); time.Now().Before(deadline); time.Sleep(20 * time.Millisecond) {
		select {
		case <-ended:
			return "", 0, fmt.Errorf("PostgreSQL ended: see its log in %s", p.executor.Logs)
		default:
		}
		if text, err := os.ReadFile(pidFile); err == nil && bytes.Contains(text, []byte("ready")) {
			return "postgres://postgres@/postgres?host=" + url.QueryEscape(dir), server.Process.Pid, nil
		}
	}
	return "", 0, fmt.Errorf("PostgreSQL is not ready after %v", readyTimeout)
}

func ignoreEnded(err error) error {
	if errors.Is(err, os.ErrProcessDone) {
		return nil
	}
	return err
}

// unprivileged gives dir to an account that PostgreSQL runs under: it refuses root.
func unprivileged(dir string) (*syscall.SysProcAttr, error) {
	if os.Geteuid() != 0 {
		return nil, nil
	}
	for _, name := range []string{"postgres", "nobody"} {
		account, err := user.Lookup(name)
		if err != nil {
			continue
		}
		uid, uidErr := strconv.Atoi(account.Uid)
		gid, gidErr := strconv.Atoi(account.Gid)
		if err := errors.Join(uidErr, gidErr, os.Chown(dir, uid, gid)); err != nil {
			return nil, err
		}
		return &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: uint32(uid), Gid: uint32(gid)}}, nil
	}
	return nil, errors.New("there is no unprivileged account to run PostgreSQL under")
}
