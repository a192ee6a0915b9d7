package program

import (
	"bufio"
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"
)

// startTimeout is how long a server may take to serve: the first on a database
// of its own creates it.
const startTimeout = 90 * time.Second

// stopTimeout is how long a server may take to drain.
const stopTimeout = 40 * time.Second

// Server is one process of the server.
type Server struct {
	// URL is the FHIR base, without a slash at its end.
	URL string

	command *exec.Cmd
	log     *tail
	ended   chan struct{} // closed when the process has been waited for
}

// Start starts `fhir-server serve` with the arguments and environment given, on
// a free port unless they name one, and waits until it serves. It is stopped at
// the end of the test, which fails if that takes too long.
func Start(t testing.TB, args ...string) *Server {
	t.Helper()
	all := append([]string{"serve", "--listen", "127.0.0.1:0", "--admin-listen", ""}, args...)
	s := &Server{command: exec.Command(Binary(t), all...), log: &tail{}, ended: make(chan struct{})}
	s.command.Dir = t.TempDir()
	s.command.Stderr = s.log
	stdout, err := s.command.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := s.command.Start(); err != nil {
		t.Fatal(err)
	}
	serving := make(chan string, 1)
	go func() {
		lines := bufio.NewScanner(stdout)
		for lines.Scan() {
			if _, url, ok := strings.Cut(lines.Text(), "serving FHIR R4 at "); ok {
				serving <- strings.TrimSpace(url)
			}
			s.log.line(lines.Text())
		}
		_ = s.command.Wait()
		close(s.ended)
	}()
	t.Cleanup(func() { s.stop(t) })
	select {
	case s.URL = <-serving:
	case <-s.ended:
		t.Fatalf("the server ended: %v\n%s", s.command.ProcessState, s.log)
	case <-time.After(startTimeout):
		t.Fatalf("the server does not serve after %v\n%s", startTimeout, s.log)
	}
	return s
}

// Address is host:port of the API, for a server that is to take this one's place.
func (s *Server) Address() string {
	return strings.TrimSuffix(strings.TrimPrefix(s.URL, "http://"), "/fhir")
}

// Kill ends the process with SIGKILL and waits until it is gone.
func (s *Server) Kill() {
	_ = s.command.Process.Kill()
	<-s.ended
}

// Terminate asks the process to drain and end, with SIGTERM.
func (s *Server) Terminate() { _ = s.command.Process.Signal(syscall.SIGTERM) }

// Ended is closed when the process is gone.
func (s *Server) Ended() <-chan struct{} { return s.ended }

// Log gives the last lines the server has logged.
func (s *Server) Log() string { return s.log.String() }

func (s *Server) stop(t testing.TB) {
	s.Terminate()
	select {
	case <-s.ended:
	case <-time.After(stopTimeout):
		s.Kill()
		t.Errorf("the server did not end %v after SIGTERM\n%s", stopTimeout, s.log)
	}
	if t.Failed() {
		t.Logf("the server's last lines:\n%s", s.log)
	}
}

var build struct {
	once sync.Once
	path string
	err  error
	out  []byte
}

// Binary builds the server once for all tests of a package, below bin/ where
// `make build` puts programs too. Each package has its own: they run at once.
func Binary(t testing.TB) string {
	t.Helper()
	build.once.Do(func() {
		gomod, err := exec.Command("go", "env", "GOMOD").Output()
		if err != nil {
			build.err = err
			return
		}
		root := filepath.Dir(strings.TrimSpace(string(gomod)))
		build.path = filepath.Join(root, "bin", "test", filepath.Base(os.Args[0]), "fhir-server")
		command := exec.Command("go", "build", "-o", build.path, "./cmd/fhir-server")
		command.Dir = root
		build.out, build.err = command.CombinedOutput()
	})
	if build.err != nil {
		t.Fatalf("building the server: %v\n%s", build.err, build.out)
	}
	return build.path
}

// tail keeps the last lines written to it. It is safe for concurrent use.
type tail struct {
	mu    sync.Mutex
	bytes []byte
}

const tailBytes = 16 << 10

func (l *tail) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.bytes = append(l.bytes, p...)
	if over := len(l.bytes) - tailBytes; over > 0 {
		l.bytes = bytes.Clone(l.bytes[over:])
	}
	return len(p), nil
}

func (l *tail) line(text string) { _, _ = l.Write([]byte(text + "\n")) }

func (l *tail) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return string(l.bytes)
}
