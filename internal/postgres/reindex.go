package postgres

import (
	"bytes"
	"context"
	"slices"

	"starling/internal/fhir"
)

// reindexing is a walk over resources that are stored, in the order of their
// internal ids, which writes what they are found by anew.
type reindexing struct {
	store *Store
	types []int16
	index func(*fhir.Resource) (*fhir.Index, error)
	// add keeps what a resource is found by already, its words too; index gives
	// no words.
	add   bool
	limit int // resources a batch
	// basis, unless zero, must hold.
	basis fhir.Basis
}

// reindexBatch is how many resources are locked at a time: few enough that a
// write to one of them waits for milliseconds.
const reindexBatch = 128

// candidates are the next resources of a walk.
type candidates struct {
	typ  []int16
	id   []string
	last int64
}

// manyTypes is from how many types on all resources are walked, not each type.
const manyTypes = 16

func (r *reindexing) next(ctx context.Context, after, bound int64) (*candidates, error) {
	sql := `SELECT c.type, c.id, c.rid FROM unnest($1::smallint[]) t(type)
		CROSS JOIN LATERAL (SELECT * FROM resource r WHERE r.type = t.type AND NOT r.deleted AND r.rid > $2 AND r.rid <= $3 ORDER BY r.rid LIMIT $4) c
		ORDER BY c.rid LIMIT $4`
	if len(r.types) >= manyTypes {
		sql = `SELECT type, id, rid FROM resource WHERE rid > $2 AND rid <= $3 AND NOT deleted AND type = ANY ($1) ORDER BY rid LIMIT $4`
	}
	args := []any{r.types, after, bound, r.limit}
	if r.add {
		// What contains a resource of the types is found by it, too.
		var containing []int64
		for _, t := range r.types {
			containing = append(containing, r.store.hash.contains(r.store.types.name[t], 0))
		}
		args = append(args, containing)
		sql = `SELECT * FROM (SELECT * FROM (` + sql + `) t UNION
			(SELECT r.type, r.id, r.rid FROM search_key k JOIN resource r ON r.rid = k.rid
			WHERE k.hash = ANY ($5) AND k.rid > $2 AND k.rid <= $3 AND NOT r.deleted ORDER BY k.rid LIMIT $4)) c ORDER BY rid LIMIT $4`
	}
	rows, err := r.store.requests.Query(ctx, sql, args...)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	c := &candidates{}
	for rows.Next() {
		var typ int16
		var id string
		if err := rows.Scan(&typ, &id, &c.last); err != nil {
			return nil, err
		}
		c.typ, c.id = append(c.typ, typ), append(c.id, id)
	}
	return c, rows.Err()
}

// batch indexes candidates in a transaction of its own. They are locked before
// they are read, so what is written is the index of the version that is current,
// whoever else writes.
func (r *reindexing) batch(ctx context.Context, c *candidates) error {
	for attempt := 1; ; attempt++ {
		err := r.attempt(ctx, c)
		if err == nil || classify(err) != outcomeRetry || attempt == maxAttempts || ctx.Err() != nil {
			return err
		}
		backoff(ctx, attempt)
	}
}

func (r *reindexing) attempt(ctx context.Context, c *candidates) error {
	conn, err := r.store.requests.Acquire(ctx)
	if err != nil {
		return err
	}
	defer conn.Release()
	pg := conn.Conn().PgConn()
	p := startPipeline(ctx, pg)
	err = r.carryOut(p, c)
	if closeErr := p.Close(); err == nil {
		err = closeErr
	}
	if err != nil && !pg.IsClosed() && pg.TxStatus() != 'I' {
		if _, rollbackErr := pg.Exec(context.WithoutCancel(ctx), "ROLLBACK").ReadAll(); rollbackErr != nil {
			_ = conn.Conn().Close(ctx)
		}
	}
	return err
}

func (r *reindexing) carryOut(p *pipeline, c *candidates) error {
	items := make([]*item, len(c.id))
	for i := range items {
		items[i] = &item{typ: c.typ[i], write: &fhir.Write{Op: fhir.OpUpdate, Key: fhir.Key{Type: r.store.types.name[c.typ[i]], ID: c.id[i]}, Basis: r.basis}}
	}
	sortItems(items)
	var damaged error
	p.begin()
	enterFence(p, r.fencing(items), items, nil)
	lock(p, items, &damaged)
	if err := p.flush(); err != nil {
		return err
	}
	if damaged != nil {
		return damaged
	}
	items = slices.DeleteFunc(items, func(it *item) bool { return !it.found || it.deleted })
	if err := r.entries(p, items); err != nil {
		return err
	}
	var update resourceRows
	var changed rows
	for _, it := range items {
		it.ranges = it.entries.ranges.encode()
		if slices.Equal(it.entries.terms, it.before.terms) && bytes.Equal(it.ranges, it.before.ranges.encode()) {
			continue
		}
		update.add(it)
		changed.addEntries(it)
	}
	// Names that resources already have may be unknown to this instance.
	names := r.store.names.unknown(items)
	if len(names) > 0 {
		sendNames(p, names)
	}
	if len(update.rid) > 0 {
		p.send(stmtReindex, nil, int8Array(update.rid), int8Array(update.terms), int4Array(update.low), int4Array(update.high), byteaArray(update.ranges))
		changed.send(p)
	}
	p.send(stmtCommit, nil)
	if err := p.flush(); err != nil {
		return err
	}
	if tag := p.tags[len(p.tags)-1].String(); tag != "COMMIT" {
		return errNotCommitted
	}
	r.store.names.learn(names)
	return nil
}

// fencing is that of writes: nothing is changed that caches are built from. But who
// waits for the row of a system resource must not hold the fence as writes do.
func (r *reindexing) fencing(items []*item) fencing {
	if r.basis == (fhir.Basis{}) {
		return unfenced
	}
	if f := r.store.fencingOf(items); f != fencedChanges {
		return f
	}
	return fencedBoth
}

// entries computes what the locked items are found by.
func (r *reindexing) entries(p *pipeline, items []*item) error {
	var rid []int64
	var version []int32
	for _, it := range items {
		rid, version = append(rid, it.rid), append(version, it.version)
	}
	var failed error
	p.send(stmtCurrent, func(v [][]byte) {
		it := items[getInt8(v[0])-1]
		index, err := r.index(resourceOf(it.write.Key, v[1:6]))
		if err != nil {
			failed = err
			return
		}
		it.entries = r.store.hash.entriesOf(it.write.Type, index)
		it.wordTerms = r.store.hash.wordTerms(it.write.Type, it.entries.words)
		if r.add {
			it.entries.addAll(it.before)
			it.keepWords = true
		}
	}, int8Array(rid), int4Array(version))
	if err := p.flush(); err != nil {
		return err
	}
	return failed
}

// addAll adds the entries that a resource has already.
func (e *entries) addAll(before entries) {
	e.terms = append(e.terms, before.terms...)
	slices.Sort(e.terms)
	e.terms = slices.Compact(e.terms)
	e.ranges.dates = append(e.ranges.dates, before.ranges.dates...)
	e.ranges.numbers = append(e.ranges.numbers, before.ranges.numbers...)
	e.ranges.texts = append(e.ranges.texts, before.ranges.texts...)
	e.ranges.normalize()
}
