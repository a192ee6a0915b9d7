package program

import (
	"bytes"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"starling/nginx"
)

// Nginx starts nginx, with the project's configuration, before the instances at
// these addresses (host:port) and gives its URL, without a path. It is stopped at
// the end of the test. Where nginx is not installed the test is skipped.
func Nginx(t testing.TB, instances ...string) string {
	t.Helper()
	path, err := exec.LookPath("nginx")
	if err != nil {
		path = "/usr/sbin/nginx" // where Debian has it, outside an ordinary PATH
		if _, err := os.Stat(path); err != nil {
			t.Skip("nginx is not installed here")
		}
	}
	dir := t.TempDir()
	// As root, nginx runs its workers under another account, which must get here.
	for d := dir; d != os.TempDir() && d != "/"; d = filepath.Dir(d) {
		if err := os.Chmod(d, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	address := FreeAddress(t)
	text, err := nginx.Config{Listen: address, Instances: instances, Workers: "1", Directory: dir}.Render()
	if err != nil {
		t.Fatal(err)
	}
	config := filepath.Join(dir, "nginx.conf")
	if err := os.WriteFile(config, text, 0o644); err != nil {
		t.Fatal(err)
	}
	command := exec.Command(path, "-p", dir, "-c", config, "-e", filepath.Join(dir, "error.log"))
	var out bytes.Buffer
	command.Stderr = &out
	if err := command.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = command.Process.Signal(syscall.SIGTERM)
		_ = command.Wait()
		if log, err := os.ReadFile(filepath.Join(dir, "error.log")); t.Failed() && err == nil {
			t.Logf("nginx: %s%.4000s", &out, log)
		}
	})
	for range 200 {
		if conn, err := net.Dial("tcp", address); err == nil {
			conn.Close()
			return "http://" + address
		}
		time.Sleep(20 * time.Millisecond)
	}
	t.Fatalf("nginx does not start: %s", &out)
	return ""
}

// FreeAddress gives an address of this machine that nothing listens on.
func FreeAddress(t testing.TB) string {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer listener.Close()
	return listener.Addr().String()
}
