package embedded

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/jackc/pgx/v5"
)

// Options says where and how the server runs.
type Options struct {
	// DataDir is the folder the server keeps its files under; it is made if
	// need be.
	DataDir string
	// BinDir holds the programs postgres and initdb; empty: the newest local
	// installation, or one that is fetched.
	BinDir string
	// Settings are added to the server's, each name=value.
	Settings []string
	Logger   *slog.Logger
}

// Server is a running PostgreSQL. It is started again if it dies.
type Server struct {
	mu       sync.Mutex
	command  *exec.Cmd
	answered bool // it has come up once
	stopping bool
	exited   chan struct{} // closed when it has ended for good
	lock     *os.File
	socket   string // folder
	remove   string // temporary socket folder to be removed, or ""
	account  *account
	settings []string // added
	logger   *slog.Logger
}

// database is the name of the database and of its owner.
const database = "starling"

// Start starts a server on the data folder, which it creates on first use. A
// server left behind by a process that was killed is stopped first; a folder
// another live process uses is an error.
func Start(ctx context.Context, options Options) (*Server, error) {
	dir, err := filepath.Abs(options.DataDir)
	if err != nil {
		return nil, err
	}
	s := &Server{logger: options.Logger, settings: options.Settings}
	if s.logger == nil {
		s.logger = slog.New(slog.DiscardHandler)
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return nil, fmt.Errorf("data folder: %w", err)
	}
	if s.lock, err = lockFolder(dir); err != nil {
		return nil, err
	}
	if err := s.start(ctx, dir, options.BinDir); err != nil {
		s.release()
		return nil, fmt.Errorf("embedded PostgreSQL: %w", err)
	}
	return s, nil
}

// lockFolder takes a lock that ends with this process, however it ends.
func lockFolder(dir string) (*os.File, error) {
	f, err := os.OpenFile(filepath.Join(dir, "postgres.lock"), os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return nil, fmt.Errorf("data folder: %w", err)
	}
	if err := syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB); err != nil {
		_ = f.Close()
		return nil, fmt.Errorf("the data folder %s is in use by another process", dir)
	}
	return f, nil
}

func (s *Server) start(ctx context.Context, dir, binDir string) (err error) {
	data := filepath.Join(dir, "postgres")
	if err := stopLeftover(data); err != nil {
		return err
	}
	installation, err := findInstallation(ctx, dir, data, binDir, s.logger)
	if err != nil {
		return err
	}
	if s.account, err = findAccount(dir); err != nil {
		return err
	}
	if err := s.initialize(ctx, installation, data); err != nil {
		return err
	}
	if err := s.makeSocketFolder(dir); err != nil {
		return err
	}
	if err := s.run(installation, data); err != nil {
		return err
	}
	if err := s.await(ctx); err != nil {
		s.terminate()
		return err
	}
	return nil
}

// initialize makes the database cluster, in a folder that gets its name only
// when it is complete.
func (s *Server) initialize(ctx context.Context, in installation, data string) error {
	if _, err := os.Stat(filepath.Join(data, "PG_VERSION")); err == nil {
		return s.account.own(data)
	}
	s.logger.Info("creating the embedded database", "folder", data, "postgres", in.version)
	fresh := data + ".new"
	if err := os.RemoveAll(fresh); err != nil {
		return err
	}
	if err := os.Mkdir(fresh, 0o700); err != nil {
		return err
	}
	if err := s.account.own(fresh); err != nil {
		return err
	}
	command := exec.CommandContext(ctx, filepath.Join(in.dir, "initdb"), "--pgdata="+fresh, "--username="+database,
		"--encoding=UTF8", "--locale=C", "--auth-local=trust", "--auth-host=reject", "--no-instructions")
	command.Dir = "/"
	s.account.apply(command)
	if output, err := command.CombinedOutput(); err != nil {
		return fmt.Errorf("initdb: %w: %s", err, output)
	}
	return os.Rename(fresh, data)
}

// maxSocketPath is the longest path of a unix socket (sun_path, with its NUL).
const maxSocketPath = 107

func (s *Server) makeSocketFolder(dir string) error {
	s.socket = filepath.Join(dir, "socket")
	if len(filepath.Join(s.socket, ".s.PGSQL.5432.lock")) > maxSocketPath {
		temporary, err := os.MkdirTemp("", "starling")
		if err != nil {
			return err
		}
		s.socket, s.remove = temporary, temporary
	}
	if err := os.MkdirAll(s.socket, 0o700); err != nil {
		return err
	}
	return s.account.own(s.socket)
}

func (s *Server) run(in installation, data string) error {
	if err := s.launch(in, data); err != nil {
		return err
	}
	s.exited = make(chan struct{})
	go s.supervise(in, data)
	return nil
}

// launch starts the server's process.
func (s *Server) launch(in installation, data string) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.stopping {
		return errStopping
	}
	arguments := []string{"-D", data, "-k", s.socket}
	for _, setting := range append(settings(), s.settings...) {
		arguments = append(arguments, "-c", setting)
	}
	s.command = exec.Command(filepath.Join(in.dir, "postgres"), arguments...)
	s.command.Dir = "/"
	s.account.apply(s.command)
	// A terminal's interrupt goes to its whole process group; the database
	// must outlive the requests in flight.
	s.command.SysProcAttr.Setpgid = true
	output := &logWriter{logger: s.logger}
	s.command.Stdout, s.command.Stderr = io.Writer(output), io.Writer(output)
	return s.command.Start()
}

// restartWait is the time before a server that died is started again. The
// sessions it leaves need a moment to end, and until then it will not start.
const restartWait = 500 * time.Millisecond

var errStopping = errors.New("the server is being stopped")

// supervise starts a server again that has died (killed for want of memory, for
// instance), until it is told to stop.
func (s *Server) supervise(in installation, data string) {
	defer close(s.exited)
	for {
		err := s.command.Wait()
		for again := true; again; again = err != nil {
			s.mu.Lock()
			last := s.stopping || !s.answered
			s.mu.Unlock()
			if last {
				return
			}
			s.logger.Error("the embedded PostgreSQL died; starting it again", "error", err)
			time.Sleep(restartWait)
			err = s.launch(in, data)
		}
	}
}

// await waits until the server answers, and makes the database.
func (s *Server) await(ctx context.Context) error {
	for {
		err := createDatabase(ctx, s.url("postgres"))
		if err == nil {
			s.mu.Lock()
			s.answered = true
			s.mu.Unlock()
			return nil
		}
		select {
		case <-s.exited:
			return errors.New("the server stopped at once; see the log")
		case <-ctx.Done():
			return fmt.Errorf("the server did not answer in time: %w", err)
		case <-time.After(20 * time.Millisecond):
		}
	}
}

func createDatabase(ctx context.Context, url string) error {
	conn, err := pgx.Connect(ctx, url)
	if err != nil {
		return err
	}
	defer func() { _ = conn.Close(ctx) }()
	var exists bool
	if err := conn.QueryRow(ctx, `SELECT EXISTS (SELECT FROM pg_database WHERE datname = $1)`, database).Scan(&exists); err != nil || exists {
		return err
	}
	_, err = conn.Exec(ctx, `CREATE DATABASE `+database)
	return err
}

// URL is the connection URL of the database.
func (s *Server) URL() string { return s.url(database) }

func (s *Server) url(name string) string {
	u := url.URL{Scheme: "postgres", User: url.User(database), Path: "/" + name}
	// A space is %20: pgx, as libpq does, takes a + for itself.
	u.RawQuery = strings.ReplaceAll(url.Values{"host": {s.socket}}.Encode(), "+", "%20")
	return u.String()
}

// PID is the process id of the server, whose backends are its children.
func (s *Server) PID() int { return s.command.Process.Pid }

// Stop ends the server's sessions and waits until it has written everything.
func (s *Server) Stop() error {
	s.terminate()
	s.release()
	return nil
}

// stopTimeout is how long a fast shutdown may take before an immediate one,
// after which the next start recovers from the log.
const stopTimeout = 30 * time.Second

func (s *Server) terminate() {
	if s.exited == nil {
		return
	}
	s.stop(syscall.SIGINT)
	select {
	case <-s.exited:
	case <-time.After(stopTimeout):
		s.stop(syscall.SIGQUIT)
		<-s.exited
	}
}

// stop sends the process a signal after which it is not started again.
func (s *Server) stop(signal syscall.Signal) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.stopping = true
	if process := s.command.Process; process != nil {
		_ = process.Signal(signal)
	}
}

func (s *Server) release() {
	if s.remove != "" {
		_ = os.RemoveAll(s.remove)
	}
	_ = s.lock.Close()
}
