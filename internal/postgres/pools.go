package postgres

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"strconv"
	"time"

	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgxpool"
)

// The sizes of the pools.
const (
	defaultConns      = 16
	minConns          = 6
	defaultReadLoops  = 2
	defaultWriteLoops = 3
	reserveConns      = 2
)

// planSettings keep the statements of the hot paths on their indexes: a plan
// cached while a table was empty would otherwise scan it for good, and one made
// for 512 rows might, too.
var planSettings = map[string]string{
	"plan_cache_mode":  "force_generic_plan",
	"enable_seqscan":   "off",
	"enable_hashjoin":  "off",
	"enable_mergejoin": "off",
	"jit":              "off",
}

// searchSettings are those of searches, and of all else that is not coalesced.
var searchSettings = map[string]string{
	// What drives a search is looked up, and its statement leaves the planner nothing
	// to choose that depends on its values: so it is planned once a connection, and not
	// each time, which took as long as many a search itself.
	"plan_cache_mode": "force_generic_plan",
	"enable_seqscan":  "off",
	// A walk in order can stop at the end of a page, a bitmap cannot.
	"enable_bitmapscan": "off",
	// Every join here looks rows up by their key; without statistics the planner
	// would rather read all versions.
	"enable_hashjoin":  "off",
	"enable_mergejoin": "off",
	"jit":              "off",
	// Sets are joined and counted in memory.
	"work_mem": "16MB",
	// Many search at once; one that took several processors would keep them
	// from the others.
	"max_parallel_workers_per_gather": "0",
	// A cancellation that comes before its statement does nothing; then the backend
	// sees by itself that nobody waits for the answer.
	"client_connection_check_interval": "1s",
	// Between two statements of a transaction its Bundle may be worked on.
	"idle_in_transaction_session_timeout": "10s",
}

func (s *Store) openPools(ctx context.Context, c *Config) (err error) {
	if c.MaxConns == 0 {
		c.MaxConns = defaultConns
	}
	if c.readLoops == 0 {
		c.readLoops = defaultReadLoops
	}
	if c.writeLoops == 0 {
		c.writeLoops = defaultWriteLoops
	}
	if c.coalesce == 0 {
		c.coalesce = maxBatch
	}
	var options []func(*pgxpool.Config)
	if s.pooled {
		options = append(options, throughPooler)
	}
	loops := c.readLoops + c.writeLoops
	requests := max(c.MaxConns, minConns) - loops - reserveConns
	if s.coalesced, err = openPool(ctx, c.URL, loops, planSettings, options...); err != nil {
		return err
	}
	requests = max(requests, 2)
	// A part of them is always left for other requests.
	s.lanes = newLanes(max(requests-max(requests/4, 1), 1), s.metrics.retries.WithLabelValues("search").Inc)
	settings := maps.Clone(searchSettings)
	// The server cancels what takes too long; should that not arrive, the database
	// does it by itself.
	settings["statement_timeout"] = strconv.FormatInt(max(30*time.Second, s.searchTimeout+5*time.Second).Milliseconds(), 10)
	if s.requests, err = openPool(ctx, c.URL, requests, settings, options...); err != nil {
		return err
	}
	s.reserve, err = openPool(ctx, c.URL, reserveConns, nil, options...)
	return err
}

func openPool(ctx context.Context, url string, size int, settings map[string]string, options ...func(*pgxpool.Config)) (*pgxpool.Pool, error) {
	config, err := pgxpool.ParseConfig(url)
	if err != nil {
		return nil, fmt.Errorf("database URL: %w", err)
	}
	config.MaxConns = int32(size)
	config.MinConns = 0
	config.MaxConnIdleTime = 10 * time.Minute
	parameters := config.ConnConfig.RuntimeParams
	parameters["timezone"] = "UTC"
	parameters["client_encoding"] = "UTF8"
	parameters["default_transaction_isolation"] = "read committed"
	parameters["statement_timeout"] = "30s"
	parameters["idle_in_transaction_session_timeout"] = "1s"
	if parameters["application_name"] == "" {
		parameters["application_name"] = "starling"
	}
	setSchema(parameters)
	for name, value := range settings {
		parameters[name] = value
	}
	config.ConnConfig.OnNotice = noteWarning
	// Through a pooler the notifications of another client may come here.
	config.ConnConfig.OnNotification = func(*pgconn.PgConn, *pgconn.Notification) {}
	if settings != nil {
		config.AfterConnect = prepare
	}
	for _, option := range options {
		option(config)
	}
	pool, err := pgxpool.NewWithConfig(ctx, config)
	if err != nil {
		return nil, err
	}
	if err := pool.Ping(ctx); err != nil {
		pool.Close()
		return nil, connectError(err)
	}
	return pool, nil
}

// setSchema keeps the tables in one schema, whatever the role is called: by
// default PostgreSQL looks first in a schema of the role's name, and a role
// named fhir would find the one of the views.
func setSchema(parameters map[string]string) {
	if parameters["search_path"] == "" {
		parameters["search_path"] = "public"
	}
}

func noteWarning(conn *pgconn.PgConn, notice *pgconn.Notice) {
	if notice.SeverityUnlocalized == "WARNING" {
		conn.CustomData()[commitWarning] = notice
	}
}

func (s *Store) closePools() {
	for _, pool := range []*pgxpool.Pool{s.requests, s.coalesced, s.reserve} {
		if pool != nil {
			pool.Close()
		}
	}
}

// checkServer refuses databases the store cannot keep its promises on.
func checkServer(ctx context.Context, query func(ctx context.Context, sql string, into ...any) error) error {
	var version int
	var encoding string
	var standby bool
	err := query(ctx, `SELECT current_setting('server_version_num')::int, pg_encoding_to_char(encoding), pg_is_in_recovery()
		FROM pg_database WHERE datname = current_database()`, &version, &encoding, &standby)
	switch {
	case err != nil:
		return connectError(err)
	case version < 150000:
		return fmt.Errorf("PostgreSQL 15 or later is needed, the server is %d.%d", version/10000, version%10000)
	case encoding != "UTF8":
		return errors.New("the database's encoding must be UTF8, it is " + encoding)
	case standby:
		return errors.New("the server is a standby in recovery; the primary is needed")
	}
	return nil
}
