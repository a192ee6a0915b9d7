package matrix

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"syscall"
	"time"

	"starling/loadtest/cgroup"
	"starling/loadtest/procs"
)

// Processes is the executor that runs a shape as plain processes on this
// machine. Each instance has GOMAXPROCS and the quota of a control group for its
// cores; nginx, PostgreSQL and the load test share what is left.
type Processes struct {
	Server     string  // path of fhir-server
	PostgreSQL string  // folder of PostgreSQL's programs
	Core       float64 // part of a real core that a core is
	Logs       string  // folder for the logs of all processes
}

// Name implements Executor.
func (p *Processes) Name() string { return "process" }

// Start implements Executor.
func (p *Processes) Start(ctx context.Context, shape Shape) (*Deployment, error) {
	up := &processes{executor: p, shape: shape}
	d, err := up.start(ctx)
	if err != nil {
		return nil, errors.Join(err, up.stop())
	}
	d.Stop = up.stop
	return d, nil
}

// processes is a shape that is going up, is up, or is going down.
type processes struct {
	executor *Processes
	shape    Shape
	undo     []func() error // last first
}

func (p *processes) stop() error {
	var errs []error
	for i := len(p.undo) - 1; i >= 0; i-- {
		errs = append(errs, p.undo[i]())
	}
	p.undo = nil
	return errors.Join(errs...)
}

func (p *processes) start(ctx context.Context) (*Deployment, error) {
	d := &Deployment{Held: "GOMAXPROCS"}
	database, postgresql, err := p.startPostgreSQL()
	if err != nil {
		return nil, err
	}
	instances := procs.Root{Name: instanceName}
	var addresses []string
	for i := range p.shape.Instances {
		address, pid, held, err := p.startInstance(ctx, i, database)
		if err != nil {
			return nil, err
		}
		instances.PIDs = append(instances.PIDs, pid)
		addresses = append(addresses, address)
		d.Held = held
	}
	url, nginx, err := p.startNginx(addresses)
	if err != nil {
		return nil, err
	}
	d.URL = url
	d.Roots = []procs.Root{
		instances,
		{Name: nginxName, PIDs: []int{nginx}},
		{Name: postgresqlName, PIDs: []int{postgresql}},
		{Name: "loadtest", PIDs: []int{os.Getpid()}},
	}
	stated := firstLine(exec.Command(filepath.Join(p.executor.PostgreSQL, "postgres"), "--version"))
	d.PostgreSQL = strings.TrimPrefix(stated, "postgres (PostgreSQL) ")
	d.Server = firstLine(exec.Command(p.executor.Server, "version"))
	return d, nil
}

// readyTimeout is how long a program may take to serve.
const readyTimeout = 60 * time.Second

// startInstance starts one server and waits until it serves.
func (p *processes) startInstance(ctx context.Context, number int, database string) (address string, pid int, held string, err error) {
	name := fmt.Sprintf("%dx%d-instance%d", p.shape.Instances, p.shape.Cores, number+1)
	command := exec.Command(p.executor.Server, "serve", "--listen", "127.0.0.1:0", "--admin-listen", "", "--database-url", database)
	command.Env = append(os.Environ(), "GOMAXPROCS="+strconv.Itoa(threads(p.shape)))
	stdout, err := command.StdoutPipe()
	if err != nil {
		return "", 0, "", err
	}
	wait, err := p.run(command, name)
	if err != nil {
		return "", 0, "", err
	}
	pid = command.Process.Pid
	serving := make(chan string, 1)
	go func() {
		for lines := bufio.NewScanner(stdout); lines.Scan(); {
			if _, url, ok := strings.Cut(lines.Text(), "serving FHIR R4 at http://"); ok {
				serving <- strings.TrimSuffix(strings.TrimSpace(url), "/fhir")
			}
		}
	}()
	select {
	case address = <-serving:
	case <-wait:
		return "", 0, "", fmt.Errorf("%s ended before it served: see its log in %s", name, p.executor.Logs)
	case <-time.After(readyTimeout):
		return "", 0, "", fmt.Errorf("%s does not serve after %v: see its log in %s", name, readyTimeout, p.executor.Logs)
	case <-ctx.Done():
		return "", 0, "", ctx.Err()
	}
	// From here on the instance is held to its share: starting may take what it needs.
	group, err := cgroup.New("starling-"+name, float64(p.shape.Cores)*p.executor.Core)
	if err != nil {
		return address, pid, fmt.Sprintf("GOMAXPROCS alone (%v)", err), nil
	}
	// Removed after the instance has ended: undone before its start is.
	p.undo = append([]func() error{group.Remove}, p.undo...)
	return address, pid, fmt.Sprintf("a cgroup quota (version %d) and GOMAXPROCS", group.Version()), group.Add(pid)
}

// threads is GOMAXPROCS of an instance: its cores, of those that are there.
func threads(shape Shape) int { return max(1, min(shape.Cores, runtime.NumCPU())) }

// run starts a program whose standard error goes to a log of its own, and has it
// ended and waited for by stop. The channel is closed when it has ended.
func (p *processes) run(command *exec.Cmd, name string) (<-chan struct{}, error) {
	log, err := os.Create(filepath.Join(p.executor.Logs, name+".log"))
	if err != nil {
		return nil, err
	}
	command.Stderr = log
	if err := command.Start(); err != nil {
		return nil, errors.Join(err, log.Close())
	}
	ended := make(chan struct{})
	go func() {
		_ = command.Wait() // how it ended is in its log
		log.Close()
		close(ended)
	}()
	p.undo = append(p.undo, func() error {
		_ = command.Process.Signal(syscall.SIGTERM)
		select {
		case <-ended:
			return nil
		case <-time.After(45 * time.Second):
			_ = command.Process.Kill()
			<-ended
			return fmt.Errorf("%s did not end after SIGTERM", name)
		}
	})
	return ended, nil
}

func firstLine(command *exec.Cmd) string {
	out, err := command.Output()
	if err != nil {
		return "unknown"
	}
	line, _, _ := strings.Cut(string(out), "\n")
	return line
}

// freeAddress gives an address nothing listens on.
func freeAddress() (string, error) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return "", err
	}
	defer listener.Close()
	return listener.Addr().String(), nil
}
