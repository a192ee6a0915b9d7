package interaction

import (
	"context"
	"maps"
	"slices"
	"strings"

	"starling/internal/fhir"
)

// planReferences parses the criteria of an entry's conditional references
// (https://hl7.org/fhir/R4/http.html#trules). For the validation each leads to
// some resource of its type.
func (t *transaction) planReferences(e *transactionEntry, likely *linkTargets) error {
	for i := range e.links {
		l := &e.links[i]
		if _, known := t.references[l.text]; known || l.kind != inConditional {
			continue
		}
		of, criteria, _ := strings.Cut(l.text, "?")
		condition, err := t.conditional(fhir.ResourceType(of), criteria, t.outer.Base)
		if err != nil {
			return err
		}
		t.references[l.text] = condition
		likely.references[l.text] = fhir.Key{Type: condition.Type, ID: newID()}.String()
	}
	return nil
}

// resolveBefore resolves the references to types the transaction does not
// write: what they lead to is there already.
func (a *attempt) resolveBefore(ctx context.Context) error {
	a.keys.references = make(map[string]string, len(a.references))
	return a.resolve(ctx, func(of fhir.ResourceType) bool { return !a.writing(of) })
}

// resolveAfter resolves the other references, which may lead to what the
// transaction wrote, and amends the resources that have them.
func (a *attempt) resolveAfter(ctx context.Context) error {
	before := maps.Clone(a.keys.references)
	if err := a.resolve(ctx, func(fhir.ResourceType) bool { return true }); err != nil {
		return err
	}
	if len(before) == len(a.keys.references) {
		return nil
	}
	var amended []*fhir.Write
	for i, write := range a.writes {
		e := a.entries[a.writers[i]]
		waited := slices.ContainsFunc(e.links, func(l link) bool {
			_, resolved := before[l.text]
			return l.kind == inConditional && !resolved
		})
		if !waited {
			continue
		}
		if err := a.fill(write, e); err != nil {
			return inEntry(e.number, err)
		}
		a.responses[e.number].Resource.Content = write.Content
		amended = append(amended, write)
	}
	return a.in(a.tx.Amend(ctx, amended))
}

// resolve searches for the resources that references of some types lead to,
// each once.
func (a *attempt) resolve(ctx context.Context, now func(fhir.ResourceType) bool) error {
	for _, number := range a.writers {
		e := a.entries[number]
		for i := range e.links {
			l := &e.links[i]
			condition := a.references[l.text]
			if _, done := a.keys.references[l.text]; done || l.kind != inConditional || !now(condition.Type) {
				continue
			}
			found, err := onlyMatch(ctx, a.tx, condition)
			if err == nil && found == nil {
				err = fhir.NewError(fhir.KindPreconditionFailed, fhir.IssueNotFound, "Nothing meets the criteria of the reference "+quote(l.text)+".")
			}
			if err != nil {
				return inEntry(e.number, err)
			}
			a.keys.references[l.text] = found.Key.String()
		}
	}
	return nil
}
