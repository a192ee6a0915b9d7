package matrix

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"starling/loadtest/deploy"
	"starling/loadtest/procs"
)

// Compose is the executor that runs a shape as the containers of compose/. Each
// server has GOMAXPROCS and the CPU quota of its cores, which Docker accounts over
// 100 ms where Processes does over 20.
type Compose struct {
	Command     []string // docker compose, or docker-compose
	File        string   // path of compose.yaml
	Environment []string // the images to use, NAME=value
	Core        float64  // part of a real core that a core is
	Logs        string   // folder for the logs of all containers
}

// composeProject names what the executor starts, apart from other projects.
const composeProject = "starling-matrix"

// FindCompose gives the command that runs compose files.
func FindCompose() ([]string, error) {
	if exec.Command("docker", "compose", "version").Run() == nil {
		return []string{"docker", "compose"}, nil
	}
	if path, err := exec.LookPath("docker-compose"); err == nil {
		return []string{path}, nil
	}
	return nil, errors.New("neither docker compose nor docker-compose is installed")
}

// Name implements Executor.
func (c *Compose) Name() string { return "compose" }

// Start implements Executor.
func (c *Compose) Start(ctx context.Context, shape Shape) (*Deployment, error) {
	address, err := deploy.FreeAddress()
	if err != nil {
		return nil, err
	}
	_, port, err := net.SplitHostPort(address)
	if err != nil {
		return nil, err
	}
	up := &composed{executor: c, shape: shape, environment: append([]string{
		"PORT=" + port, "INSTANCES=" + strconv.Itoa(shape.Instances),
		"CORES=" + strconv.FormatFloat(float64(shape.Cores)*c.Core, 'f', -1, 64),
		"GOMAXPROCS=" + strconv.Itoa(threads(shape)),
	}, c.Environment...)}
	d, err := up.start(ctx, "http://"+address+"/fhir")
	if err != nil {
		return nil, errors.Join(err, up.stop())
	}
	d.Stop = up.stop
	return d, nil
}

// composed is a shape as containers.
type composed struct {
	executor    *Compose
	shape       Shape
	environment []string
}

func (c *composed) start(ctx context.Context, url string) (*Deployment, error) {
	if _, err := c.compose("up", "-d"); err != nil {
		return nil, err
	}
	if err := awaitMetadata(ctx, url); err != nil {
		return nil, err
	}
	d := &Deployment{URL: url, Held: "the CPU quota of its container (accounted over 100 ms) and GOMAXPROCS"}
	for _, service := range []struct{ name, root string }{
		{"server", instanceName}, {"nginx", nginxName}, {"postgres", postgresqlName},
	} {
		root := procs.Root{Name: service.root}
		ids, err := c.compose("ps", "-q", service.name)
		if err != nil {
			return nil, err
		}
		for _, id := range strings.Fields(ids) {
			out, err := exec.Command("docker", "inspect", "--format", "{{.State.Pid}}", id).Output()
			if err != nil {
				return nil, fmt.Errorf("docker inspect: %w", err)
			}
			pid, err := strconv.Atoi(strings.TrimSpace(string(out)))
			if err != nil || pid == 0 {
				return nil, fmt.Errorf("a container of %s does not run", service.name)
			}
			root.PIDs = append(root.PIDs, pid)
		}
		d.Roots = append(d.Roots, root)
	}
	if n := len(d.Roots[0].PIDs); n != c.shape.Instances {
		return nil, fmt.Errorf("%d servers run, not %d", n, c.shape.Instances)
	}
	d.Roots = append(d.Roots, procs.Root{Name: "loadtest", PIDs: []int{os.Getpid()}})
	d.PostgreSQL = strings.TrimPrefix(
		c.stated("postgres", "sh", "-c", "PATH=$PATH:$(echo /usr/local/pgsql/bin /usr/lib/postgresql/*/bin | tr ' ' :) postgres --version"),
		"postgres (PostgreSQL) ")
	d.Server = c.stated("server", "fhir-server", "version")
	return d, nil
}

// stated gives the first line of what a program in a container says.
func (c *composed) stated(service string, command ...string) string {
	out, err := c.compose(append([]string{"exec", "-T", service}, command...)...)
	if err != nil {
		return "unknown"
	}
	line, _, _ := strings.Cut(strings.TrimSpace(out), "\n")
	return line
}

// stop keeps the logs and removes the containers with their data.
func (c *composed) stop() error {
	logs, logsErr := c.compose("logs", "--no-color")
	name := fmt.Sprintf("%dx%d.log", c.shape.Instances, c.shape.Cores)
	_, downErr := c.compose("down", "--volumes", "--timeout", "45")
	return errors.Join(logsErr, downErr, os.WriteFile(filepath.Join(c.executor.Logs, name), []byte(logs), 0o644))
}

func (c *composed) compose(args ...string) (string, error) {
	all := append([]string{}, c.executor.Command[1:]...)
	all = append(append(all, "-p", composeProject, "-f", c.executor.File), args...)
	command := exec.Command(c.executor.Command[0], all...)
	command.Env = append(os.Environ(), c.environment...)
	var problems strings.Builder
	command.Stderr = &problems
	out, err := command.Output()
	if err != nil {
		return "", fmt.Errorf("%s %s: %w\n%s", c.executor.Command[0], args[0], err, problems.String())
	}
	return string(out), nil
}

// awaitMetadata waits until every instance may be expected to answer: twenty
// answers one after the other.
func awaitMetadata(ctx context.Context, url string) error {
	client := &http.Client{Timeout: 10 * time.Second}
	good := 0
	for deadline := time.Now().Add(3 * time.Minute); good < 20; {
		if time.Now().After(deadline) {
			return errors.New("the containers do not serve after three minutes")
		}
		response, err := client.Get(url + "/metadata")
		if err == nil {
			response.Body.Close()
		}
		if err == nil && response.StatusCode == http.StatusOK {
			good++
			continue
		}
		good = 0
		select {
		case <-time.After(200 * time.Millisecond):
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	return nil
}
