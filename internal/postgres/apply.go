package postgres

import (
	"context"

	"github.com/jackc/pgx/v5/pgconn"

	"starling/internal/fhir"
)

func (it *item) isDelete() bool { return it.write.Op == fhir.OpDelete }

// claims reports whether the item makes a resource under an id that another
// instance may be making, too.
func (it *item) claims() bool { return it.isNew && it.write.Op == fhir.OpUpdate }

// lock queues the statement that locks the existing resources among items, in
// canonical order, and reads their state. items are sorted.
func lock(p *pipeline, items []*item, damaged *error) {
	typ := make([]int16, len(items))
	id := make([]string, len(items))
	for i, it := range items {
		typ[i], id[i] = it.typ, it.write.ID
	}
	p.send(stmtLock, func(v [][]byte) {
		it := items[getInt8(v[0])-1]
		it.found = true
		it.rid, it.version, it.updated, it.deleted = getInt8(v[1]), getInt4(v[2]), getInt8(v[3]), getBool(v[4])
		it.before.terms = getInt8s(v[5])
		ranges, err := decodeRanges(v[6])
		if err != nil {
			*damaged = err
		}
		it.before.ranges = ranges
	}, int2Array(typ), textArray(id))
}

// decideAll decides items whose state is known and gives new resources their
// internal ids.
func (s *Store) decideAll(ctx context.Context, items []*item, now int64) error {
	fresh := 0
	for _, it := range items {
		it.decide(now)
		if it.isNew {
			fresh++
		}
	}
	if fresh == 0 {
		return nil
	}
	ids, err := s.rids.take(ctx, fresh)
	if err != nil {
		return err
	}
	for _, it := range items {
		if it.isNew {
			it.rid, ids = ids[0], ids[1:]
		}
	}
	return nil
}

// claim inserts the resources that updates create. Those another transaction
// made first are marked again.
func claim(p *pipeline, items []*item) error {
	var r resourceRows
	claimed := map[int64]*item{}
	for _, it := range items {
		if it.changes && it.claims() {
			r.add(it)
			claimed[it.rid] = it
			it.again = true
		}
	}
	if len(claimed) == 0 {
		return nil
	}
	p.send(stmtClaim, func(v [][]byte) { claimed[getInt8(v[0])].again = false }, r.insertParams()...)
	return p.flush()
}

// write queues the statements for the decided items.
func write(p *pipeline, items []*item) {
	var r rows
	for _, it := range items {
		if it.changes && !it.again {
			r.addItem(it)
		}
	}
	r.send(p)
}

func allCreates(items []*item) bool {
	for _, it := range items {
		if it.write.Op != fhir.OpCreate {
			return false
		}
	}
	return true
}

// commitState follows a batch's transaction, for the case that the connection
// is lost.
type commitState struct {
	// written is called when all is written and only the disk is waited for.
	written func()

	sent bool   // COMMIT was sent
	done bool   // COMMIT was answered
	xid  uint64 // 0 if not known
	pid  uint32 // of the backend; 0 if not known
	now  int64  // the transaction's clock, microseconds since 2000
}

// begun takes the answer of the first statement.
func (c *commitState) begun(v [][]byte) {
	c.now, c.xid, c.pid = getInt8(v[0]), uint64(getInt8(v[1])), uint32(getInt4(v[2]))
}

// applyBatch carries out items, sorted and with distinct keys, in a
// transaction of its own. On success each item has a result, an err, or again.
func (s *Store) applyBatch(ctx context.Context, conn *pgconn.PgConn, items []*item, state *commitState) error {
	p := startPipeline(ctx, conn)
	err := s.applyIn(ctx, p, items, state)
	if closeErr := p.Close(); err == nil {
		err = closeErr
	}
	return err
}

func (s *Store) applyIn(ctx context.Context, p *pipeline, items []*item, state *commitState) error {
	s.enter(items)
	// Names are committed by themselves, before any lock is held: it does no harm
	// to know one that no resource has.
	if names := s.names.unknown(items); len(names) > 0 {
		sendNames(p, names)
		if err := p.flush(); err != nil {
			return err
		}
		s.names.learn(names)
	}
	var damaged error
	p.begin()
	f := s.fencingOf(items)
	enterFence(p, f, items, state.begun)
	if !allCreates(items) {
		lock(p, items, &damaged)
		if err := p.flush(); err != nil {
			return err
		}
		if damaged != nil {
			return damaged
		}
	}
	if err := s.decideAll(ctx, items, state.now); err != nil {
		return err
	}
	if err := claim(p, items); err != nil {
		return err
	}
	write(p, items)
	leaveFence(p, f, items)
	p.then(state.written)
	p.send(stmtCommit, nil)
	state.sent = true
	if err := p.flush(); err != nil {
		return err
	}
	if tag := p.tags[len(p.tags)-1].String(); tag != "COMMIT" {
		return errNotCommitted
	}
	state.done = true
	for _, it := range items {
		if it.changes {
			it.result.LastUpdated = it.lastUpdated(state.now)
		}
	}
	return nil
}
