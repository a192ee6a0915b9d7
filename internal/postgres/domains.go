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
func (s *Store) Load(ctx context.Context, domain fhir.Domain, held fhir.DomainSnapshot) (d fhir.DomainSnapshot, err error) {
	snapshot := pgx.TxOptions{IsoLevel: pgx.RepeatableRead, AccessMode: pgx.ReadOnly}
	err = pgx.BeginTxFunc(ctx, s.reserve, snapshot, func(tx pgx.Tx) error {
		label := tx.QueryRow(ctx, labelDomain, domain)
		if err := label.Scan(&d.Version, &d.Lineage); err != nil {
			return err
		}
		// Of another lineage a version may have another content.
		if held.Lineage != d.Lineage || len(held.Resources) == 0 {
			d.Resources, err = s.domainResources(ctx, tx, domain)
		} else {
			d.Resources, err = s.domainChanges(ctx, tx, domain, held.Resources)
		}
		return err
	})
	return d, err
}

const (
	// labelDomain also keeps the statements after it to indexes, and from being
	// compiled, which takes a hundred times as long as they do.
	labelDomain = `SELECT version, cache_lineage(epoch)
		FROM cache_version, set_config('enable_seqscan', 'off', true) AS a, set_config('jit', 'off', true) AS b WHERE domain = $1`
	// What follows reads a few resources of a few types, of however many there are.
	// The planner takes every type for as frequent and would rather read all;
	// OFFSET 0 has it go from type to resource to version, one by one.
	fromDomain = ` FROM cache_domain_type d
		CROSS JOIN LATERAL (SELECT rid, id, version FROM resource WHERE type = d.type AND NOT deleted OFFSET 0) r
		CROSS JOIN LATERAL (SELECT * FROM version WHERE rid = r.rid AND version = r.version OFFSET 0) v
		WHERE d.domain = $1 ORDER BY r.rid`
	loadDomain   = `SELECT r.rid, d.type, r.id, v.version, v.updated, v.method, v.meta, v.body` + fromDomain
	listDomain   = `SELECT r.rid, d.type, r.id, v.version, v.updated` + fromDomain
	loadOfDomain = `SELECT r.rid, r.type, r.id, v.version, v.updated, v.method, v.meta, v.body
		FROM resource r JOIN version v ON v.rid = r.rid AND v.version = r.version WHERE r.rid = ANY($1)`
)

func (s *Store) domainResources(ctx context.Context, tx pgx.Tx, domain fhir.Domain) (all []*fhir.Resource, err error) {
	rows, err := tx.Query(ctx, loadDomain, domain)
	if err != nil {
		return nil, err
	}
	err = s.eachOfDomain(rows, func(_ int64, r *fhir.Resource) { all = append(all, r) })
	return all, err
}

// domainChanges is domainResources where most are held. It compares the version
// of every resource, and its time, since other programs may put another in its
// place; so it need not be told what has changed.
func (s *Store) domainChanges(ctx context.Context, tx pgx.Tx, domain fhir.Domain, held []*fhir.Resource) (all []*fhir.Resource, err error) {
	byKey := make(map[fhir.Key]*fhir.Resource, len(held))
	for _, r := range held {
		byKey[r.Key] = r
	}
	rows, err := tx.Query(ctx, listDomain, domain)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	var missing []int64
	place := map[int64]int{}
	for rows.Next() {
		v := rows.RawValues()
		r := byKey[fhir.Key{Type: s.types.name[getInt2(v[1])], ID: string(v[2])}]
		if r == nil || r.VersionID != int64(getInt4(v[3])) || !r.LastUpdated.Equal(timeOf(getInt8(v[4]))) {
			rid := getInt8(v[0])
			missing, place[rid] = append(missing, rid), len(all)
			r = nil
		}
		all = append(all, r)
	}
	if err := rows.Err(); err != nil || len(missing) == 0 {
		return all, err
	}
	rows, err = tx.Query(ctx, loadOfDomain, missing)
	if err != nil {
		return nil, err
	}
	return all, s.eachOfDomain(rows, func(rid int64, r *fhir.Resource) { all[place[rid]] = r })
}

func (s *Store) eachOfDomain(rows pgx.Rows, do func(rid int64, r *fhir.Resource)) error {
	defer rows.Close()
	for rows.Next() {
		v := rows.RawValues()
		key := fhir.Key{Type: s.types.name[getInt2(v[1])], ID: string(v[2])}
		do(getInt8(v[0]), resourceOf(key, v[3:8]))
	}
	return rows.Err()
}
