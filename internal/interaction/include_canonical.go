package interaction

import (
	"context"
	"slices"

	"starling/internal/fhir"
	"starling/internal/fhir/element"
)

// byCanonical is a reference to a canonical: its address, and its version, if it
// matters.
type byCanonical struct{ url, version string }

// canonicals finds the resources that others refer to by their canonicals. Of
// several with one address all are included whose version the reference allows.
func (i *inclusion) canonicals(ctx context.Context, wanted map[fhir.ResourceType]map[byCanonical]bool) error {
	var types []fhir.ResourceType
	var criteria fhir.Or
	for t, references := range wanted {
		types = append(types, t)
		for reference := range references {
			criteria = append(criteria, fhir.And{fhir.TypeIs(t), fhir.URI{Param: "url", URI: reference.url}})
		}
	}
	slices.Sort(types)
	found, err := i.search(ctx, types, criteria)
	if err != nil {
		return err
	}
	i.add(slices.DeleteFunc(found, func(r *fhir.Resource) bool {
		url, version, err := addressOf(r)
		references := wanted[r.Type]
		return err != nil || !references[byCanonical{url, ""}] && (version == "" || !references[byCanonical{url, version}])
	}))
	return nil
}

// referringByCanonical finds the resources that refer to others by their
// canonicals in one of these ways.
func (i *inclusion) referringByCanonical(ctx context.Context, to []*fhir.Resource, ways map[fhir.ResourceType][]fhir.Include) error {
	type way struct {
		source fhir.ResourceType
		param  string
		url    string
	}
	versions := map[way]map[string]bool{} // those of the resources referred to
	var types []fhir.ResourceType
	var criteria fhir.Or
	for _, resource := range to {
		for _, include := range ways[resource.Type] {
			if !slices.Contains(i.service.Planner.Canonicals(include.Source, include.Param), resource.Type) {
				continue
			}
			url, version, err := addressOf(resource)
			if err != nil || url == "" {
				continue
			}
			w := way{include.Source, include.Param, url}
			if versions[w] == nil {
				versions[w] = map[string]bool{}
				types = append(types, w.source)
				criteria = append(criteria, fhir.And{fhir.TypeIs(w.source), fhir.ReferenceTo{Param: w.param, URL: url}})
			}
			versions[w][version] = true
		}
	}
	slices.Sort(types)
	found, err := i.search(ctx, slices.Compact(types), criteria)
	if err != nil {
		return err
	}
	var kept []*fhir.Resource
	for _, resource := range found {
		index, err := i.index(resource)
		if err != nil {
			return err
		}
		if slices.ContainsFunc(index.References, func(v fhir.ReferenceValue) bool {
			of := versions[way{resource.Type, v.Param, v.URL}]
			return of != nil && (v.Version == "" || of[v.Version])
		}) {
			kept = append(kept, resource)
		}
	}
	i.add(kept)
	return nil
}

// search finds as many resources as a page may still include.
func (i *inclusion) search(ctx context.Context, types []fhir.ResourceType, criteria fhir.Or) ([]*fhir.Resource, error) {
	most := maxIncluded - len(i.found)
	if len(criteria) == 0 || most <= 0 {
		i.incomplete = i.incomplete || len(criteria) > 0
		return nil, nil
	}
	if len(criteria) > maxCanonicals {
		criteria, i.incomplete = criteria[:maxCanonicals], true
	}
	page, err := i.finder.Search(ctx, &fhir.SearchQuery{Types: types, Criteria: criteria, Count: min(most+len(i.seen), maxIncluded)})
	if err != nil {
		return nil, err
	}
	i.incomplete = i.incomplete || page.Next != ""
	return page.Matches, nil
}

// maxCanonicals bounds the canonicals that a round asks for.
const maxCanonicals = 500

// addressOf reads a resource's canonical URL and version; both are empty if it
// has none.
func addressOf(resource *fhir.Resource) (url, version string, err error) {
	root, err := element.ParseStored(resource)
	if err != nil {
		return "", "", err
	}
	return root.Get("url").Str(), root.Get("version").Str(), nil
}
