package coherence

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	"starling/loadtest/deploy"
	"starling/loadtest/load"
	"starling/loadtest/register"
)

// NotifyLock is what becomes of requests while another session holds the lock
// that every commit with a NOTIFY takes, one for the whole server. The session
// notifies and then waits in its commit for a synchronous standby that does not
// exist; the servers' commits do not wait for standbys (synchronous_commit=local).
// Any request that took the lock would wait until it is released.
type NotifyLock struct {
	HeldSeconds float64 `json:"heldSeconds"`
	Requests    int64   `json:"requests"` // right answers while it was held
	Errors      int64   `json:"errors"`
	RPS         float64 `json:"rps"`
	FreeRPS     float64 `json:"freeRPS"` // before, for as long
	P99         float64 `json:"p99"`
	FreeP99     float64 `json:"freeP99"`
	// Looks at pg_locks while it was held, and how many saw a session wait for it.
	Looks   int `json:"looks"`
	Waiting int `json:"waiting"`
	// ChangeWaited says that a change of a system resource, sent thereafter, did
	// wait for the lock, and was answered once it was released: the lock was the
	// one, and it was held.
	ChangeWaited bool `json:"changeWaited"`
}

// Passed reports whether ordinary requests took no lock of NOTIFY.
func (l *NotifyLock) Passed() bool {
	return l.Requests > 0 && l.Errors == 0 && l.Looks > 0 && l.Waiting == 0 && l.ChangeWaited
}

func (l *NotifyLock) String() string {
	return fmt.Sprintf("%d requests, %d errors, %.0f a second (%.0f with the lock free); %d of %d looks saw a session wait; a change waited: %t",
		l.Requests, l.Errors, l.RPS, l.FreeRPS, l.Waiting, l.Looks, l.ChangeWaited)
}

func (c *Config) runNotifyLock(ctx context.Context) (result *NotifyLock, err error) {
	d := &deployment{group: &deploy.Group{Logs: c.Logs}, client: register.NewClient(requestTimeout)}
	defer func() { err = errors.Join(err, d.stop()) }()
	if d.postgresql, err = c.startPostgreSQL(d.group, "lock-postgresql", Notify); err != nil {
		return nil, err
	}
	url := d.postgresql.URL() + "&synchronous_commit=local"
	if d.instances, err = c.startServers(ctx, d.group, "lock", Notify, url, 2); err != nil {
		return nil, err
	}
	if d.database, err = openDatabase(ctx, d.postgresql.URL()); err != nil {
		return nil, err
	}
	result = &NotifyLock{HeldSeconds: c.NotifyLock.Seconds()}
	free, err := c.loadFor(ctx, d, c.NotifyLock)
	if err != nil {
		return nil, err
	}
	result.FreeRPS, result.FreeP99 = free.rps, free.p99
	holder, err := d.holdNotifyLock(ctx)
	if err != nil {
		return nil, err
	}
	watching, stop := context.WithCancel(ctx)
	var watch sync.WaitGroup
	watch.Go(func() { result.Looks, result.Waiting = d.watchNotifyLock(watching) })
	held, err := c.loadFor(ctx, d, c.NotifyLock)
	stop()
	watch.Wait()
	if err != nil {
		return nil, err
	}
	result.Requests, result.Errors, result.RPS, result.P99 = held.requests-held.errors, held.errors, held.rps, held.p99
	result.ChangeWaited, err = d.changeWaits(ctx, holder)
	return result, err
}

type loaded struct {
	requests, errors int64
	rps, p99         float64
}

func (c *Config) loadFor(ctx context.Context, d *deployment, duration time.Duration) (loaded, error) {
	all, err := targets(d.instances)
	if err != nil {
		return loaded{}, err
	}
	measured, err := load.CRUD(ctx, load.Config{
		Targets: all, Users: c.Users, Timeout: requestTimeout, WarmUp: time.Second, Duration: duration,
		Progress: io.Discard, Run: strconv.FormatInt(time.Now().UnixMilli(), 36),
	})
	if err != nil {
		return loaded{}, err
	}
	total := measured.Total
	return loaded{total.Requests, total.Errors, total.RPS, total.Latency.P99}, nil
}

// patience is how long is waited for what has to come about.
const patience = 15 * time.Second

// nobody is a standby that does not exist.
const nobody = "nobody"

func (d *deployment) waitForStandby(ctx context.Context, name string) error {
	if _, err := d.database.conn.Exec(ctx, "ALTER SYSTEM SET synchronous_standby_names = '"+name+"'"); err != nil {
		return err
	}
	if _, err := d.database.conn.Exec(ctx, "SELECT pg_reload_conf()"); err != nil {
		return err
	}
	return until(ctx, func() (is bool, err error) {
		var now string
		err = d.database.conn.QueryRow(ctx, "SELECT current_setting('synchronous_standby_names')").Scan(&now)
		return now == name, err
	})
}

// holdNotifyLock has a session hold the lock until waitForStandby(ctx, "").
func (d *deployment) holdNotifyLock(ctx context.Context) (held <-chan error, err error) {
	if err := d.waitForStandby(ctx, nobody); err != nil {
		return nil, err
	}
	holder, err := openDatabase(ctx, d.postgresql.URL())
	if err != nil {
		return nil, err
	}
	released := make(chan error, 1)
	var commits atomic.Int64
	go func() {
		defer holder.close()
		// Commits do not wait until all of PostgreSQL has taken note of the setting:
		// the one that takes this long has.
		for begun := time.Now(); ; begun = time.Now() {
			commits.Add(1)
			if _, err := holder.conn.Exec(ctx, "NOTIFY loadtest"); err != nil || time.Since(begun) > holdsFor {
				released <- err
				return
			}
		}
	}()
	return released, until(ctx, func() (bool, error) {
		before := commits.Load()
		time.Sleep(holdsFor)
		is, _, err := d.database.notifyLock(ctx)
		return is && commits.Load() == before, err
	})
}

// holdsFor is longer than any commit that waits for no standby.
const holdsFor = time.Second

// watchNotifyLock looks who waits for the lock, until ctx ends.
func (d *deployment) watchNotifyLock(ctx context.Context) (looks, waiting int) {
	for ctx.Err() == nil {
		held, count, err := d.database.notifyLock(context.WithoutCancel(ctx))
		if err != nil {
			return looks, waiting
		}
		if held {
			looks++
		}
		if count > 0 {
			waiting++
		}
		time.Sleep(5 * time.Millisecond)
	}
	return looks, waiting
}

// changeWaits reports whether a change of a system resource waits for the lock
// and is answered when it is released.
func (d *deployment) changeWaits(ctx context.Context, released <-chan error) (bool, error) {
	answered := make(chan error, 1)
	go func() {
		a, err := d.client.Set(ctx, d.instances[0].URL(), register.Register{Name: "lock"}, 1, "", true)
		if err == nil && a.Status/100 != 2 {
			err = fmt.Errorf("the change: status %d: %.200s", a.Status, a.Body)
		}
		answered <- err
	}()
	waited := until(ctx, func() (bool, error) {
		_, count, err := d.database.notifyLock(ctx)
		return count > 0, err
	})
	select {
	case err := <-answered:
		return false, err // it did not wait
	default:
	}
	if err := d.waitForStandby(ctx, ""); err != nil {
		return false, err
	}
	if err := <-released; err != nil {
		return false, err
	}
	return waited == nil, <-answered
}

var errPatience = errors.New("what was waited for has not come about")

// until waits for a condition.
func until(ctx context.Context, is func() (bool, error)) error {
	for deadline := time.Now().Add(patience); time.Now().Before(deadline); time.Sleep(2 * time.Millisecond) {
		if ok, err := is(); ok || err != nil {
			return err
		}
		if ctx.Err() != nil {
			return ctx.Err()
		}
	}
	return errPatience
}
