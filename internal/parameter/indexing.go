package parameter

import (
	"context"
	"strconv"
	"sync"
	"sync/atomic"

	"starling/internal/fhir"
	"starling/internal/fhir/definition"
	"starling/internal/fhir/element"
	"starling/internal/fhir/search"
)

// Indexing indexes and plans by the search parameters as they are when it is
// asked, and labels what it indexes with their version.
type Indexing struct {
	// Current gives the newest set, and its version of the domain routing.
	Current func() (fhir.Basis, *Set)
	// Refresh reads the set anew.
	Refresh  func(ctx context.Context) error
	Progress *Progress

	refreshing sync.Mutex
	base       atomic.Pointer[string] // of the last request
}

// newest gives the current search.
func (x *Indexing) newest() *search.Search {
	_, set := x.Current()
	return set.Search
}

// Index implements interaction.Indexer.
func (x *Indexing) Index(t fhir.ResourceType, root element.Node, base string) (*fhir.Index, error) {
	if last := x.base.Load(); last == nil || *last != base {
		x.base.Store(&base)
	}
	basis, set := x.Current()
	index, err := set.Search.Index(t, root, base)
	if err == nil {
		index.Basis, index.Base = basis, base
	}
	return index, err
}

// again indexes a write by the current parameters.
func (x *Indexing) again(write *fhir.Write) (*fhir.Write, error) {
	if write.Index == nil || write.Index.Basis == (fhir.Basis{}) {
		return write, nil
	}
	root, err := element.ParseStored(&fhir.Resource{Key: write.Key, Content: write.Content})
	if err != nil {
		return nil, err
	}
	next := *write
	next.Index, err = x.Index(write.Type, root, write.Index.Base)
	return &next, err
}

// renew reads the parameters anew unless someone has since.
func (x *Indexing) renew(ctx context.Context, since fhir.Basis) error {
	x.refreshing.Lock()
	defer x.refreshing.Unlock()
	if basis, _ := x.Current(); basis != since {
		return nil
	}
	return x.Refresh(ctx)
}

// Plan implements interaction.Planner.
func (x *Indexing) Plan(types []fhir.ResourceType, rawQuery string, strict bool, base string) (*fhir.SearchQuery, []string, error) {
	return x.newest().Plan(types, rawQuery, strict, base)
}

// PlanConditional implements interaction.Planner.
func (x *Indexing) PlanConditional(t fhir.ResourceType, rawQuery, base string) (fhir.Criterion, error) {
	return x.newest().PlanConditional(t, rawQuery, base)
}

// Includes implements interaction.Planner.
func (x *Indexing) Includes(t fhir.ResourceType) []string { return x.newest().Includes(t) }

// RevIncludes implements interaction.Planner.
func (x *Indexing) RevIncludes(t fhir.ResourceType) []fhir.Include { return x.newest().RevIncludes(t) }

// Canonicals implements interaction.Planner.
func (x *Indexing) Canonicals(source fhir.ResourceType, param string) []fhir.ResourceType {
	return x.newest().Canonicals(source, param)
}

// Unserved implements interaction.Planner.
func (x *Indexing) Unserved(t fhir.ResourceType) []search.Unserved { return x.newest().Unserved(t) }

// Served lists the search parameters of a type, those that are being indexed
// included.
func (x *Indexing) Served(t fhir.ResourceType) []*definition.SearchParameter {
	return x.newest().Served(t)
}

// Note says how far a parameter is indexed; empty if it is.
func (x *Indexing) Note(d *definition.SearchParameter) string {
	if d.Generation == "" {
		return ""
	}
	_, set := x.Current()
	return x.Progress.text(d.Param(), set.versions[d.Param()])
}

// Revision changes with whatever the CapabilityStatement says of search
// parameters.
func (x *Indexing) Revision() string {
	basis, _ := x.Current()
	return basis.Lineage + "." + strconv.FormatInt(basis.Versions[fhir.DomainRouting.Number()], 10) + "." + strconv.FormatInt(x.Progress.revision.Load(), 10)
}
