package deploy

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"time"
)

// Instance is one server.
type Instance struct {
	Address string // host:port of its API; kept when it starts again
	config  InstanceConfig
	group   *Group
	*Process
}

// InstanceConfig says which server to start.
type InstanceConfig struct {
	Name        string // of its log
	Program     string // path of fhir-server
	Database    string // URL
	Admin       string // host:port of its metrics, empty for none
	Flags       []string
	Environment []string // name=value, added to this program's
}

// StartInstance starts one server and waits until it serves.
func (g *Group) StartInstance(ctx context.Context, c InstanceConfig) (*Instance, error) {
	i := &Instance{Address: "127.0.0.1:0", config: c, group: g}
	return i, i.Start(ctx)
}

// URL is its FHIR base.
func (i *Instance) URL() string { return "http://" + i.Address + "/fhir" }

// Admin is the host:port of its metrics.
func (i *Instance) Admin() string { return i.config.Admin }

// Name is that of its log.
func (i *Instance) Name() string { return i.config.Name }

// Start starts the server, again at its address if it has ended, and waits until
// it serves.
func (i *Instance) Start(ctx context.Context) error {
	c := i.config
	args := append([]string{"serve", "--listen", i.Address, "--admin-listen", c.Admin, "--database-url", c.Database}, c.Flags...)
	command := exec.Command(c.Program, args...)
	command.Env = append(os.Environ(), c.Environment...)
	stdout, err := command.StdoutPipe()
	if err != nil {
		return err
	}
	if i.Process, err = i.group.Run(command, c.Name); err != nil {
		return err
	}
	serving := make(chan string, 1)
	go announced(stdout, serving)
	select {
	case address := <-serving:
		if i.Address != address { // the first time: later clients may be reading it
			i.Address = address
		}
		return nil
	case <-i.Ended():
		return fmt.Errorf("%s ended before it served: see its log in %s", c.Name, i.group.Logs)
	case <-time.After(readyTimeout):
		return fmt.Errorf("%s does not serve after %v: see its log in %s", c.Name, readyTimeout, i.group.Logs)
	case <-ctx.Done():
		return ctx.Err()
	}
}

// announced reads the address that a server prints, and what follows.
func announced(stdout io.Reader, serving chan<- string) {
	for lines := bufio.NewScanner(stdout); lines.Scan(); {
		if _, url, ok := strings.Cut(lines.Text(), "serving FHIR R4 at http://"); ok {
			select {
			case serving <- strings.TrimSuffix(strings.TrimSpace(url), "/fhir"):
			default:
			}
		}
	}
}
