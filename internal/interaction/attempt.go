package interaction

import (
	"context"
	"slices"

	"starling/internal/fhir"
)

// attempt is one run of a transaction in a database transaction. All that an
// attempt finds out stays in it, since there may be another.
type attempt struct {
	*transaction
	tx        fhir.Tx
	keys      linkTargets
	responses []*Response // by entry

	writes  []*fhir.Write
	writers []int // the entry of each write
	// made gives the entry that makes what criteria did not find, and twins,
	// for a conditional create with equal ones, that entry.
	made  map[string]int
	twins map[int]int
	// issues are what the validation had to say of patched resources.
	issues map[int][]fhir.Issue
}

func newAttempt(t *transaction, tx fhir.Tx) *attempt {
	return &attempt{
		transaction: t, tx: tx, keys: t.likely(), responses: make([]*Response, len(t.entries)),
		made: map[string]int{}, twins: map[int]int{}, issues: map[int][]fhir.Issue{},
	}
}

// run carries the transaction out in the order of the specification:
// deletions, creates, updates, reads.
func (a *attempt) run(ctx context.Context) error {
	if err := a.match(ctx); err != nil {
		return err
	}
	if err := a.checkIdentities(); err != nil {
		return err
	}
	if err := a.resolveBefore(ctx); err != nil {
		return err
	}
	if err := a.write(ctx); err != nil {
		return err
	}
	if err := a.resolveAfter(ctx); err != nil {
		return err
	}
	if err := a.follow(ctx); err != nil {
		return err
	}
	return a.readBack(ctx)
}

// write fills the contents of creates and updates and applies all writes.
func (a *attempt) write(ctx context.Context) error {
	for i, write := range a.writes {
		e := a.entries[a.writers[i]]
		if e.prepared == nil {
			continue // a deletion has no content, and a patch has it already
		}
		if err := a.fill(write, e); err != nil {
			return inEntry(e.number, err)
		}
	}
	if len(a.writes) == 0 {
		return nil
	}
	results, err := a.tx.Apply(ctx, a.writes)
	if err != nil {
		return a.in(err)
	}
	for i, result := range results {
		number := a.writers[i]
		switch p := a.entries[number].prepared; {
		case a.writes[i].Op == fhir.OpDelete:
			a.responses[number] = deleted(result)
		case p == nil:
			a.responses[number] = written(a.writes[i], result, a.issues[number])
		default:
			a.responses[number] = written(a.writes[i], result, p.issues)
		}
	}
	for number, twin := range a.twins {
		a.responses[number] = existing(a.responses[twin].Resource)
	}
	return nil
}

// fill gives a write the content of its entry, links rewritten.
func (a *attempt) fill(write *fhir.Write, e *transactionEntry) error {
	p := e.prepared
	if len(e.links) > 0 && len(a.conditions)+len(a.references) > 0 {
		text := rewrite(e.request.resource.Raw(), e.links, a.keys.replacement)
		if string(text) != string(e.text) {
			var err error
			if p, err = a.apart(write.Type, text); err != nil {
				return err
			}
		}
	}
	write.Content, write.Index = p.Content, p.index
	return nil
}

// readBack answers the reads, which see what the transaction wrote.
func (a *attempt) readBack(ctx context.Context) error {
	for _, e := range a.entries {
		response, err := a.answerRead(ctx, e)
		if err != nil {
			return inEntry(e.number, err)
		}
		if response != nil {
			a.responses[e.number] = response
		}
	}
	return nil
}

// answerRead gives the answer to a read, nil for other interactions and
// histories.
func (a *attempt) answerRead(ctx context.Context, e *transactionEntry) (*Response, error) {
	switch {
	case e.response != nil:
		return e.response, nil
	case e.search != nil:
		return a.answerSearch(ctx, a.tx, e.search)
	case e.request.Interaction == Read:
		resource, err := a.tx.Read(ctx, e.key)
		if err != nil {
			return nil, err
		}
		return a.show(e.request, resource)
	}
	return nil, nil
}

// writing reports whether the transaction writes a resource of that type.
func (a *attempt) writing(t fhir.ResourceType) bool {
	return slices.ContainsFunc(a.writes, func(w *fhir.Write) bool { return w.Type == t })
}
