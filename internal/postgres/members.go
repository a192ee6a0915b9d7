package postgres

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"

	"starling/internal/fhir"
)

// joinLock is the transaction-scoped advisory lock that instances join under.
const joinLock = 3

// Join implements fhir.MemberStore.
func (s *Store) Join(ctx context.Context, m *fhir.Member) error {
	return pgx.BeginFunc(ctx, s.reserve, func(tx pgx.Tx) error {
		if _, err := tx.Exec(ctx, `SELECT pg_advisory_xact_lock($1::int4, $2::int4)`, lockClassFence, joinLock); err != nil {
			return err
		}
		var name, mode string
		var lease time.Duration
		err := tx.QueryRow(ctx, `SELECT name, mode, lease FROM cache_member
			WHERE seen > clock_timestamp() - 2 * lease AND id <> $1 AND (lease <> $2 OR (mode = 'off') <> ($3 = 'off')) LIMIT 1`,
			m.ID, m.Lease, m.Mode).Scan(&name, &mode, &lease)
		switch {
		case err == nil && m.Mode == "off":
			return fmt.Errorf("--cache-sync=%s, but the instance %s runs with %s: all that share a database have to agree", m.Mode, name, mode)
		case err == nil:
			return fmt.Errorf("--cache-lease=%s, but the instance %s runs with %s: all that share a database have to agree", m.Lease, name, lease)
		case !errors.Is(err, pgx.ErrNoRows):
			return err
		}
		if m.Transport == "" {
			return nil // only asked whether it may
		}
		_, _, err = beat(ctx, tx, m)
		return err
	})
}

// Beat implements fhir.MemberStore.
func (s *Store) Beat(ctx context.Context, m *fhir.Member) (fhir.DomainState, bool, error) {
	return beat(ctx, s.reserve, m)
}

// beat writes the member's row and reads the versions in one statement. It is
// committed, which a standby or a primary cut off from its synchronous standby
// cannot do: neither renews a lease. A domain of a later release does not count.
func beat(ctx context.Context, db interface {
	Query(ctx context.Context, sql string, args ...any) (pgx.Rows, error)
}, m *fhir.Member,
) (state fhir.DomainState, lapsed bool, err error) {
	v := m.Applied.Versions
	rows, err := db.Query(ctx, `WITH before AS (SELECT seen FROM cache_member WHERE id = $1),
	proved AS (SELECT clock_timestamp() AS at FROM cache_version HAVING bool_and(cache_lineage(epoch) = $6
		AND version <= CASE domain WHEN 'validation' THEN $7::bigint WHEN 'routing' THEN $8::bigint WHEN 'subscriptions' THEN $9::bigint ELSE version END)),
	beat AS (
		INSERT INTO cache_member (id, name, mode, transport, lease, lineage, validation, routing, subscriptions, address, software, level, proved)
		VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, (SELECT at FROM proved))
		ON CONFLICT (id) DO UPDATE SET seen = clock_timestamp(), transport = excluded.transport, lineage = excluded.lineage,
			validation = excluded.validation, routing = excluded.routing, subscriptions = excluded.subscriptions,
			proved = coalesce(excluded.proved, cache_member.proved))
	SELECT domain, version, cache_lineage(epoch), coalesce((SELECT seen < clock_timestamp() - $5 FROM before), true) FROM cache_version`,
		m.ID, m.Name, m.Mode, m.Transport, m.Lease, m.Applied.Lineage,
		v[fhir.DomainValidation], v[fhir.DomainRouting], v[fhir.DomainSubscriptions], m.Address, m.Software, m.Level)
	if err != nil {
		return state, false, err
	}
	state.Versions = fhir.DomainVersions{}
	var domain fhir.Domain
	var version int64
	_, err = pgx.ForEachRow(rows, []any{&domain, &version, &state.Lineage, &lapsed}, func() error {
		state.Versions[domain] = version
		return nil
	})
	return state, lapsed, err
}

// Members implements fhir.MemberStore.
func (s *Store) Members(ctx context.Context) ([]*fhir.Member, error) {
	rows, err := s.reserve.Query(ctx, `SELECT id::text, name, mode, transport, lease, started, lineage, validation, routing, subscriptions,
		seen > clock_timestamp() - 2 * lease, greatest(clock_timestamp() - seen, '0'), address, software, level,
		coalesce(greatest(clock_timestamp() - proved, '0'), '-1 second')
		FROM cache_member WHERE seen > clock_timestamp() - interval '1 hour' ORDER BY started, id`)
	if err != nil {
		return nil, err
	}
	return pgx.CollectRows(rows, func(row pgx.CollectableRow) (*fhir.Member, error) {
		var m fhir.Member
		var v [3]int64
		err := row.Scan(&m.ID, &m.Name, &m.Mode, &m.Transport, &m.Lease, &m.Started, &m.Applied.Lineage, &v[0], &v[1], &v[2], &m.Live, &m.Age,
			&m.Address, &m.Software, &m.Level, &m.LeaseAge)
		m.Applied.Versions = fhir.DomainVersions{}
		for i, domain := range fhir.Domains() {
			m.Applied.Versions[domain] = v[i]
		}
		return &m, err
	})
}

// Leave implements fhir.MemberStore. It also sweeps those that ended without.
func (s *Store) Leave(ctx context.Context, id string) error {
	_, err := s.reserve.Exec(ctx, `DELETE FROM cache_member WHERE id = $1 OR seen < clock_timestamp() - interval '1 day'`, id)
	return err
}
