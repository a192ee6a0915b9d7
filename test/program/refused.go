package program

import (
	"context"
	"os/exec"
	"syscall"
	"testing"
)

// Signal sends the process a signal, such as SIGSTOP.
func (s *Server) Signal(signal syscall.Signal) error { return s.command.Process.Signal(signal) }

// Refused starts a server that has to refuse to start, and gives what it said.
func Refused(t testing.TB, args ...string) string {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), startTimeout)
	defer cancel()
	all := append([]string{"serve", "--listen", "127.0.0.1:0"}, args...)
	command := exec.CommandContext(ctx, Binary(t), all...)
	command.Dir = t.TempDir()
	said, err := command.CombinedOutput()
	if err == nil || ctx.Err() != nil {
		t.Errorf("the server started with %v", args)
	}
	return string(said)
}
