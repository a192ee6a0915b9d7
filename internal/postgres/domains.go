package postgres

import (
	"context"
	"time"

	"github.com/jackc/pgx/v5"

	"starling/internal/fhir"
)

var _ fhir.MemberStore = (*Store)(nil)

// State implements fhir.MemberStore.
func (s *Store) State(ctx context.Context) (fhir.DomainState, error) {
	rows, err := s.reserve.Query(ctx, `SELECT domain, version, cache_lineage(epoch) FROM cache_version`)
	if err != nil {
		return fhir.DomainState{}, err
	}
	return scanState(rows)
}

func scanState(rows pgx.Rows) (fhir.DomainState, error) {
	state := fhir.DomainState{Versions: fhir.DomainVersions{}}
	var domain fhir.Domain
	var version int64
	_, err := pgx.ForEachRow(rows, []any{&domain, &version, &state.Lineage}, func() error {
		state.Versions[domain] = version
		return nil
	})
	return state, err
}

// Beginnings implements fhir.MemberStore. Each row becomes a state.
func (s *Store) Beginnings(ctx context.Context) ([]fhir.DomainState, error) {
	rows, err := s.reserve.Query(ctx, `SELECT lineage, domain, version FROM cache_lineage_start UNION ALL
		SELECT cache_lineage(epoch), domain, version FROM cache_version v
		WHERE NOT EXISTS (SELECT FROM cache_lineage_start s WHERE s.domain = v.domain AND s.lineage = cache_lineage(v.epoch))`)
	if err != nil {
		return nil, err
	}
	return pgx.CollectRows(rows, func(row pgx.CollectableRow) (fhir.DomainState, error) {
		state := fhir.DomainState{Versions: fhir.DomainVersions{}}
		var domain fhir.Domain
		var version int64
		err := row.Scan(&state.Lineage, &domain, &version)
		state.Versions[domain] = version
		return state, err
	})
}

// Load implements fhir.DomainStore. Version and resources are read by one
// statement, so the label never promises more than the content holds.
func (s *Store) Load(ctx context.Context, domain fhir.Domain, held fhir.DomainSnapshot) (fhir.DomainSnapshot, error) {
	d, err := s.readDomain(ctx, domain, held.Resources)
	if err == nil && len(held.Resources) > 0 && d.Lineage != held.Lineage {
		// Of another lineage a version may have another content.
		return s.readDomain(ctx, domain, nil)
	}
	return d, err
}

const (
	// planDomain keeps the statement after it to indexes, and from being compiled,
	// which takes a hundred times as long as it does.
	planDomain = `SELECT set_config('enable_seqscan', 'off', true), set_config('jit', 'off', true)`
	// selectDomain reads a few resources of a few types, of however many there are.
	// The planner takes every type for as frequent and would rather read all;
	// OFFSET 0 has it go from type to resource to version, one by one. What is held
	// is told by its place, and not sent again. Its time counts as well as its
	// version, since other programs may put another in its place; so nobody need
	// tell what has changed.
	selectDomain = `SELECT c.version, c.lineage, r.held, r.type, r.id, r.version, r.updated, r.method, r.meta, r.body
		FROM (SELECT version, cache_lineage(epoch) AS lineage FROM cache_version WHERE domain = $1 OFFSET 0) c
		LEFT JOIN (
			SELECT r.rid, h.held, d.type, r.id, v.version, v.updated, v.method,
				CASE WHEN h.held IS NULL THEN v.meta END AS meta, CASE WHEN h.held IS NULL THEN v.body END AS body
			FROM cache_domain_type d
			CROSS JOIN LATERAL (SELECT rid, id, version FROM resource WHERE type = d.type AND NOT deleted OFFSET 0) r
			CROSS JOIN LATERAL (SELECT * FROM version WHERE rid = r.rid AND version = r.version OFFSET 0) v
			LEFT JOIN unnest($2::smallint[], $3::text[], $4::int[], $5::timestamptz[])
				WITH ORDINALITY AS h(type, id, version, updated, held)
				ON h.type = d.type AND h.id = r.id AND h.version = v.version AND h.updated = v.updated
			WHERE d.domain = $1
		) r ON true ORDER BY r.rid`
)

// readDomain reads what is not held, in one round trip: all who are to apply a
// change do so at once.
func (s *Store) readDomain(ctx context.Context, domain fhir.Domain, held []*fhir.Resource) (d fhir.DomainSnapshot, err error) {
	var types []int16
	var ids []string
	var versions []int32
	var updated []time.Time
	for _, r := range held {
		types = append(types, s.types.number[r.Type])
		ids = append(ids, r.ID)
		versions = append(versions, int32(r.VersionID))
		updated = append(updated, r.LastUpdated)
	}
	batch := &pgx.Batch{}
	batch.Queue(planDomain)
	batch.Queue(selectDomain, domain, types, ids, versions, updated).Query(func(rows pgx.Rows) error {
		for rows.Next() {
			v := rows.RawValues()
			d.Version, d.Lineage = getInt8(v[0]), string(v[1])
			switch {
			case v[2] != nil:
				d.Resources = append(d.Resources, held[getInt8(v[2])-1])
			case v[3] != nil: // else the domain is empty
				key := fhir.Key{Type: s.types.name[getInt2(v[3])], ID: string(v[4])}
				d.Resources = append(d.Resources, resourceOf(key, v[5:10]))
			}
		}
		return rows.Err()
	})
	err = s.reserve.SendBatch(ctx, batch).Close()
	return d, err
}
