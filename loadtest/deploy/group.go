// Package deploy puts up what the load test measures, as plain processes of this
// machine: PostgreSQL, servers, and nginx before them.
package deploy

import (
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"time"
)

const (
	// readyTimeout is how long a program may take to serve.
	readyTimeout = 60 * time.Second
	// endTimeout is how long a program may take to end after SIGTERM.
	endTimeout = 45 * time.Second
	look       = 20 * time.Millisecond
)

// Group is processes that are put up together and taken down together. It is
// safe for concurrent use, but for Stop.
type Group struct {
	Logs string // folder for the logs of all processes

	mu   sync.Mutex
	undo []func() error // last first
}

// Defer has Stop call undo, before what was deferred earlier.
func (g *Group) Defer(undo func() error) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.undo = append(g.undo, undo)
}

// DeferLast has Stop call undo after all else.
func (g *Group) DeferLast(undo func() error) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.undo = append([]func() error{undo}, g.undo...)
}

// Stop ends everything.
func (g *Group) Stop() error {
	var errs []error
	for i := len(g.undo) - 1; i >= 0; i-- {
		errs = append(errs, g.undo[i]())
	}
	g.undo = nil
	return errors.Join(errs...)
}

// folder makes a temporary folder that Stop removes.
func (g *Group) folder(name string) (string, error) {
	dir, err := os.MkdirTemp("", name+"-")
	if err == nil {
		g.Defer(func() error { return os.RemoveAll(dir) })
	}
	return dir, err
}

// Process is a program that was started.
type Process struct {
	PID   int
	ended chan struct{}
	name  string
	os    *os.Process
}

// Run starts a program whose standard error is appended to a log of its own, and
// has it ended and waited for by Stop.
func (g *Group) Run(command *exec.Cmd, name string) (*Process, error) {
	log, err := os.OpenFile(filepath.Join(g.Logs, name+".log"), os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o644)
	if err != nil {
		return nil, err
	}
	command.Stderr = log
	if err := command.Start(); err != nil {
		return nil, errors.Join(err, log.Close())
	}
	p := &Process{PID: command.Process.Pid, ended: make(chan struct{}), name: name, os: command.Process}
	go func() {
		_ = command.Wait() // how it ended is in its log
		log.Close()
		close(p.ended)
	}()
	g.Defer(p.Terminate)
	return p, nil
}

// Ended is closed when the process has ended.
func (p *Process) Ended() <-chan struct{} { return p.ended }

// Signal sends a signal, to a process that has ended none.
func (p *Process) Signal(s syscall.Signal) error { return ignoreEnded(p.os.Signal(s)) }

// Terminate ends the process with SIGTERM, also one that is stopped.
func (p *Process) Terminate() error { return p.End(syscall.SIGTERM) }

// End ends the process with a signal and waits for it. One that does not heed it
// is killed, and an error.
func (p *Process) End(s syscall.Signal) error {
	if err := errors.Join(p.Signal(s), p.Signal(syscall.SIGCONT)); err != nil {
		return err
	}
	select {
	case <-p.ended:
		return nil
	case <-time.After(endTimeout):
		_ = p.os.Kill()
		<-p.ended
		return fmt.Errorf("%s did not end after %v", p.name, s)
	}
}

// await waits until ready says so, and fails if the process ends before.
func (p *Process) await(ready func() bool, logs string) error {
	for deadline := time.Now().Add(readyTimeout); time.Now().Before(deadline); time.Sleep(look) {
		select {
		case <-p.ended:
			return fmt.Errorf("%s ended: see its log in %s", p.name, logs)
		default:
		}
		if ready() {
			return nil
		}
	}
	return fmt.Errorf("%s is not ready after %v: see its log in %s", p.name, readyTimeout, logs)
}

func ignoreEnded(err error) error {
	if errors.Is(err, os.ErrProcessDone) {
		return nil
	}
	return err
}

// FirstLine gives the first line that a command prints, such as its version.
func FirstLine(program string, args ...string) string {
	out, err := exec.Command(program, args...).Output()
	if err != nil {
		return "unknown"
	}
	line, _, _ := strings.Cut(string(out), "\n")
	return line
}

// FreeAddress gives an address nothing listens on.
func FreeAddress() (string, error) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return "", err
	}
	defer listener.Close()
	return listener.Addr().String(), nil
}
