package postgres

import (
	"context"
	"encoding/json"
	"errors"

	"github.com/jackc/pgx/v5"

	"starling/internal/fhir"
)

// total is the number of matches of all pages; -1 if it was not asked for.
type total struct {
	matches   int64
	estimated bool
}

// exactBelow is the estimate up to which counting costs next to nothing, so
// the count is given instead.
const exactBelow = 10_000

// total counts the matches. A count that takes too long gives way to the
// planner's estimate.
func (s *Store) total(ctx context.Context, query *fhir.SearchQuery, sizes sizes) (t total, err error) {
	if t, done, err := s.knownTotal(query); done || err != nil {
		return t, err
	}
	if query.Total == fhir.TotalEstimate {
		err = s.withConn(ctx, func(conn *pgx.Conn) (err error) {
			t, err = s.estimate(ctx, conn, query)
			return err
		})
		if err != nil || t.matches >= exactBelow {
			return t, err
		}
	}
	shorter, cancel := context.WithTimeout(ctx, s.searchTimeout/countShare)
	defer cancel()
	err = s.withConn(shorter, func(conn *pgx.Conn) (err error) {
		t, err = s.count(shorter, conn, query, sizes)
		return err
	})
	if err == nil || shorter.Err() == nil || ctx.Err() != nil {
		return t, err
	}
	err = s.withConn(ctx, func(conn *pgx.Conn) (err error) {
		t, err = s.estimate(ctx, conn, query)
		return err
	})
	return t, err
}

// knownTotal is the total that needs no look into the database.
func (s *Store) knownTotal(query *fhir.SearchQuery) (t total, known bool, err error) {
	t.matches = -1
	if query.Cursor != "" {
		cursor, err := s.decodeSearchCursor(query)
		if err != nil {
			return t, false, err
		}
		if cursor.Total != nil {
			return cursor.total, true, nil
		}
	}
	return t, query.Total == fhir.TotalNone, nil
}

func (s *Store) count(ctx context.Context, conn *pgx.Conn, query *fhir.SearchQuery, sizes sizes) (total, error) {
	var b sqlBuilder
	t, estimated, err := s.sample(ctx, conn, query, sizes)
	if err != nil || estimated {
		return t, err
	}
	if err := s.countSQL(&b, query, sizes); err != nil {
		return t, err
	}
	return t, b.scan(ctx, conn, &t.matches)
}

// countSQL counts rids in the indexes where those tell, else the rows.
func (s *Store) countSQL(b *sqlBuilder, query *fhir.SearchQuery, sizes sizes) error {
	b.write(`SELECT sum(n)::bigint FROM (SELECT 0 AS n`)
	for _, t := range query.Types {
		one, err := s.scan(b, t, query.Criteria, sizes)
		switch {
		case err != nil:
			return err
		case one.never:
			continue
		}
		if query.AsContained {
			inner, err := s.innerMatches(b, query.Criteria)
			if err != nil {
				return err
			}
			b.write(` UNION ALL SELECT coalesce(sum(cardinality(`, inner, `)), 0)`)
			one.from(everywhere, ``)
			continue
		}
		if one.told() {
			b.write(` UNION ALL SELECT `, one.counted())
			continue
		}
		b.write(` UNION ALL SELECT count(*)`)
		one.from(everywhere, ``)
	}
	b.write(`) c`)
	return nil
}

var errNoPlan = errors.New("postgres: EXPLAIN gave no plan")

// estimate asks the planner how many rows it expects, from its statistics.
func (s *Store) estimate(ctx context.Context, conn *pgx.Conn, query *fhir.SearchQuery) (total, error) {
	var b sqlBuilder
	b.write(`EXPLAIN (FORMAT JSON) `)
	between := ``
	for _, t := range query.Types {
		one, err := s.scan(&b, t, query.Criteria, nil)
		switch {
		case err != nil:
			return total{}, err
		case one.never:
			continue
		}
		b.write(between, `SELECT r.rid`)
		one.from(everywhere, ``)
		between = ` UNION ALL `
	}
	if between == `` {
		return total{}, nil
	}
	var text []byte
	if err := b.scan(ctx, conn, &text); err != nil {
		return total{}, err
	}
	var plans []struct {
		Plan struct {
			Rows float64 `json:"Plan Rows"`
		}
	}
	if err := json.Unmarshal(text, &plans); err != nil || len(plans) == 0 {
		return total{}, errors.Join(errNoPlan, err)
	}
	return total{int64(plans[0].Plan.Rows), true}, nil
}
