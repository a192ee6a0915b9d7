package nginx

import (
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"
)

// start runs nginx before the instances and gives its URL.
func start(t *testing.T, instances ...string) string {
	t.Helper()
	program, err := exec.LookPath("nginx")
	if err != nil {
		program = "/usr/sbin/nginx" // where Debian has it, outside an ordinary PATH
		if _, err := os.Stat(program); err != nil {
			t.Skip("nginx is not installed here")
		}
	}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	address := listener.Addr().String()
	listener.Close()
	dir := t.TempDir()
	// As root, nginx runs its workers under another account, which must get here.
	for d := dir; d != os.TempDir() && d != "/"; d = filepath.Dir(d) {
		if err := os.Chmod(d, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	config, err := Config{Listen: address, Instances: instances, Workers: "1", Directory: dir}.Render()
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(dir, "nginx.conf")
	if err := os.WriteFile(path, config, 0o644); err != nil {
		t.Fatal(err)
	}
	command := exec.Command(program, "-p", dir, "-c", path, "-e", filepath.Join(dir, "error.log"))
	var out strings.Builder
	command.Stderr = &out
	if err := command.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = command.Process.Signal(syscall.SIGTERM)
		_ = command.Wait()
		if log, err := os.ReadFile(filepath.Join(dir, "error.log")); t.Failed() && err == nil {
			t.Logf("nginx: %s%s", out.String(), log)
		}
	})
	for range 200 {
		if conn, err := net.Dial("tcp", address); err == nil {
			conn.Close()
			return "http://" + address
		}
		time.Sleep(20 * time.Millisecond)
	}
	t.Fatalf("nginx does not start: %s", out.String())
	return ""
}

func host(server *httptest.Server) string { return strings.TrimPrefix(server.URL, "http://") }

func TestForwardedHeaders(t *testing.T) {
	instance := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		for _, name := range []string{"X-Forwarded-Host", "X-Forwarded-Proto", "X-Forwarded-For"} {
			fmt.Fprintf(w, "%s=%s;", name, r.Header.Get(name))
		}
		fmt.Fprintf(w, "Host=%s", r.Host)
	}))
	defer instance.Close()
	url := start(t, host(instance))
	response, err := http.Get(url + "/fhir/metadata")
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	body, _ := io.ReadAll(response.Body)
	at := strings.TrimPrefix(url, "http://")
	want := "X-Forwarded-Host=" + at + ";X-Forwarded-Proto=http;X-Forwarded-For=127.0.0.1;Host=" + at
	if string(body) != want {
		t.Errorf("%s\nwant %s", body, want)
	}
}

// An instance that loses every request it gets: reads and updates are answered
// by the other one, a create is tried once.
func TestOnlyIdempotentRequestsAreRepeated(t *testing.T) {
	var lost, served atomic.Int64
	losing := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {
		lost.Add(1)
		panic(http.ErrAbortHandler)
	}))
	defer losing.Close()
	serving := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		served.Add(1)
		w.WriteHeader(http.StatusNoContent)
	}))
	defer serving.Close()
	for _, c := range []struct {
		method   string
		repeated bool
	}{{"GET", true}, {"PUT", true}, {"DELETE", true}, {"POST", false}, {"PATCH", false}} {
		url := start(t, host(losing), host(serving)) // anew, so that no instance is known to fail
		lost.Store(0)
		served.Store(0)
		failed := int64(0)
		for range 4 {
			request, _ := http.NewRequest(c.method, url+"/fhir/Patient/1", strings.NewReader("{}"))
			response, err := http.DefaultClient.Do(request)
			if err != nil {
				t.Fatal(err)
			}
			response.Body.Close()
			if response.StatusCode != http.StatusNoContent {
				failed++
			}
		}
		switch {
		case lost.Load() == 0:
			t.Errorf("%s: the losing instance was never tried", c.method)
		case c.repeated && failed != 0:
			t.Errorf("%s: %d of 4 failed", c.method, failed)
		case !c.repeated && (failed != lost.Load() || served.Load() != 4-failed):
			t.Errorf("%s: lost %d, failed %d, served %d: a request was sent twice", c.method, lost.Load(), failed, served.Load())
		}
	}
}

// An instance that is gone costs no request, whatever its method: nothing was sent.
func TestAnInstanceThatIsGoneIsLeftOut(t *testing.T) {
	serving := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.WriteHeader(http.StatusCreated)
	}))
	defer serving.Close()
	gone := httptest.NewServer(http.NotFoundHandler())
	gone.Close()
	url := start(t, host(gone), host(serving))
	for i := range 20 {
		response, err := http.Post(url+"/fhir/Patient", "application/fhir+json", strings.NewReader("{}"))
		if err != nil {
			t.Fatal(err)
		}
		response.Body.Close()
		if response.StatusCode != http.StatusCreated {
			t.Errorf("request %d: status %d", i, response.StatusCode)
		}
	}
}

func TestConnectionsToInstancesAreKept(t *testing.T) {
	var connections atomic.Int64
	instance := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.WriteHeader(http.StatusNoContent)
	}))
	instance.Config.ConnState = func(_ net.Conn, state http.ConnState) {
		if state == http.StateNew {
			connections.Add(1)
		}
	}
	instance.Start()
	defer instance.Close()
	url := start(t, host(instance))
	for range 50 {
		response, err := http.Get(url + "/fhir/Patient/1")
		if err != nil {
			t.Fatal(err)
		}
		response.Body.Close()
	}
	if n := connections.Load(); n > 2 {
		t.Errorf("%d connections for 50 requests one after the other", n)
	}
}
