package matrix

import (
	"context"
	"errors"
	"fmt"
	"os"
	"runtime"
	"strconv"

	"starling/loadtest/cgroup"
	"starling/loadtest/deploy"
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
	group := &deploy.Group{Logs: p.Logs}
	d, err := p.start(ctx, shape, group)
	if err != nil {
		return nil, errors.Join(err, group.Stop())
	}
	d.Stop = group.Stop
	return d, nil
}

func (p *Processes) start(ctx context.Context, shape Shape, group *deploy.Group) (*Deployment, error) {
	name := fmt.Sprintf("%dx%d-", shape.Instances, shape.Cores)
	d := &Deployment{
		Held: "GOMAXPROCS", PostgreSQL: deploy.PostgreSQLVersion(p.PostgreSQL), Server: deploy.FirstLine(p.Server, "version"),
	}
	postgresql, err := group.StartPostgreSQL(deploy.PostgreSQLConfig{Name: name + postgresqlName, Programs: p.PostgreSQL})
	if err != nil {
		return nil, err
	}
	instances := procs.Root{Name: instanceName}
	var addresses []string
	for i := range shape.Instances {
		instance, err := group.StartInstance(ctx, deploy.InstanceConfig{
			Name: fmt.Sprintf("%sinstance%d", name, i+1), Program: p.Server, Database: postgresql.URL(),
			Environment: []string{"GOMAXPROCS=" + strconv.Itoa(threads(shape))},
		})
		if err != nil {
			return nil, err
		}
		if d.Held, err = p.hold(group, shape, instance); err != nil {
			return nil, err
		}
		instances.PIDs = append(instances.PIDs, instance.PID)
		addresses = append(addresses, instance.Address)
	}
	url, nginx, err := group.StartNginx(addresses)
	if err != nil {
		return nil, err
	}
	d.URL = url
	d.Roots = []procs.Root{
		instances,
		{Name: nginxName, PIDs: []int{nginx.PID}},
		{Name: postgresqlName, PIDs: []int{postgresql.PID}},
		{Name: "loadtest", PIDs: []int{os.Getpid()}},
	}
	return d, nil
}

// hold keeps an instance to its share from now on (starting may take what it
// needs), and says by what.
func (p *Processes) hold(group *deploy.Group, shape Shape, instance *deploy.Instance) (held string, err error) {
	quota, err := cgroup.New("starling-"+instance.Name(), float64(shape.Cores)*p.Core)
	if err != nil {
		return fmt.Sprintf("GOMAXPROCS alone (%v)", err), nil
	}
	// A group can be removed after its processes have ended.
	group.DeferLast(quota.Remove)
	return fmt.Sprintf("a cgroup quota (version %d) and GOMAXPROCS", quota.Version()), quota.Add(instance.PID)
}

// threads is GOMAXPROCS of an instance: its cores, of those that are there.
func threads(shape Shape) int { return max(1, min(shape.Cores, runtime.NumCPU())) }
