package postgres

import (
	"context"
	"math"
	"slices"
	"time"

	"github.com/jackc/pgx/v5"

	"starling/internal/fhir"
)

var _ fhir.ReindexStore = (*Store)(nil)

// ParameterStates implements fhir.ReindexStore.
func (s *Store) ParameterStates(ctx context.Context) ([]fhir.ParameterState, error) {
	rows, err := s.reserve.Query(ctx, `SELECT param, types, p.version, done, total, complete, cache_lineage(epoch)
		FROM search_parameter p, cache_version WHERE domain = 'routing' ORDER BY param`)
	if err != nil {
		return nil, err
	}
	var all []fhir.ParameterState
	var state fhir.ParameterState
	var types []int16
	_, err = pgx.ForEachRow(rows, []any{&state.Param, &types, &state.Version, &state.Done, &state.Total, &state.Complete, &state.Lineage}, func() error {
		state.Types = nil
		for _, t := range types {
			state.Types = append(state.Types, s.types.name[t])
		}
		all = append(all, state)
		return nil
	})
	return all, err
}

// KeepParameters implements fhir.ReindexStore.
func (s *Store) KeepParameters(ctx context.Context, params []fhir.ParameterState) error {
	names := make([]string, len(params))
	return pgx.BeginFunc(ctx, s.reserve, func(tx pgx.Tx) error {
		for i, p := range params {
			names[i] = p.Param
			_, err := tx.Exec(ctx, `INSERT INTO search_parameter AS p (param, types, version) VALUES ($1, $2, $3)
				ON CONFLICT (param) DO UPDATE SET version = $3,
					position = CASE WHEN p.version + 1 < $3 THEN 0 ELSE p.position END, done = CASE WHEN p.version + 1 < $3 THEN 0 ELSE p.done END,
					total = CASE WHEN p.version + 1 < $3 THEN 0 ELSE p.total END, complete = p.complete AND p.version + 1 >= $3
				WHERE p.version < $3`, p.Param, s.numbers(p.Types), p.Version)
			if err != nil {
				return err
			}
		}
		_, err := tx.Exec(ctx, `DELETE FROM search_parameter WHERE param <> ALL ($1)`, names)
		return err
	})
}

func (s *Store) numbers(types []fhir.ResourceType) []int16 {
	numbers := make([]int16, 0, len(types))
	for _, t := range types {
		if n, ok := s.types.number[t]; ok {
			numbers = append(numbers, n)
		}
	}
	slices.Sort(numbers)
	return numbers
}

// IndexParameters implements fhir.ReindexStore.
func (s *Store) IndexParameters(ctx context.Context, params []string, index func(*fhir.Resource) (*fhir.Index, error)) (bool, error) {
	leading, leave, first, err := s.leadJob(ctx)
	if err != nil || !first {
		return false, err
	}
	defer leave()
	err = s.indexParameters(leading, params, index)
	if err != nil && leading.Err() != nil && ctx.Err() == nil {
		return false, nil // another has taken its place
	}
	return true, err
}

func (s *Store) indexParameters(ctx context.Context, params []string, index func(*fhir.Resource) (*fhir.Index, error)) error {
	if err := s.awaitOlder(ctx); err != nil {
		return err
	}
	var after, bound, done, versions int64
	r := reindexing{store: s, index: index, add: true, limit: reindexBatch}
	err := s.reserve.QueryRow(ctx, `SELECT coalesce(min(p.position), 0), coalesce(min(p.done), 0), coalesce((SELECT max(rid) FROM resource), 0),
			coalesce(array_agg(DISTINCT t), '{}'), (SELECT coalesce(sum(version), 0)::bigint FROM search_parameter WHERE param = ANY ($1))
		FROM search_parameter p LEFT JOIN unnest(p.types) t ON true WHERE p.param = ANY ($1) AND NOT p.complete`, params).Scan(&after, &done, &bound, &r.types, &versions)
	if err != nil {
		return err
	}
	// What is left is about as much as the types have beyond the position.
	if _, err := s.reserve.Exec(ctx, `UPDATE search_parameter p SET total = (SELECT count(*) FROM resource r WHERE r.type = ANY (p.types) AND NOT r.deleted)
		WHERE p.param = ANY ($1) AND NOT p.complete AND p.total = 0`, params); err != nil {
		return err
	}
	for {
		start := time.Now()
		c, err := r.next(ctx, after, bound)
		if err != nil {
			return err
		}
		// What was kept anew since may have to begin anew.
		const unchanged = ` AND (SELECT sum(version) FROM search_parameter WHERE param = ANY ($1)) = `
		if len(c.id) == 0 {
			tag, err := s.reserve.Exec(ctx, `UPDATE search_parameter SET complete = true WHERE param = ANY ($1)`+unchanged+`$2`, params, versions)
			if err == nil && tag.RowsAffected() == 0 {
				return fhir.ErrStale
			}
			return err
		}
		if err := r.batch(ctx, c); err != nil {
			return err
		}
		after, done = c.last, done+int64(len(c.id))
		tag, err := s.reserve.Exec(ctx, `UPDATE search_parameter SET position = greatest(position, $2), done = greatest(done, $3), total = greatest(total, $3)
			WHERE param = ANY ($1) AND NOT complete`+unchanged+`$4`, params, after, done, versions)
		if err != nil {
			return err
		}
		if tag.RowsAffected() == 0 {
			return fhir.ErrStale
		}
		// Half of the time is left to the others.
		select {
		case <-time.After(time.Since(start)):
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// awaitOlder waits until the transactions under way have ended. Those are the ones
// that the fence may have let through before the parameters were committed.
func (s *Store) awaitOlder(ctx context.Context) error {
	var now uint64
	if err := s.reserve.QueryRow(ctx, `SELECT pg_current_xact_id()::text::bigint`).Scan(&now); err != nil {
		return err
	}
	for attempt := 1; ; attempt++ {
		var oldest uint64
		if err := s.reserve.QueryRow(ctx, `SELECT pg_snapshot_xmin(pg_current_snapshot())::text::bigint`).Scan(&oldest); err != nil {
			return err
		}
		if oldest > now {
			return nil
		}
		if ctx.Err() != nil {
			return ctx.Err()
		}
		backoff(ctx, min(attempt, 8))
	}
}

// Reindex implements fhir.ReindexStore.
func (s *Store) Reindex(ctx context.Context, types []fhir.ResourceType, basis fhir.Basis, index func(*fhir.Resource) (*fhir.Index, error),
	progress func(done, total int64),
) error {
	r := reindexing{store: s, types: s.numbers(types), index: index, limit: reindexBatch, basis: basis}
	var after, total, done int64
	err := s.reserve.QueryRow(ctx, `SELECT coalesce(max(position), 0) FROM reindex WHERE types = $1`, r.types).Scan(&after)
	if err != nil {
		return report(ctx, err)
	}
	err = s.reserve.QueryRow(ctx, `SELECT count(*), count(*) FILTER (WHERE rid <= $2) FROM resource WHERE type = ANY ($1) AND NOT deleted`, r.types, after).Scan(&total, &done)
	if err != nil {
		return report(ctx, err)
	}
	for {
		c, err := r.next(ctx, after, math.MaxInt64)
		if err != nil {
			return report(ctx, err)
		}
		if len(c.id) == 0 {
			_, err := s.reserve.Exec(ctx, `DELETE FROM reindex WHERE types = $1`, r.types)
			return report(ctx, err)
		}
		if err := r.batch(ctx, c); err != nil {
			return report(ctx, err)
		}
		after, done = c.last, done+int64(len(c.id))
		if _, err := s.reserve.Exec(ctx, `INSERT INTO reindex (types, position) VALUES ($1, $2)
			ON CONFLICT (types) DO UPDATE SET position = excluded.position`, r.types, after); err != nil {
			return report(ctx, err)
		}
		progress(done, max(total, done))
	}
}
