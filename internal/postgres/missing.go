package postgres

import (
	"context"

	"github.com/jackc/pgx/v5"

	"starling/internal/fhir"
)

// A sub-select that begins with OFFSET is looked up key by key, however many rows
// the tables have.
const missingSQL = `SELECT k.ord FROM unnest($1::smallint[], $2::text[], $3::integer[]) WITH ORDINALITY AS k(type, id, version, ord)
WHERE NOT EXISTS (SELECT FROM resource r WHERE r.type = k.type AND r.id = k.id AND CASE k.version WHEN 0 THEN NOT r.deleted
  ELSE EXISTS (SELECT FROM version v WHERE v.rid = r.rid AND v.version = k.version AND v.method <> $4 OFFSET 0) END OFFSET 0)`

// Missing implements fhir.Finder.
func (s *Store) Missing(ctx context.Context, keys []fhir.VersionKey) (missing []fhir.VersionKey, err error) {
	err = s.limited(ctx, func(ctx context.Context) error {
		return s.withConn(ctx, func(conn *pgx.Conn) (err error) {
			missing, err = s.missing(ctx, conn, keys)
			return err
		})
	})
	return missing, err
}

// Missing implements fhir.Finder.
func (t *tx) Missing(ctx context.Context, keys []fhir.VersionKey) ([]fhir.VersionKey, error) {
	missing, err := t.store.missing(ctx, t.pgx, keys)
	return missing, t.fail(ctx, err)
}

func (s *Store) missing(ctx context.Context, conn *pgx.Conn, keys []fhir.VersionKey) (missing []fhir.VersionKey, err error) {
	asked := make([]fhir.VersionKey, 0, len(keys))
	types, ids, versions := make([]int16, 0, len(keys)), make([]string, 0, len(keys)), make([]int32, 0, len(keys))
	for _, key := range keys {
		typ, ok := s.types.number[key.Type]
		if !ok || key.VersionID < 0 || key.VersionID >= 1<<31 {
			missing = append(missing, key)
			continue
		}
		asked = append(asked, key)
		types, ids, versions = append(types, typ), append(ids, key.ID), append(versions, int32(key.VersionID))
	}
	if len(asked) == 0 {
		return missing, nil
	}
	result, err := conn.Query(ctx, missingSQL, types, ids, versions, int16(fhir.MethodDelete))
	if err != nil {
		return nil, err
	}
	defer result.Close()
	for result.Next() {
		missing = append(missing, asked[getInt8(result.RawValues()[0])-1])
	}
	return missing, result.Err()
}
