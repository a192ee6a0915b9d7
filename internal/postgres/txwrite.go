package postgres

import (
	"context"
	"errors"
	"slices"
	"strconv"

	"starling/internal/fhir"
)

// Apply implements fhir.Tx.
func (t *tx) Apply(ctx context.Context, writes []*fhir.Write) ([]fhir.WriteResult, error) {
	if len(writes) == 0 {
		return nil, nil
	}
	items, err := t.items(writes)
	if err != nil {
		return nil, err
	}
	sorted := slices.Clone(items)
	sortItems(sorted)
	p := startPipeline(ctx, t.conn)
	err = t.apply(ctx, p, items, sorted)
	if closeErr := p.Close(); err == nil {
		err = closeErr
	}
	if err != nil {
		var one *fhir.WriteError
		if errors.As(err, &one) {
			return nil, err
		}
		return nil, t.fail(ctx, err)
	}
	results := make([]fhir.WriteResult, len(items))
	for i, it := range items {
		if it.changes {
			it.result.LastUpdated = it.lastUpdated(t.state.now)
			t.made[it.write.Key] = it
		}
		results[i] = it.result
	}
	return results, nil
}

func (t *tx) items(writes []*fhir.Write) ([]*item, error) {
	seen := make(map[fhir.Key]struct{}, len(writes))
	items := make([]*item, len(writes))
	for i, w := range writes {
		if _, twice := seen[w.Key]; twice {
			return nil, &fhir.WriteError{Index: i, Err: fhir.NewError(fhir.KindInvalid, fhir.IssueInvalid, w.Key.String()+" is written twice")}
		}
		seen[w.Key] = struct{}{}
		it, err := t.store.newItem(w)
		if err != nil {
			return nil, &fhir.WriteError{Index: i, Err: err}
		}
		items[i] = it
	}
	return items, nil
}

func (t *tx) apply(ctx context.Context, p *pipeline, items, sorted []*item) error {
	var damaged error
	t.store.enter(items)
	f := t.store.fencingOf(items)
	// Names before the fence: whoever holds it never waits for another's.
	t.addNames(p, items)
	if f != unfenced {
		// An instance that is stopped now must not keep the others from changes.
		p.query(`SET LOCAL idle_in_transaction_session_timeout = '2s'`)
	}
	enterFence(p, f, items, t.state.begun)
	if !allCreates(items) {
		lock(p, sorted, &damaged)
		if err := p.flush(); err != nil {
			return err
		}
		if damaged != nil {
			return damaged
		}
	}
	if err := t.store.decideAll(ctx, sorted, t.state.now); err != nil {
		return err
	}
	for i, it := range items {
		if it.err != nil {
			return &fhir.WriteError{Index: i, Err: it.err}
		}
	}
	if err := claim(p, sorted); err != nil {
		return err
	}
	if len(itemsAgain(sorted)) > 0 {
		return errLostInsert
	}
	write(p, sorted)
	leaveFence(p, f, items)
	return p.flush()
}

// addNames queues the names that the database may not have.
func (t *tx) addNames(p *pipeline, items []*item) {
	if names := t.store.names.unknown(items); len(names) > 0 {
		sendNames(p, names)
		t.names = append(t.names, names...)
	}
}

// Amend implements fhir.Tx.
func (t *tx) Amend(ctx context.Context, writes []*fhir.Write) error {
	var r rows
	amended := make([]*item, 0, len(writes))
	for _, w := range writes {
		made := t.made[w.Key]
		if made == nil || w.Op == fhir.OpDelete {
			return errors.New("postgres: Amend of " + strconv.Quote(w.Key.String()) + ", which this transaction did not write")
		}
		it, err := t.store.newItem(w)
		if err != nil {
			return err
		}
		it.rid, it.version, it.before = made.rid, made.version, made.entries
		it.isNew, it.changes = made.isNew, true
		it.result = made.result
		it.updated = microsOf(made.result.LastUpdated)
		r.update.add(it)
		r.version.add(it)
		r.addEntries(it)
		amended = append(amended, it)
	}
	if len(amended) == 0 {
		return nil
	}
	v := r.version
	r.version = versionRows{}
	p := startPipeline(ctx, t.conn)
	t.addNames(p, amended)
	r.send(p)
	p.send(stmtAmend, nil, int8Array(v.rid), int4Array(v.version), textArray(v.meta), textArray(v.body))
	err := p.flush()
	if closeErr := p.Close(); err == nil {
		err = closeErr
	}
	if err != nil {
		return t.fail(ctx, err)
	}
	for _, it := range amended {
		t.made[it.write.Key] = it
	}
	return nil
}
