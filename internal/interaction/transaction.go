package interaction

import (
	"context"
	"errors"
	"time"

	jsonpatch "github.com/evanphx/json-patch/v5"

	"starling/internal/fhir"
	"starling/internal/fhir/element"
)

// transaction carries out a Bundle's entries all together or not at all
// (https://hl7.org/fhir/R4/http.html#trules). Everything that needs no look at
// what is stored is done before the database transaction begins; an attempt
// does the rest, once or, at the database's wish, more often.
func (s *Service) transaction(ctx context.Context, outer *Request, nodes element.Node) (*Response, error) {
	t := &transaction{Service: s, outer: outer, byURL: map[string]int{}}
	done, err := t.carryOut(ctx, nodes)
	if err != nil {
		return nil, ofBundle(err)
	}
	b := newBundle("transaction-response", time.Time{})
	for i, e := range t.entries {
		response, failure := done.responses[i], error(nil)
		if response == nil {
			response, failure = s.Serve(ctx, e.request)
		}
		b.add(e.request, response, inEntry(i, failure))
	}
	return &Response{Status: StatusOK, Body: b.end(), Changed: len(done.writes) > 0}, nil
}

func (t *transaction) carryOut(ctx context.Context, nodes element.Node) (done *attempt, err error) {
	if err := t.readEntries(nodes); err != nil {
		return nil, err
	}
	if err := t.prepareEntries(); err != nil {
		return nil, err
	}
	if err := t.readAhead(ctx); err != nil {
		return nil, err
	}
	err = t.Store.Transact(ctx, t.conditions, func(tx fhir.Tx) error {
		done = newAttempt(t, tx)
		return done.run(ctx)
	})
	return done, err
}

// ofBundle makes the failure of an entry that of its transaction. What says of
// the entry's URL that nothing is there would be wrong of the Bundle's.
func ofBundle(err error) error {
	var failure *fhir.Error
	if !errors.As(err, &failure) {
		return err
	}
	whole := *failure
	whole.Allow, whole.Resource = nil, nil
	switch whole.Kind {
	case fhir.KindNotFound, fhir.KindGone, fhir.KindMethodNotAllowed:
		whole.Kind = fhir.KindInvalid
	}
	return &whole
}

// transaction is a Bundle ready to be carried out.
type transaction struct {
	*Service
	outer   *Request
	entries []*transactionEntry
	byURL   map[string]int // number of the entry links lead to
	// conditions are those of conditional creates, updates and deletions.
	conditions []fhir.Condition
	// references are the criteria of conditional references, by their text.
	references map[string]fhir.Condition
}

// transactionEntry is an entry with what is known of it before an attempt.
type transactionEntry struct {
	*entry
	// condition is the criteria of a conditional interaction.
	condition *fhir.Condition
	// key is what the entry writes and links to it become. For a conditional
	// interaction it is what it writes if nothing matches.
	key   fhir.Key
	links []link
	// text is the resource as it is stored if the key turns out right and no
	// reference is conditional.
	text []byte
	*prepared
	patch jsonpatch.Patch
	// search is the plan of a search.
	search *searchPlan
	// response is the answer to a read that was made ahead.
	response *Response
}

// readEntries reads the entries and decides on their keys.
func (t *transaction) readEntries(nodes element.Node) error {
	number := 0
	for node := range nodes.Children() {
		read, err := t.entry(node, number, t.outer)
		if err != nil {
			return inEntry(number, err)
		}
		if read.request.Interaction == Operation {
			return inEntry(number, fhir.NewError(fhir.KindUnprocessable, fhir.IssueNotSupported,
				"An operation cannot be part of a transaction; a batch may have it."))
		}
		e := &transactionEntry{entry: read}
		if err := t.identify(e); err != nil {
			return inEntry(number, err)
		}
		t.entries = append(t.entries, e)
		number++
	}
	return nil
}

// identify finds an entry's criteria and the key it writes.
func (t *transaction) identify(e *transactionEntry) error {
	criteria := ""
	e.key = fhir.Key{Type: e.request.Type, ID: e.request.ID}
	switch e.request.Interaction {
	case Create:
		e.key.ID, criteria = newID(), e.request.IfNoneExist
	case Update:
		if err := checkID(e.request.resource.Get("id").Str(), e.request); err != nil {
			return err
		}
	case ConditionalUpdate:
		if e.key.ID = e.request.resource.Get("id").Str(); e.key.ID == "" {
			e.key.ID = newID()
		}
	case Patch, ConditionalPatch:
		var err error
		if e.patch, err = t.readPatch(e.request); err != nil {
			return err
		}
	case Delete, ConditionalDelete:
	default:
		return nil
	}
	conditional := criteria != ""
	switch e.request.Interaction {
	case ConditionalUpdate, ConditionalPatch, ConditionalDelete:
		conditional, criteria = true, e.request.RawQuery
	}
	if conditional {
		condition, err := t.conditional(e.request.Type, criteria, t.outer.Base)
		if err != nil {
			return err
		}
		e.condition = &condition
		t.conditions = append(t.conditions, condition)
	}
	if e.fullURL == "" || !e.request.resource.Exists() {
		return nil
	}
	if _, twice := t.byURL[e.fullURL]; twice {
		return fhir.NewError(fhir.KindInvalid, fhir.IssueDuplicate, "The fullUrl "+quote(e.fullURL)+" stands in two entries.").
			At(entryExpression(e.number) + ".fullUrl")
	}
	t.byURL[e.fullURL] = e.number
	return nil
}

// prepareEntries finds the links, and validates every resource as it is likely to be
// stored.
func (t *transaction) prepareEntries() error {
	t.references = map[string]fhir.Condition{}
	likely := t.likely()
	likely.references = map[string]string{}
	for _, e := range t.entries {
		if !e.request.resource.Exists() {
			continue
		}
		if err := t.prepareEntry(e, &likely); err != nil {
			return inEntry(e.number, err)
		}
	}
	return nil
}

func (t *transaction) prepareEntry(e *transactionEntry, likely *linkTargets) error {
	finder := linkFinder{
		definitions: t.Definitions, base: t.outer.Base, root: rootOf(e.fullURL, e.request.Type),
		leads: func(text string) bool {
			to, _ := splitLink(text)
			_, leads := t.byURL[to]
			return leads
		},
	}
	e.links = finder.find(e.request.resource, e.request.Type)
	if err := t.planReferences(e, likely); err != nil {
		return err
	}
	node := e.request.resource
	e.text = node.Raw()
	var err error
	if len(e.links) == 0 {
		e.prepared, err = t.accept(e.key.Type, node, t.outer.Base)
		return err
	}
	// A uuid that becomes a relative reference is no uuid any more, so what
	// is validated has its references replaced and nothing else.
	others := false
	checked := rewrite(e.text, e.links, func(l *link) (string, bool) {
		if l.kind != inReference && l.kind != inConditional {
			others = true
			return "", false
		}
		return likely.replacement(l)
	})
	tree, err := element.Parse(checked, t.limits())
	if err != nil {
		return err
	}
	if e.prepared, err = t.accept(e.key.Type, tree.Root(), t.outer.Base); err != nil {
		return err
	}
	if !others {
		e.text = checked
		return nil
	}
	e.text = rewrite(e.text, e.links, likely.replacement)
	return t.reread(e)
}

// reread takes an entry's text apart, keeping what the validation said.
func (t *transaction) reread(e *transactionEntry) error {
	p, err := t.apart(e.key.Type, e.text)
	if err != nil {
		return err
	}
	p.issues = e.prepared.issues
	e.prepared = p
	return nil
}

// apart takes the text of a valid resource apart.
func (t *transaction) apart(of fhir.ResourceType, text []byte) (*prepared, error) {
	tree, err := element.Parse(text, t.limits())
	if err != nil {
		return nil, err
	}
	return t.takeApart(of, tree.Root(), t.outer.Base)
}

// readAhead plans searches and carries out the reads that an open transaction
// has no part in: what they show does not change, or they are of the server.
// Histories are left for after the commit, so that they show it.
func (t *transaction) readAhead(ctx context.Context) (err error) {
	for _, e := range t.entries {
		switch e.request.Interaction {
		case SearchType, SearchSystem, SearchCompartment:
			e.search, err = t.plan(ctx, e.request)
		case HistoryInstance, HistoryType, HistorySystem:
			_, err = historyQuery(e.request)
		case VRead, Capabilities:
			e.response, err = t.Serve(ctx, e.request)
		}
		if err != nil {
			return inEntry(e.number, err)
		}
	}
	return nil
}

// in says of which entry the failure of one of several writes is.
func (a *attempt) in(err error) error {
	var failed *fhir.WriteError
	if errors.As(err, &failed) {
		return inEntry(a.writers[failed.Index], failed.Err)
	}
	return err
}
