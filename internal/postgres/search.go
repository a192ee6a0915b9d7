package postgres

import (
	"context"

	"github.com/jackc/pgx/v5"

	"starling/internal/fhir"
)

// searchCursor is the position after a page: matches stand in the order of
// their internal ids, so a resource that stays unchanged during the walk
// appears once.
type searchCursor struct {
	RID int64 `json:"r"`
}

// Search implements fhir.Store.
func (s *Store) Search(ctx context.Context, query *fhir.SearchQuery) (*fhir.SearchPage, error) {
	conn, err := s.requests.Acquire(ctx)
	if err != nil {
		return nil, report(ctx, err)
	}
	defer conn.Release()
	page, err := s.search(ctx, conn.Conn(), query)
	return page, report(ctx, err)
}

func (s *Store) search(ctx context.Context, conn *pgx.Conn, query *fhir.SearchQuery) (*fhir.SearchPage, error) {
	var cursor searchCursor
	if query.Cursor != "" {
		if err := decodeCursor(query.Cursor, &cursor); err != nil {
			return nil, err
		}
	}
	page := &fhir.SearchPage{Total: -1}
	if query.Total != fhir.TotalNone {
		if err := s.count(ctx, conn, query, page); err != nil {
			return nil, err
		}
	}
	if query.Count <= 0 {
		return page, nil
	}
	return page, s.matches(ctx, conn, query, cursor, page)
}

// count counts all matches; an estimate is not cheaper than the count yet.
func (s *Store) count(ctx context.Context, conn *pgx.Conn, query *fhir.SearchQuery, page *fhir.SearchPage) error {
	var b sqlBuilder
	b.write(`SELECT sum(n)::bigint FROM (`)
	for i, t := range query.Types {
		if i > 0 {
			b.write(` UNION ALL `)
		}
		b.write(`SELECT count(*) AS n`)
		if _, err := s.from(&b, t, query.Criteria, ""); err != nil {
			return err
		}
	}
	b.write(`) c`)
	return conn.QueryRow(ctx, b.String(), b.args...).Scan(&page.Total)
}

// matches reads a page, and one match more, which tells whether there is a
// next.
func (s *Store) matches(ctx context.Context, conn *pgx.Conn, query *fhir.SearchQuery, cursor searchCursor, page *fhir.SearchPage) error {
	var b sqlBuilder
	if err := s.pageSQL(&b, query, cursor); err != nil {
		return err
	}
	rows, err := conn.Query(ctx, b.String(), b.args...)
	if err != nil {
		return err
	}
	defer rows.Close()
	for rows.Next() {
		if len(page.Matches) == query.Count {
			page.Next = encodeCursor(cursor)
			break
		}
		v := rows.RawValues()
		cursor.RID = getInt8(v[0])
		page.Matches = append(page.Matches, resourceOf(fhir.Key{Type: s.types.name[getInt2(v[1])], ID: string(v[7])}, v[2:7]))
	}
	rows.Close()
	return rows.Err()
}

// pageSQL writes the statement of a page. Its rows are found first, and only
// their bodies read.
func (s *Store) pageSQL(b *sqlBuilder, query *fhir.SearchQuery, cursor searchCursor) error {
	limit, after := b.arg(int64(query.Count)+1), ""
	if cursor.RID != 0 {
		after = b.arg(cursor.RID)
	}
	b.write(`SELECT r.rid, r.type, v.version, v.updated, v.method, v.meta, v.body, r.id FROM (`)
	for i, t := range query.Types {
		if i > 0 {
			b.write(` UNION ALL `)
		}
		b.write(`(SELECT r.rid, r.type, r.id, r.version`)
		order, err := s.from(b, t, query.Criteria, after)
		if err != nil {
			return err
		}
		b.write(` ORDER BY `, order, ` LIMIT `, limit, `)`)
	}
	if len(query.Types) > 1 {
		b.write(` ORDER BY rid LIMIT `, limit)
	}
	b.write(`) r JOIN version v ON v.rid = r.rid AND v.version = r.version ORDER BY r.rid`)
	return nil
}

// from writes FROM and WHERE of a type's matches, as the row r of resource, with
// rids after the placeholder after. It gives the column that has them in order.
//
// Where criteria name values, the walk of their index rows drives and the
// current row is looked up for each: OFFSET 0 keeps the planner from turning
// that round, which without statistics it does, walking the whole type.
func (s *Store) from(b *sqlBuilder, t fhir.ResourceType, criteria fhir.Criterion, after string) (order string, err error) {
	typ, ok := s.types.number[t]
	if !ok {
		return "", fhir.NewError(fhir.KindNotFound, fhir.IssueNotSupported, "unknown resource type")
	}
	compiled := constant(true)
	if criteria != nil {
		c := criterionCompiler{sql: b, hash: s.hash, typ: t, typeID: typ, types: s.types.number}
		if compiled, err = c.compile(criteria); err != nil {
			return "", err
		}
	}
	drivers, rest := compiled.drivers()
	if len(drivers) == 0 {
		b.write(` FROM resource r WHERE r.type = `, b.arg(typ), ` AND NOT r.deleted AND `, compiled.where())
		if after != "" {
			b.write(` AND r.rid > `, after)
		}
		return `r.rid`, nil
	}
	b.write(` FROM (SELECT d.rid FROM (`, drivers[0].set(), `) d WHERE true`)
	for _, driver := range drivers[1:] {
		b.write(` AND d.rid IN (`, driver.set(), `)`)
	}
	if after != "" {
		b.write(` AND d.rid > `, after)
	}
	b.write(` ORDER BY d.rid OFFSET 0) d CROSS JOIN LATERAL (SELECT * FROM resource r WHERE r.rid = d.rid AND r.type = `, b.arg(typ), ` AND NOT r.deleted`)
	for _, driver := range drivers {
		if !driver.exact {
			b.write(` AND `, driver.test())
		}
	}
	for _, part := range rest {
		b.write(` AND `, part.where())
	}
	b.write(` OFFSET 0) r`)
	return `d.rid`, nil
}
