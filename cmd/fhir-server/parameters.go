package main

import (
	"context"

	"starling/internal/cache"
	"starling/internal/fhir"
	"starling/internal/fhir/definition"
	"starling/internal/fhir/search"
	"starling/internal/parameter"
)

// textSearches are the values of --text-search.
var textSearches = map[string]search.TextSearch{"off": search.TextOff, "narrative": search.TextNarrative, "all": search.TextAll}

// newParameters makes the cache of the search parameters, those of the
// specification and those stored, and what indexes and plans by them. text is a
// value of --text-search.
func newParameters(store fhir.DomainStore, codes searchedCodes, text string) (*cache.Cache[*parameter.Set], *parameter.Indexing) {
	base := search.New(definition.R4())
	base.UseTerminology(codes)
	base.UseTextSearch(textSearches[text])
	progress := &parameter.Progress{}
	routing := cache.New(fhir.DomainRouting, parameter.Builder(base, progress))
	progress.Lineage = func() string { return routing.Current().Lineage }
	return routing, &parameter.Indexing{
		Current: func() (fhir.Basis, *parameter.Set) {
			s := routing.Current()
			basis := fhir.Basis{Lineage: s.Lineage}
			basis.Versions[fhir.DomainRouting.Number()] = s.Version
			return basis, s.Value
		},
		Refresh:  func(ctx context.Context) error { return cache.FillOnce(ctx, store, routing) },
		Progress: progress,
	}
}

// loadParameters reads the search parameters for a command, which hears of no
// changes: its writes are refused and indexed anew after one.
func loadParameters(ctx context.Context, store fhir.DomainStore, text string) (*parameter.Indexing, error) {
	_, parameters := newParameters(store, nil, text)
	return parameters, parameters.Refresh(ctx)
}
