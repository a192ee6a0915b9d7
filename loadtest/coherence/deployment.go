package coherence

import (
	"context"
	"errors"
	"fmt"
	"os"
	"time"

	"starling/loadtest/deploy"
	"starling/loadtest/procs"
	"starling/loadtest/register"
	"starling/loadtest/wire"
)

// Names of the watched processes.
const (
	serversName    = "servers"
	postgresqlName = "postgresql"
)

// deployment is servers over one PostgreSQL, that are up.
type deployment struct {
	group      *deploy.Group
	postgresql *deploy.PostgreSQL
	instances  []*deploy.Instance
	database   *database
	client     *register.Client
}

// requestTimeout is that of one request of the witness.
const requestTimeout = 30 * time.Second

// startPostgreSQL starts a cluster that servers with the transport can use.
func (c *Config) startPostgreSQL(group *deploy.Group, name, transport string, settings ...string) (*deploy.PostgreSQL, error) {
	if transport == Logical {
		settings = append(settings, "wal_level=logical")
	}
	return group.StartPostgreSQL(deploy.PostgreSQLConfig{Name: name, Programs: c.PostgreSQL, Settings: settings})
}

// startServers starts servers over a database, and waits until they use the
// transport.
func (c *Config) startServers(ctx context.Context, group *deploy.Group, name, transport, url string, count int) ([]*deploy.Instance, error) {
	var instances []*deploy.Instance
	for i := range count {
		admin, err := deploy.FreeAddress()
		if err != nil {
			return nil, err
		}
		instance, err := group.StartInstance(ctx, deploy.InstanceConfig{
			Name: fmt.Sprintf("%s-server%d", name, i+1), Program: c.Server, Database: url, Admin: admin,
			Flags: append([]string{"--cache-sync", transport, "--cache-lease", c.Lease.String()}, c.Flags...),
		})
		if err != nil {
			return nil, err
		}
		instances = append(instances, instance)
	}
	if transport == Off {
		return instances, nil
	}
	client := register.NewClient(requestTimeout)
	defer client.Close()
	return instances, (&deployment{instances: instances, client: client}).awaitTransport(ctx, transport)
}

// start puts up a fresh PostgreSQL and servers over it.
func (c *Config) start(ctx context.Context, transport string, count int) (*deployment, error) {
	d := &deployment{group: &deploy.Group{Logs: c.Logs}, client: register.NewClient(requestTimeout)}
	if err := c.fill(ctx, d, transport, count); err != nil {
		return nil, errors.Join(err, d.stop())
	}
	return d, nil
}

func (c *Config) fill(ctx context.Context, d *deployment, transport string, count int) (err error) {
	name := fmt.Sprintf("%s-%d", transport, count)
	if d.postgresql, err = c.startPostgreSQL(d.group, name+"-postgresql", transport); err != nil {
		return err
	}
	if d.instances, err = c.startServers(ctx, d.group, name, transport, d.postgresql.URL(), count); err != nil {
		return err
	}
	d.database, err = openDatabase(ctx, d.postgresql.URL())
	return err
}

func (d *deployment) stop() error {
	d.client.Close()
	if d.database != nil {
		d.database.close()
	}
	return d.group.Stop()
}

// targets of the load: users are spread over the servers, without a proxy.
func targets(instances []*deploy.Instance) ([]wire.Target, error) {
	var all []wire.Target
	for _, instance := range instances {
		target, err := wire.ParseTarget(instance.URL())
		if err != nil {
			return nil, err
		}
		all = append(all, target)
	}
	return all, nil
}

// roots are the processes whose CPU is read.
func roots(instances []*deploy.Instance, postgresql *deploy.PostgreSQL) []procs.Root {
	servers := procs.Root{Name: serversName}
	for _, instance := range instances {
		servers.PIDs = append(servers.PIDs, instance.PID)
	}
	return []procs.Root{servers, {Name: postgresqlName, PIDs: []int{postgresql.PID}}, {Name: "loadtest", PIDs: []int{os.Getpid()}}}
}
