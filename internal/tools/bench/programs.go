package main

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"net"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"starling/internal/postgres/embedded"
	"starling/nginx"
)

func (b *bench) build(ctx context.Context) error {
	build := exec.CommandContext(ctx, "go", "build", "-o", b.dir+"/", "./cmd/fhir-server", "./loadtest")
	build.Stderr = os.Stderr
	return build.Run()
}

func (b *bench) program(name string) string { return filepath.Join(b.dir, name) }

func revision(ctx context.Context) string {
	out, err := exec.CommandContext(ctx, "git", "describe", "--always", "--dirty").Output()
	if err != nil {
		return "no commit"
	}
	return "commit " + strings.TrimSpace(string(out))
}

// folder makes a folder that other accounts reach: PostgreSQL and nginx run
// under one without privileges.
func (b *bench) folder(name string) (string, error) {
	dir, err := os.MkdirTemp(b.dir, name)
	if err != nil {
		return "", err
	}
	return dir, os.Chmod(dir, 0o755)
}

// database starts an empty PostgreSQL with durable commits.
func (b *bench) database(ctx context.Context) (*embedded.Server, error) {
	dir, err := b.folder("database")
	if err != nil {
		return nil, err
	}
	return databaseIn(ctx, dir)
}

func databaseIn(ctx context.Context, dir string) (*embedded.Server, error) {
	return embedded.Start(ctx, embedded.Options{DataDir: dir, BinDir: os.Getenv("TEST_POSTGRES_BIN")})
}

// server is a running program that answers HTTP.
type server struct {
	command *exec.Cmd
	url     string // FHIR base
}

// serve starts a server on a database.
func (b *bench) serve(ctx context.Context, databaseURL string) (*server, error) {
	return b.start(ctx, b.program("fhir-server"), "serve", "--listen=127.0.0.1:0", "--admin-listen=",
		"--database-url="+databaseURL, "--log-level=error")
}

// start starts a program whose first line ends with its URL.
func (b *bench) start(ctx context.Context, name string, args ...string) (*server, error) {
	s := &server{command: exec.CommandContext(ctx, name, args...)}
	reader, writer, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	defer func() { _ = writer.Close() }()
	s.command.Stdout, s.command.Stderr = writer, writer
	if err := s.command.Start(); err != nil {
		return nil, err
	}
	lines := bufio.NewReader(reader)
	line, err := lines.ReadString('\n')
	at := strings.Index(line, "http://")
	if err != nil || at < 0 {
		return nil, fmt.Errorf("%s did not start: %s %w", filepath.Base(name), line, err)
	}
	s.url = strings.TrimSpace(line[at:])
	go func() {
		_, _ = io.Copy(os.Stderr, lines)
		_ = reader.Close()
	}()
	return s, nil
}

// nginx starts nginx before one instance.
func (b *bench) nginx(ctx context.Context, instance string) (*server, error) {
	dir, err := b.folder("nginx")
	if err != nil {
		return nil, err
	}
	at, err := url.Parse(instance)
	if err != nil {
		return nil, err
	}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	address := listener.Addr().String()
	_ = listener.Close()
	config, err := nginx.Config{Listen: address, Instances: []string{at.Host}, Workers: "1", Directory: dir}.Render()
	if err != nil {
		return nil, err
	}
	path := filepath.Join(dir, "nginx.conf")
	if err := os.WriteFile(path, config, 0o600); err != nil {
		return nil, err
	}
	s := &server{command: exec.CommandContext(ctx, "/usr/sbin/nginx", "-p", dir, "-c", path), url: "http://" + address + at.Path}
	s.command.Stderr = os.Stderr
	if err := s.command.Start(); err != nil {
		return nil, err
	}
	for range 100 {
		conn, err := net.Dial("tcp", address)
		if err == nil {
			return s, conn.Close()
		}
		time.Sleep(20 * time.Millisecond)
	}
	s.stop()
	return nil, fmt.Errorf("nginx does not listen on %s", address)
}

func (s *server) stop() {
	_ = s.command.Process.Signal(syscall.SIGTERM)
	_ = s.command.Wait()
}

// resident is the resident memory of the process, in MiB.
func (s *server) resident() (float64, error) {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", s.command.Process.Pid))
	if err != nil {
		return 0, err
	}
	for line := range strings.Lines(string(text)) {
		var kib float64
		if n, _ := fmt.Sscanf(line, "VmRSS: %f kB", &kib); n == 1 {
			return kib / 1024, nil
		}
	}
	return 0, fmt.Errorf("no VmRSS in /proc/%d/status", s.command.Process.Pid)
}

const (
	// settle lets a fresh server come to rest.
	settle = 5 * time.Second
	// warmup is the time of load before the measured one.
	warmup = 5 * time.Second
)
