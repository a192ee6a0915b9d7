package robustness

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"starling/loadtest/deploy"
	"starling/loadtest/tcpproxy"
)

// cluster is servers behind nginx, each with a proxy of its own before the
// database, which has a synchronous standby where that can be made.
type cluster struct {
	config    *Config
	group     *deploy.Group
	primary   *deploy.PostgreSQL
	standby   *deploy.PostgreSQL // nil if there is none
	databases int                // clusters made so far
	servers   []*server
	balancer  string // FHIR base through nginx, "" without it
}

// server is one instance and the proxy between it and the database.
type server struct {
	*deploy.Instance
	proxy *tcpproxy.Proxy
}

func startCluster(ctx context.Context, config *Config) (*cluster, error) {
	c := &cluster{config: config, group: &deploy.Group{Logs: config.Logs}}
	if err := c.start(ctx); err != nil {
		return nil, errors.Join(err, c.stop())
	}
	return c, nil
}

// stop ends the servers first: their last commits wait for the standby.
func (c *cluster) stop() error {
	errs := make([]error, len(c.servers)+1)
	var all sync.WaitGroup
	for i, s := range c.servers {
		all.Go(func() { errs[i] = s.Terminate() })
	}
	all.Wait()
	errs[len(c.servers)] = c.group.Stop()
	return errors.Join(errs...)
}

// postgresqlConfig is of a cluster that tells when each transaction was
// committed, and whose standby comes back at once.
func (c *cluster) postgresqlConfig() deploy.PostgreSQLConfig {
	c.databases++
	settings := []string{"track_commit_timestamp=on", "wal_retrieve_retry_interval=100ms"}
	if c.config.Transport == "logical" {
		settings = append(settings, "wal_level=logical")
	}
	return deploy.PostgreSQLConfig{
		Name: fmt.Sprintf("postgresql%d", c.databases), Programs: c.config.PostgreSQL, TCP: true, Settings: settings,
	}
}

func (c *cluster) start(ctx context.Context) (err error) {
	if c.primary, err = c.group.StartPostgreSQL(c.postgresqlConfig()); err != nil {
		return err
	}
	var addresses []string
	for i := range c.config.Servers {
		s, err := c.startServer(ctx, i)
		if err != nil {
			return err
		}
		c.servers = append(c.servers, s)
		addresses = append(addresses, s.Address)
	}
	if _, err := deploy.FindNginx(); err == nil {
		if c.balancer, _, err = c.group.StartNginx(addresses); err != nil {
			return err
		}
	}
	return c.addStandby(ctx)
}

func (c *cluster) startServer(ctx context.Context, number int) (*server, error) {
	proxy, err := tcpproxy.New(c.primary.Address)
	if err != nil {
		return nil, err
	}
	c.group.Defer(proxy.Close)
	admin, err := deploy.FreeAddress()
	if err != nil {
		return nil, err
	}
	instance, err := c.group.StartInstance(ctx, deploy.InstanceConfig{
		Name: fmt.Sprintf("server%d", number+1), Program: c.config.Server, Database: deploy.TCP(proxy.Address()), Admin: admin,
		Flags: append([]string{"--cache-sync", c.config.Transport, "--cache-lease", c.config.Lease.String()}, c.config.Flags...),
	})
	return &server{instance, proxy}, err
}

// addStandby makes a synchronous standby of the primary: what is acknowledged
// from then on is on both.
func (c *cluster) addStandby(ctx context.Context) (err error) {
	if !deploy.CanReplicate(c.config.PostgreSQL) {
		return nil
	}
	if c.standby, err = c.group.StartStandby(c.postgresqlConfig(), c.primary); err != nil {
		return err
	}
	if err := c.exec(ctx, `ALTER SYSTEM SET synchronous_standby_names = 'walreceiver'`); err != nil {
		return err
	}
	if err := c.exec(ctx, `SELECT pg_reload_conf()`); err != nil {
		return err
	}
	return c.until(ctx, func() (bool, error) {
		var synchronous bool
		err := c.query(ctx, `SELECT coalesce(bool_or(sync_state = 'sync'), false) FROM pg_stat_replication`, &synchronous)
		return synchronous, err
	})
}

// patience is how long is waited for what has to come about.
const patience = 30 * time.Second

var errPatience = errors.New("what was waited for has not come about")

func (c *cluster) until(ctx context.Context, is func() (bool, error)) error {
	var last error
	for deadline := time.Now().Add(patience); time.Now().Before(deadline) && ctx.Err() == nil; time.Sleep(20 * time.Millisecond) {
		var ok bool
		if ok, last = is(); ok && last == nil {
			return nil
		}
	}
	return errors.Join(errPatience, last, ctx.Err())
}
