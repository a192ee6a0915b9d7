package postgrestest

import (
	"context"
	"fmt"
	"net"
	"net/url"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
)

// poolerStart is how long PgBouncer may take to answer.
const poolerStart = 20 * time.Second

// Pooler puts a PgBouncer, in a pool mode (session, transaction, statement),
// before the database of a URL that New gave, and gives the URL through it.
// Without the program pgbouncer the test is skipped.
func Pooler(t testing.TB, databaseURL, mode string, settings ...string) string {
	t.Helper()
	program, err := exec.LookPath("pgbouncer")
	if err != nil {
		if program, err = exec.LookPath("/usr/sbin/pgbouncer"); err != nil {
			t.Skip("there is no pgbouncer here")
		}
	}
	config, err := pgx.ParseConfig(databaseURL)
	if err != nil {
		t.Fatal(err)
	}
	dir, port := t.TempDir(), freePort(t)
	target := fmt.Sprintf("host=%s port=%d", config.Host, config.Port)
	if config.Password != "" {
		target += " password=" + config.Password
	}
	write(t, filepath.Join(dir, "users"), fmt.Sprintf("%q \"\"\n", config.User))
	lines := append([]string{
		"[databases]", "* = " + target, "[pgbouncer]", "listen_addr=127.0.0.1", fmt.Sprint("listen_port=", port), "unix_socket_dir=",
		"auth_type=trust", "auth_file=" + filepath.Join(dir, "users"), "pool_mode=" + mode, "default_pool_size=20", "max_client_conn=500",
		"admin_users=" + config.User, "server_login_retry=1",
	}, settings...)
	write(t, filepath.Join(dir, "ini"), strings.Join(lines, "\n")+"\n")

	arguments := []string{filepath.Join(dir, "ini")}
	if os.Geteuid() == 0 {
		arguments = append([]string{"-u", accountOf(t, config.Host)}, arguments...)
		open(t, dir)
	}
	log := &strings.Builder{}
	command := exec.Command(program, arguments...)
	command.Stdout, command.Stderr = log, log
	if err := command.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = command.Process.Kill()
		_ = command.Wait()
		if t.Failed() {
			t.Logf("pgbouncer: %s", log)
		}
	})
	pooled := (&url.URL{Scheme: "postgres", User: url.User(config.User), Host: fmt.Sprint("127.0.0.1:", port), Path: "/" + config.Database, RawQuery: "sslmode=disable"}).String()
	ctx, cancel := context.WithTimeout(t.Context(), poolerStart)
	defer cancel()
	for {
		conn, err := pgx.Connect(ctx, pooled)
		if err == nil {
			_ = conn.Close(ctx)
			return pooled
		}
		if ctx.Err() != nil {
			t.Fatalf("pgbouncer does not answer: %v", err)
		}
		time.Sleep(20 * time.Millisecond)
	}
}

func write(t testing.TB, path, text string) {
	t.Helper()
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

// accountOf gives the account that may use a server's socket: PgBouncer does not
// run as root.
func accountOf(t testing.TB, host string) string {
	t.Helper()
	info, err := os.Stat(host)
	if err != nil {
		return "nobody" // no folder: any account may
	}
	stat, ok := info.Sys().(*syscall.Stat_t)
	if !ok {
		return "nobody"
	}
	account, err := user.LookupId(strconv.Itoa(int(stat.Uid)))
	if err != nil {
		t.Fatal(err)
	}
	return account.Username
}

// open lets any account read what is in a folder of a test.
func open(t testing.TB, dir string) {
	t.Helper()
	for _, name := range []string{"ini", "users"} {
		if err := os.Chmod(filepath.Join(dir, name), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	for ; dir != filepath.Clean(os.TempDir()) && dir != "/"; dir = filepath.Dir(dir) {
		if err := os.Chmod(dir, 0o755); err != nil {
			t.Fatal(err)
		}
	}
}

func freePort(t testing.TB) int {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer listener.Close()
	address, _ := listener.Addr().(*net.TCPAddr)
	return address.Port
}
