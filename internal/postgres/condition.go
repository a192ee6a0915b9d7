package postgres

import (
	"cmp"
	"context"
	"encoding/binary"
	"slices"

	"github.com/jackc/pgx/v5/pgconn"

	"starling/internal/fhir"
)

// Classes of transaction-scoped advisory locks, pg_advisory_xact_lock(class, key).
const (
	lockType = 0x4b54 // one for each resource type
	lockTerm = 0x4b56 // stripes of (type, parameter, value)
)

// stripes bounds the locks conditions can hold: a lock for each distinct
// value would exhaust the server's shared memory.
const stripes = 4096

// conditionLock is an advisory lock. Of a type it is shared when the condition
// has equality terms, whose stripes are then exclusive; a condition without
// any takes its type exclusively and so meets all others of the type.
type conditionLock struct {
	class, key int32
	shared     bool
}

func compareLocks(a, b conditionLock) int {
	// The exclusive one first, so that compacting keeps it.
	return cmp.Or(cmp.Compare(a.class, b.class), cmp.Compare(a.key, b.key), cmp.Compare(boolInt(a.shared), boolInt(b.shared)))
}

func boolInt(b bool) int {
	if b {
		return 1
	}
	return 0
}

// conditionLocks gives the locks of conditions in canonical order.
func (s *Store) conditionLocks(conditions []fhir.Condition) []conditionLock {
	var locks []conditionLock
	for _, c := range conditions {
		terms, ok := s.equalityTerms(c.Type, c.Criteria)
		locks = append(locks, conditionLock{class: lockType, key: int32(s.types.number[c.Type]), shared: ok})
		for _, term := range terms {
			locks = append(locks, conditionLock{class: lockTerm, key: int32(uint64(term) >> 2 % stripes)})
		}
	}
	slices.SortFunc(locks, compareLocks)
	return slices.CompactFunc(locks, func(a, b conditionLock) bool { return a.class == b.class && a.key == b.key })
}

// equalityTerms gives the terms of which every resource that meets the
// criterion has at least one from each branch; ok is false if there is a
// branch without.
func (s *Store) equalityTerms(t fhir.ResourceType, c fhir.Criterion) (terms []int64, ok bool) {
	switch c := c.(type) {
	case fhir.And:
		for _, part := range c {
			if more, has := s.equalityTerms(t, part); has {
				terms, ok = append(terms, more...), true
			}
		}
		return terms, ok
	case fhir.Or:
		for _, part := range c {
			more, has := s.equalityTerms(t, part)
			if !has {
				return nil, false
			}
			terms = append(terms, more...)
		}
		return terms, len(c) > 0
	case fhir.IDIn:
		for _, id := range c {
			terms = append(terms, s.hash.term(t, "_id", termCode, id))
		}
		return terms, len(c) > 0
	case fhir.Token:
		if c.Code == nil || *c.Code == "" {
			return nil, false
		}
		// Case and system are left out: criteria that differ in them overlap.
		return []int64{s.hash.term(t, c.Param, termFolded, fhir.FoldCase(*c.Code))}, true
	case fhir.ReferenceTo:
		return []int64{s.hash.term(t, c.Param, termID, c.ID, c.URL)}, true
	}
	return nil, false
}

// takeLocks takes advisory locks one after the other, in one round trip.
func takeLocks(ctx context.Context, conn *pgconn.PgConn, locks []conditionLock) error {
	p := &pipeline{Pipeline: conn.StartPipeline(ctx)}
	for _, l := range locks {
		sql := `SELECT pg_advisory_xact_lock($1::int4, $2::int4)`
		if l.shared {
			sql = `SELECT pg_advisory_xact_lock_shared($1::int4, $2::int4)`
		}
		p.query(sql, binary.BigEndian.AppendUint32(nil, uint32(l.class)), binary.BigEndian.AppendUint32(nil, uint32(l.key)))
	}
	err := p.flush()
	if closeErr := p.Close(); err == nil {
		err = closeErr
	}
	return err
}
