package postgres

import (
	"context"

	"github.com/jackc/pgx/v5"

	"starling/internal/fhir"
)

// ReadAll implements fhir.Finder.
func (s *Store) ReadAll(ctx context.Context, keys []fhir.VersionKey) (found []*fhir.Resource, err error) {
	err = s.limited(ctx, func(ctx context.Context) error {
		return s.withConn(ctx, func(conn *pgx.Conn) (err error) {
			found, err = s.readAll(ctx, conn, keys)
			return err
		})
	})
	return found, err
}

func (s *Store) readAll(ctx context.Context, conn *pgx.Conn, keys []fhir.VersionKey) ([]*fhir.Resource, error) {
	var requests []*readRequest
	for _, key := range keys {
		if typ, ok := s.types.number[key.Type]; ok && key.VersionID >= 0 && key.VersionID < 1<<31 {
			requests = append(requests, &readRequest{key: key.Key, typ: typ, version: int32(key.VersionID)})
		}
	}
	if len(requests) == 0 {
		return nil, nil
	}
	if err := fetch(ctx, conn.PgConn(), requests); err != nil {
		return nil, err
	}
	var found []*fhir.Resource
	for _, request := range requests {
		if request.resource != nil && !request.resource.Deleted() {
			found = append(found, request.resource)
		}
	}
	return found, nil
}

// Of each link no more than the first are read: a page has no room for more.
const referringSQL = `SELECT r.type, r.id, v.version, v.updated, v.method, v.meta, v.body
FROM (SELECT DISTINCT k.rid FROM unnest($1::bigint[]) h(hash)
  CROSS JOIN LATERAL (SELECT k.rid FROM search_key k WHERE k.hash = h.hash ORDER BY k.rid LIMIT $2) k ORDER BY k.rid LIMIT $2) k
CROSS JOIN LATERAL (SELECT * FROM resource r WHERE r.rid = k.rid AND NOT r.deleted OFFSET 0) r
CROSS JOIN LATERAL (SELECT * FROM version v WHERE v.rid = r.rid AND v.version = r.version OFFSET 0) v
ORDER BY k.rid`

// Referring implements fhir.Finder.
func (s *Store) Referring(ctx context.Context, links []fhir.Link, limit int) (found []*fhir.Resource, err error) {
	err = s.limited(ctx, func(ctx context.Context) error {
		return s.withConn(ctx, func(conn *pgx.Conn) (err error) {
			found, err = s.referring(ctx, conn, links, limit)
			return err
		})
	})
	return found, err
}

// referring finds resources by the terms of their references, which hold type,
// parameter and target, so one statement serves all links.
func (s *Store) referring(ctx context.Context, conn *pgx.Conn, links []fhir.Link, limit int) ([]*fhir.Resource, error) {
	if len(links) == 0 {
		return nil, nil
	}
	terms := make([]int64, len(links))
	for i, link := range links {
		terms[i] = s.hash.reference(link.Source, link.Param, link.Target.Type, link.Target.ID)
	}
	result, err := conn.Query(ctx, referringSQL, terms, int64(limit))
	if err != nil {
		return nil, err
	}
	defer result.Close()
	var found []*fhir.Resource
	for result.Next() {
		v := result.RawValues()
		found = append(found, resourceOf(fhir.Key{Type: s.types.name[getInt2(v[0])], ID: string(v[1])}, v[2:7]))
	}
	return found, result.Err()
}
