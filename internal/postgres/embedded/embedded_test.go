package embedded

import (
	"bufio"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
)

// TestMain lets the test program be the process that is killed.
func TestMain(m *testing.M) {
	if dir := os.Getenv("EMBEDDED_TEST_DIR"); dir != "" {
		server, err := Start(context.Background(), options(dir))
		if err != nil {
			fmt.Println("error", err)
			os.Exit(1)
		}
		fmt.Println("ready", server.URL())
		select {}
	}
	os.Exit(m.Run())
}

func options(dir string) Options {
	return Options{DataDir: dir, BinDir: os.Getenv("TEST_POSTGRES_BIN")}
}

func folder(t *testing.T) string {
	t.Helper()
	dir, err := os.MkdirTemp("", "starling-embedded")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	if err := os.Chmod(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	return dir
}

func start(t *testing.T, dir string) *Server {
	t.Helper()
	server, err := Start(t.Context(), options(dir))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = server.Stop() })
	return server
}

func query(t *testing.T, url, sql string) (text string) {
	t.Helper()
	conn, err := pgx.Connect(t.Context(), url)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = conn.Close(context.Background()) }()
	if err := conn.QueryRow(t.Context(), sql).Scan(&text); err != nil {
		t.Fatalf("%s: %v", sql, err)
	}
	return text
}

func TestStartStopStart(t *testing.T) {
	dir := folder(t)
	server := start(t, dir)
	if got := query(t, server.URL(), `SELECT pg_encoding_to_char(encoding)::text FROM pg_database WHERE datname = current_database()`); got != "UTF8" {
		t.Errorf("encoding %q", got)
	}
	for setting, want := range map[string]string{"fsync": "on", "synchronous_commit": "on", "listen_addresses": ""} {
		if got := query(t, server.URL(), `SELECT current_setting('`+setting+`')`); got != want {
			t.Errorf("%s = %q, want %q", setting, got, want)
		}
	}
	if _, err := Start(t.Context(), options(dir)); err == nil || !strings.Contains(err.Error(), "in use") {
		t.Errorf("a second server on the folder: %v", err)
	}
	if err := server.Stop(); err != nil {
		t.Fatal(err)
	}
	again := start(t, dir)
	query(t, again.URL(), `SELECT 'x'`)
}

// TestParentKilled: the server outlives a parent that was killed; the next
// start takes over and finds everything that was committed.
func TestParentKilled(t *testing.T) {
	dir := folder(t)
	for round := range 2 {
		parent := exec.Command(os.Args[0])
		parent.Env = append(os.Environ(), "EMBEDDED_TEST_DIR="+dir)
		output, err := parent.StdoutPipe()
		if err != nil {
			t.Fatal(err)
		}
		if err := parent.Start(); err != nil {
			t.Fatal(err)
		}
		line, err := bufio.NewReader(output).ReadString('\n')
		url, ok := strings.CutPrefix(strings.TrimSpace(line), "ready ")
		if err != nil || !ok {
			t.Fatalf("%q %v", line, err)
		}
		if round == 0 {
			conn, err := pgx.Connect(t.Context(), url)
			if err != nil {
				t.Fatal(err)
			}
			if _, err := conn.Exec(t.Context(), `CREATE TABLE kept AS SELECT 'kept'::text AS x`); err != nil {
				t.Fatal(err)
			}
			_ = conn.Close(t.Context())
		}
		if err := parent.Process.Kill(); err != nil {
			t.Fatal(err)
		}
		_ = parent.Wait()
	}
	server := start(t, dir)
	if got := query(t, server.URL(), `SELECT x FROM kept`); got != "kept" {
		t.Errorf("got %q", got)
	}
}

// TestFolders: a path too long for a socket, and one below a folder that is
// closed to other accounts, as root's home is.
func TestFolders(t *testing.T) {
	dir := folder(t)
	closed := filepath.Join(dir, "closed")
	if err := os.Mkdir(closed, 0o700); err != nil {
		t.Fatal(err)
	}
	server := start(t, filepath.Join(closed, strings.Repeat("long", 25)))
	query(t, server.URL(), `SELECT 'x'`)
	if server.remove == "" {
		t.Error("the socket has no folder of its own")
	}
	if err := server.Stop(); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(server.remove); err == nil {
		t.Error("the socket's folder is left behind")
	}
}

func TestStaleFile(t *testing.T) {
	dir := folder(t)
	if err := start(t, dir).Stop(); err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(dir, "postgres", "postmaster.pid")
	// The id belongs to a process that is no PostgreSQL: this one.
	if err := os.WriteFile(file, fmt.Appendf(nil, "%d\n", os.Getpid()), 0o600); err != nil {
		t.Fatal(err)
	}
	query(t, start(t, dir).URL(), `SELECT 'x'`)
}

func TestFindsTheNewest(t *testing.T) {
	dir := folder(t)
	for _, version := range []string{"14.9", "16.2", "16.11", "15.20"} {
		bin := filepath.Join(dir, version)
		if err := os.Mkdir(bin, 0o755); err != nil {
			t.Fatal(err)
		}
		script := "#!/bin/sh\necho 'postgres (PostgreSQL) " + version + "'\n"
		for _, name := range []string{"postgres", "initdb"} {
			if err := os.WriteFile(filepath.Join(bin, name), []byte(script), 0o755); err != nil {
				t.Fatal(err)
			}
		}
		in, err := inspect(t.Context(), bin)
		if err != nil || in.version != version {
			t.Fatalf("%+v %v", in, err)
		}
	}
	t.Setenv("PATH", filepath.Join(dir, "16.11")+":/usr/bin:/bin")
	in, err := findInstallation(t.Context(), dir, dir, "", nil)
	if err != nil || in.major < 16 {
		t.Fatalf("%+v %v", in, err)
	}
	if err := os.WriteFile(filepath.Join(dir, "PG_VERSION"), []byte("16\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if in, err = findInstallation(t.Context(), dir, dir, "", nil); err != nil || in.version != "16.11" {
		t.Fatalf("for data of PostgreSQL 16: %+v %v", in, err)
	}
}

// TestDeadServerIsStartedAgain: the fhir-server outlives its database, which
// memory running out may kill.
func TestDeadServerIsStartedAgain(t *testing.T) {
	server := start(t, folder(t))
	process := func() int {
		server.mu.Lock()
		defer server.mu.Unlock()
		return server.command.Process.Pid
	}
	pid := process()
	if err := syscall.Kill(pid, syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	for end := time.Now().Add(20 * time.Second); ; time.Sleep(50 * time.Millisecond) {
		conn, err := pgx.Connect(t.Context(), server.URL())
		if err == nil {
			_ = conn.Close(t.Context())
			if process() != pid {
				break
			}
		}
		if time.Now().After(end) {
			t.Fatalf("not back within 20 seconds: %v", err)
		}
	}
}

func TestFolderWithAnyName(t *testing.T) {
	server := start(t, filepath.Join(folder(t), `a b+c%d "e"é`))
	if got := query(t, server.URL(), `SELECT 'here'`); got != "here" {
		t.Error(got)
	}
}
