package robustness

import (
	"context"
	"errors"
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"

	"starling/loadtest/register"
)

// witness is the application name of the load test's own connections.
const witness = "loadtest"

// connect opens a connection to the primary, past the proxies.
func (c *cluster) connect(ctx context.Context) (*pgx.Conn, error) {
	config, err := pgx.ParseConfig(c.primary.URL())
	if err != nil {
		return nil, err
	}
	config.RuntimeParams["application_name"] = witness
	return pgx.ConnectConfig(ctx, config)
}

func (c *cluster) exec(ctx context.Context, sql string) error {
	conn, err := c.connect(ctx)
	if err != nil {
		return err
	}
	_, err = conn.Exec(ctx, sql)
	return errors.Join(err, conn.Close(ctx))
}

func (c *cluster) query(ctx context.Context, sql string, into ...any) error {
	conn, err := c.connect(ctx)
	if err != nil {
		return err
	}
	return errors.Join(conn.QueryRow(ctx, sql).Scan(into...), conn.Close(ctx))
}

// terminate ends all sessions of the servers.
func (c *cluster) terminate(ctx context.Context) error {
	return c.exec(ctx, `SELECT pg_terminate_backend(pid) FROM pg_stat_activity
		WHERE backend_type IN ('client backend', 'walsender') AND application_name LIKE 'starling%'`)
}

// everyVersion reads all versions of the two types with the times of their
// commits, from the tables that docs/storage.md describes: no interface of the
// server tells the order of commits.
const everyVersion = `SELECT t.name, r.id, v.version, v.meta || v.body, pg_xact_commit_timestamp(v.writer::text::xid)
	FROM version v JOIN resource r USING (rid) JOIN resource_type t ON t.id = v.type
	WHERE t.name IN ('Basic', 'StructureDefinition') ORDER BY 5, 1, 2, 3`

var (
	profileOf = regexp.MustCompile(regexp.QuoteMeta(register.Register{}.URL()) + `([a-z0-9-]+)"`)
	fixedText = regexp.MustCompile(`"fixedString"\s*:\s*"(v\d+)"`)
	codeText  = regexp.MustCompile(`"text"\s*:\s*"(v\d+)"`)
)

// readRows reads what the database has, in the order of commits.
func (c *cluster) readRows(ctx context.Context) (changes []Committed, rows []Row, err error) {
	conn, err := c.connect(ctx)
	if err != nil {
		return nil, nil, err
	}
	defer func() { err = errors.Join(err, conn.Close(ctx)) }()
	found, err := conn.Query(ctx, everyVersion)
	if err != nil {
		return nil, nil, err
	}
	var name, id, text string
	var version int
	var at time.Time
	_, err = pgx.ForEachRow(found, []any{&name, &id, &version, &text, &at}, func() error {
		if name == "StructureDefinition" {
			value, ok := valueIn(fixedText, text)
			if !ok {
				return fmt.Errorf("%s/%s names no value: %.300s", name, id, text)
			}
			changes = append(changes, Committed{id, value, at})
			return nil
		}
		value, ok := valueIn(codeText, text)
		profile := profileOf.FindStringSubmatch(text)
		if !ok || profile == nil {
			return fmt.Errorf("%s/%s names no register or value: %.300s", name, id, text)
		}
		rows = append(rows, Row{profile[1], value, id, at})
		return nil
	})
	return changes, rows, err
}

func valueIn(pattern *regexp.Regexp, text string) (int64, bool) {
	match := pattern.FindStringSubmatch(text)
	if match == nil {
		return 0, false
	}
	value, err := strconv.ParseInt(strings.TrimPrefix(match[1], "v"), 10, 64)
	return value, err == nil
}
