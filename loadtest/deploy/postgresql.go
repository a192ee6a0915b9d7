package deploy

import (
	"bytes"
	"errors"
	"fmt"
	"net"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
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

// PostgreSQLVersion gives the version that the programs in a folder state.
func PostgreSQLVersion(programs string) string {
	return strings.TrimPrefix(FirstLine(filepath.Join(programs, "postgres"), "--version"), "postgres (PostgreSQL) ")
}

// PostgreSQL is a cluster of its own, on a socket in its folder.
type PostgreSQL struct {
	Address string // host:port, empty without TCP
	group   *Group
	name    string
	program string // folder of its programs
	account *syscall.SysProcAttr
	dir     string // holds its data and its socket
	options []string
	*Process
}

// PostgreSQLConfig says which cluster to put up.
type PostgreSQLConfig struct {
	Name     string // of its log
	Programs string // folder of PostgreSQL's programs
	// TCP has it listen on a free port of 127.0.0.1, too.
	TCP bool
	// Settings, name=value, are added to the command line.
	Settings []string
}

// StartPostgreSQL makes a fresh cluster with durable commits and starts it.
// Everybody on this machine may connect as postgres.
func (g *Group) StartPostgreSQL(c PostgreSQLConfig) (*PostgreSQL, error) {
	p, err := g.newPostgreSQL(c)
	if err != nil {
		return nil, err
	}
	if err := p.tool("initdb", "-D", p.data(), "-U", "postgres", "-A", "trust", "-E", "UTF8", "--locale=C"); err != nil {
		return nil, err
	}
	return p, p.Start()
}

func (g *Group) newPostgreSQL(c PostgreSQLConfig) (*PostgreSQL, error) {
	dir, err := g.folder(c.Name)
	if err != nil {
		return nil, err
	}
	account, err := unprivileged(dir)
	if err != nil {
		return nil, err
	}
	p := &PostgreSQL{group: g, name: c.Name, program: c.Programs, account: account, dir: dir}
	p.options = []string{"-D", p.data(), "-k", dir, "-c", "max_connections=400", "-c", "shared_buffers=256MB", "-c", "max_wal_size=4GB"}
	if !c.TCP {
		p.options = append(p.options, "-c", "listen_addresses=")
	} else {
		if p.Address, err = FreeAddress(); err != nil {
			return nil, err
		}
		host, port, _ := net.SplitHostPort(p.Address)
		p.options = append(p.options, "-c", "listen_addresses="+host, "-p", port)
	}
	for _, setting := range c.Settings {
		p.options = append(p.options, "-c", setting)
	}
	return p, nil
}

// URL of the database, by its socket.
func (p *PostgreSQL) URL() string {
	text := "postgres://postgres@/postgres?host=" + url.QueryEscape(p.dir)
	if _, port, err := net.SplitHostPort(p.Address); err == nil {
		text += "&port=" + port
	}
	return text
}

func (p *PostgreSQL) data() string { return filepath.Join(p.dir, "data") }

// Start starts the cluster, again if it was ended, and waits until it serves.
func (p *PostgreSQL) Start() (err error) {
	server := exec.Command(filepath.Join(p.program, "postgres"), p.options...)
	server.SysProcAttr, server.Dir = p.account, p.dir
	pidFile := filepath.Join(p.data(), "postmaster.pid")
	if err := os.Remove(pidFile); err != nil && !errors.Is(err, os.ErrNotExist) {
		return err // one that was left behind by a kill would say that it is ready
	}
	if p.Process, err = p.group.Run(server, p.name); err != nil {
		return err
	}
	// A fast shutdown instead of one that waits for clients.
	process := p.Process
	p.group.Defer(func() error { return process.End(syscall.SIGINT) })
	return p.await(func() bool {
		text, err := os.ReadFile(pidFile)
		return err == nil && bytes.Contains(text, []byte("ready"))
	}, p.group.Logs)
}

// tool runs one of PostgreSQL's programs under the account of the cluster.
func (p *PostgreSQL) tool(name string, args ...string) error {
	command := exec.Command(filepath.Join(p.program, name), args...)
	command.SysProcAttr, command.Dir = p.account, p.dir
	if out, err := command.CombinedOutput(); err != nil {
		return fmt.Errorf("%s: %w\n%s", name, err, out)
	}
	return nil
}

// TCP is the URL of the database, by way of a host:port that leads to it.
func TCP(address string) string {
	return "postgres://postgres@" + address + "/postgres?sslmode=disable"
}

// StartStandby makes a streaming standby of a cluster that listens on TCP, and
// starts it. It needs pg_basebackup.
func (g *Group) StartStandby(c PostgreSQLConfig, of *PostgreSQL) (*PostgreSQL, error) {
	p, err := g.newPostgreSQL(c)
	if err != nil {
		return nil, err
	}
	host, port, err := net.SplitHostPort(of.Address)
	if err != nil {
		return nil, err
	}
	if err := p.tool("pg_basebackup", "-D", p.data(), "-R", "-X", "stream", "-c", "fast", "-U", "postgres", "-h", host, "-p", port); err != nil {
		return nil, err
	}
	return p, p.Start()
}

// Promote makes a standby the primary.
func (p *PostgreSQL) Promote() error { return p.tool("pg_ctl", "-D", p.data(), "-w", "promote") }

// CanReplicate reports whether the programs in a folder make standbys.
func CanReplicate(programs string) bool {
	_, err := os.Stat(filepath.Join(programs, "pg_basebackup"))
	return err == nil
}
