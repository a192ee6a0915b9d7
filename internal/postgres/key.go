package postgres

import (
	"context"
	"sync"
	"sync/atomic"

	"github.com/jackc/pgx/v5/pgxpool"

	"starling/internal/fhir"
)

// types maps resource types to their numbers. The numbers are rows of the
// database and never change, so they are read once.
type types struct {
	number map[fhir.ResourceType]int16
	name   map[int16]fhir.ResourceType
	system map[int16]bool // those that caches are built from
}

func loadTypes(ctx context.Context, pool *pgxpool.Pool) (types, error) {
	t := types{number: map[fhir.ResourceType]int16{}, name: map[int16]fhir.ResourceType{}, system: map[int16]bool{}}
	rows, err := pool.Query(ctx, `SELECT id, name FROM resource_type`)
	if err != nil {
		return t, err
	}
	defer rows.Close()
	for rows.Next() {
		var id int16
		var name string
		if err := rows.Scan(&id, &name); err != nil {
			return t, err
		}
		t.number[fhir.ResourceType(name)] = id
		t.name[id] = fhir.ResourceType(name)
		if _, system := fhir.DomainOf(fhir.ResourceType(name)); system {
			t.system[id] = true
		}
	}
	return t, rows.Err()
}

// ridBlock is how many internal ids an instance takes at a time; it equals the
// increment of the sequence resource_rid.
const ridBlock = 1024

// rids hands out internal ids.
type rids struct {
	pool *pgxpool.Pool

	mu    sync.Mutex
	next  int64
	limit int64
	taken atomic.Int64 // blocks
}

// forget drops what is left of the block: the database may give it out again.
func (r *rids) forget() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.next = r.limit
}

// take gives n ids.
func (r *rids) take(ctx context.Context, n int) ([]int64, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	ids := make([]int64, 0, n)
	for len(ids) < n {
		if r.next == r.limit {
			if err := r.pool.QueryRow(ctx, `SELECT nextval('resource_rid')`).Scan(&r.next); err != nil {
				return nil, err
			}
			r.limit = r.next + ridBlock
			r.taken.Add(1)
		}
		ids = append(ids, r.next)
		r.next++
	}
	return ids, nil
}
