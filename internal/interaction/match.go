package interaction

import (
	"context"

	"starling/internal/fhir"
)

// match runs the criteria of conditional interactions, in the order of the
// specification, and makes the list of writes, their contents apart.
func (a *attempt) match(ctx context.Context) error {
	for _, step := range []step{stepDelete, stepCreate, stepUpdate} {
		for _, e := range a.entries {
			if stepOf(e.request.Interaction) != step {
				continue
			}
			if err := a.matchEntry(ctx, e); err != nil {
				return inEntry(e.number, err)
			}
		}
	}
	return nil
}

func (a *attempt) matchEntry(ctx context.Context, e *transactionEntry) error {
	var found *fhir.Resource
	if e.condition != nil {
		var err error
		if found, err = a.find(ctx, *e.condition); err != nil {
			return err
		}
	}
	var write *fhir.Write
	var err error
	switch e.request.Interaction {
	case Delete, ConditionalDelete:
		if e.condition != nil && found == nil {
			a.responses[e.number] = deleted(fhir.WriteResult{NoChange: true})
			return nil
		}
		if found != nil {
			a.keys.keys[e.number] = found.Key
		}
		write = deletion(a.keys.keys[e.number])
		err = precondition(ctx, a.tx, e.request, write)
	case Create:
		if write = a.matchCreate(e, found); write == nil {
			return nil
		}
	case Update:
		write, err = a.updateOf(ctx, a.tx, e.request, e.prepared)
	case Patch, ConditionalPatch:
		write, err = a.matchPatch(ctx, e, found)
	case ConditionalUpdate:
		write, err = a.matchUpdate(ctx, e, found)
	}
	if err != nil {
		return err
	}
	a.writes, a.writers = append(a.writes, write), append(a.writers, e.number)
	return nil
}

// matchCreate is the write of a create; nil if its criteria found a resource,
// or if an entry before has the same criteria and so makes the resource.
func (a *attempt) matchCreate(e *transactionEntry, found *fhir.Resource) *fhir.Write {
	if found != nil {
		a.keys.keys[e.number] = found.Key
		a.responses[e.number] = existing(found)
		return nil
	}
	if e.condition != nil {
		criteria := "POST " + string(e.key.Type) + "?" + e.request.IfNoneExist
		if twin, made := a.made[criteria]; made {
			a.keys.keys[e.number], a.twins[e.number] = a.keys.keys[twin], twin
			return nil
		}
		a.made[criteria] = e.number
	}
	write := e.prepared.create(e.request.Type)
	write.Key = e.key
	return write
}

// matchUpdate is the write of a conditional update.
func (a *attempt) matchUpdate(ctx context.Context, e *transactionEntry, found *fhir.Resource) (*fhir.Write, error) {
	write, err := a.conditionalWrite(ctx, a.tx, e.request, e.prepared, found)
	if err != nil {
		return nil, err
	}
	if write.Op == fhir.OpCreate {
		write.Key = e.key // links have been promised it
		criteria := "PUT " + string(e.key.Type) + "?" + e.request.RawQuery
		if _, made := a.made[criteria]; made {
			return nil, writtenTwice("what meets " + quote(e.request.RawQuery))
		}
		a.made[criteria] = e.number
	}
	a.keys.keys[e.number] = write.Key
	return write, nil
}

// matchPatch is the write of a patch, made of the version current now.
func (a *attempt) matchPatch(ctx context.Context, e *transactionEntry, found *fhir.Resource) (write *fhir.Write, err error) {
	switch {
	case e.condition == nil:
		if found, err = a.tx.Read(ctx, e.key); err != nil {
			return nil, err
		}
	case found == nil:
		return nil, nothingToPatch(*e.condition)
	}
	write, a.issues[e.number], err = a.patched(ctx, a.tx, e.request, e.patch, found)
	return write, err
}

// find gives the one resource that meets a condition, nil if none does. What
// the transaction deletes is not there any more.
func (a *attempt) find(ctx context.Context, condition fhir.Condition) (*fhir.Resource, error) {
	var gone []fhir.Key
	for _, write := range a.writes {
		if write.Op == fhir.OpDelete && write.Type == condition.Type {
			gone = append(gone, write.Key)
		}
	}
	return onlyMatch(ctx, a.tx, condition, gone...)
}

// checkIdentities refuses a transaction that writes one resource twice.
func (a *attempt) checkIdentities() error {
	seen := make(map[fhir.Key]struct{}, len(a.writes))
	for i, write := range a.writes {
		if _, twice := seen[write.Key]; twice {
			return inEntry(a.writers[i], writtenTwice(write.Key.String()))
		}
		seen[write.Key] = struct{}{}
	}
	return nil
}

func writtenTwice(what string) error {
	return fhir.NewError(fhir.KindInvalid, fhir.IssueDuplicate, "The transaction writes "+what+" twice.")
}

// linkTargets says what links become.
type linkTargets struct {
	byURL map[string]int
	keys  []fhir.Key // by entry
	// references gives what a conditional reference became, by its text. One
	// that is missing stays as it is for now.
	references map[string]string
}

// likely is what links become if no criteria are met.
func (t *transaction) likely() linkTargets {
	targets := linkTargets{byURL: t.byURL, keys: make([]fhir.Key, len(t.entries))}
	for i, e := range t.entries {
		targets.keys[i] = e.key
	}
	return targets
}

// replacement is what a link becomes; ok is false for one that stays.
func (t *linkTargets) replacement(l *link) (text string, ok bool) {
	switch l.kind {
	case inConditional:
		text, ok = t.references[l.text]
		return text, ok
	case inNarrative:
		return rewriteNarrative(l.text, t.to), true
	}
	return t.to(l.text)
}

func (t *linkTargets) to(text string) (string, bool) {
	to, rest := splitLink(text)
	number, ok := t.byURL[to]
	if !ok {
		return "", false
	}
	return t.keys[number].String() + rest, true
}
