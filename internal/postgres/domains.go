package postgres

import (
	"context"

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

// Load implements fhir.DomainStore. Version and resources are read in one
// snapshot, so the label never promises more than the content holds.
func (s *Store) Load(ctx context.Context, domain fhir.Domain) (d fhir.DomainSnapshot, err error) {
	snapshot := pgx.TxOptions{IsoLevel: pgx.RepeatableRead, AccessMode: pgx.ReadOnly}
	err = pgx.BeginTxFunc(ctx, s.reserve, snapshot, func(tx pgx.Tx) error {
		label := tx.QueryRow(ctx, labelDomain, domain)
		if err := label.Scan(&d.Version, &d.Lineage); err != nil {
			return err
		}
		d.Resources, err = s.domainResources(ctx, tx, domain)
		return err
	})
	return d, err
}

const (
	// labelDomain also keeps the statement after it to indexes, and from being
	// compiled, which takes a hundred times as long as it does.
	labelDomain = `SELECT version, cache_lineage(epoch)
		FROM cache_version, set_config('enable_seqscan', 'off', true) AS a, set_config('jit', 'off', true) AS b WHERE domain = $1`
	// loadDomain reads a few resources of a few types, of however many there are.
	// The planner takes every type for as frequent and would rather read all;
	// OFFSET 0 has it go from type to resource to version, one by one.
	loadDomain = `SELECT d.type, r.id, v.version, v.updated, v.method, v.meta, v.body FROM cache_domain_type d
		CROSS JOIN LATERAL (SELECT rid, id, version FROM resource WHERE type = d.type AND NOT deleted OFFSET 0) r
		CROSS JOIN LATERAL (SELECT * FROM version WHERE rid = r.rid AND version = r.version OFFSET 0) v
		WHERE d.domain = $1 ORDER BY r.rid`
)

func (s *Store) domainResources(ctx context.Context, tx pgx.Tx, domain fhir.Domain) ([]*fhir.Resource, error) {
	rows, err := tx.Query(ctx, loadDomain, domain)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	var resources []*fhir.Resource
	for rows.Next() {
		v := rows.RawValues()
		key := fhir.Key{Type: s.types.name[getInt2(v[0])], ID: string(v[1])}
		resources = append(resources, resourceOf(key, v[2:7]))
	}
	return resources, rows.Err()
}
