package main

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"starling/internal/postgres/embedded"
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

// database starts an empty PostgreSQL with durable commits.
func (b *bench) database(ctx context.Context) (*embedded.Server, error) {
	dir, err := os.MkdirTemp(b.dir, "database")
	if err != nil {
		return nil, err
	}
	if err := os.Chmod(dir, 0o755); err != nil {
		return nil, err
	}
	return embedded.Start(ctx, embedded.Options{DataDir: dir, BinDir: os.Getenv("TEST_POSTGRES_BIN")})
}

// server is a running fhir-server.
type server struct {
	command *exec.Cmd
	url     string
}

// serve starts a server on a database.
func (b *bench) serve(ctx context.Context, databaseURL string) (*server, error) {
	s := &server{command: exec.CommandContext(ctx, b.program("fhir-server"), "serve", "--listen=127.0.0.1:0", "--admin-listen=",
		"--database-url="+databaseURL, "--log-level=error")}
	s.command.Stderr = os.Stderr
	out, err := s.command.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := s.command.Start(); err != nil {
		return nil, err
	}
	line, err := bufio.NewReader(out).ReadString('\n')
	if err != nil {
		return nil, fmt.Errorf("the server did not start: %w", err)
	}
	_, s.url, _ = strings.Cut(strings.TrimSpace(line), " at ")
	go func() { _, _ = io.Copy(io.Discard, out) }()
	return s, nil
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

// settle lets a fresh server come to rest.
const settle = 5 * time.Second
