package main

import (
	"context"
	"fmt"
	"os"
	"runtime"
	"runtime/debug"
	"time"

	"starling/internal/interaction"
)

// versionCommand prints what was built.
type versionCommand struct{}

// Run implements command.
func (versionCommand) Run(_ context.Context, p *program) error {
	_, err := fmt.Fprintln(p.stdout, versionLine())
	return err
}

func versionLine() string {
	return fmt.Sprintf("starling %s (%s, %s/%s)", software().Version, runtime.Version(), runtime.GOOS, runtime.GOARCH)
}

// software says which version this is: the module's, as a build from a commit
// or tag has it, and the commit's date. A build from no commit is dated by its
// file.
func software() interaction.Software {
	s := interaction.Software{Version: "devel"}
	if path, err := os.Executable(); err == nil {
		if file, err := os.Stat(path); err == nil {
			s.Date = file.ModTime().UTC().Truncate(time.Second)
		}
	}
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return s
	}
	if version := info.Main.Version; version != "" && version != "(devel)" {
		s.Version = version
	}
	for _, setting := range info.Settings {
		if setting.Key == "vcs.time" {
			s.Date, _ = time.Parse(time.RFC3339, setting.Value) // written by the go command
		}
	}
	return s
}
