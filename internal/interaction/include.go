package interaction

import (
	"context"
	"slices"

	"starling/internal/fhir"
	"starling/internal/fhir/element"
)

// The bounds of what a page includes.
const (
	maxIncluded = 1000
	// maxRounds is how far :iterate goes from the matches.
	maxRounds = 5
	// maxLinks is how many links a round follows back.
	maxLinks = 50_000
)

// inclusion finds the resources that matches refer to and that refer to them
// (https://hl7.org/fhir/R4/search.html#revinclude). It goes in rounds, each of
// which asks the store at most twice.
type inclusion struct {
	service    *Service
	finder     fhir.Finder
	plan       *searchPlan
	found      []*fhir.Resource
	seen       map[fhir.VersionKey]bool // matches, and what was found
	asked      map[fhir.VersionKey]bool
	incomplete bool // a bound was reached
	// inside is the page whose matches are containers; nil if they are not.
	inside *fhir.SearchPage
}

// included finds what a page's matches bring along. A resource that is on the
// page already is not repeated. Matches that are containers bring what those of
// their contained resources refer to that meet the search, or of containers all.
func (s *Service) included(ctx context.Context, finder fhir.Finder, plan *searchPlan, page *fhir.SearchPage) (*inclusion, error) {
	matches := page.Matches
	i := &inclusion{service: s, finder: finder, plan: plan}
	if len(plan.query.Includes)+len(plan.query.RevIncludes) == 0 || len(matches) == 0 {
		return i, nil
	}
	i.seen, i.asked = map[fhir.VersionKey]bool{}, map[fhir.VersionKey]bool{}
	for n, match := range matches {
		if plan.query.AsContained && !slices.Contains(page.Contained[n], fhir.Itself) {
			continue // the container is not on the page
		}
		i.seen[versionOf(match)] = true
		i.asked[fhir.VersionKey{Key: match.Key}] = true
	}
	i.inside = page
	includes, back := plan.query.Includes, plan.query.RevIncludes
	from := matches
	for round := 0; len(from) > 0 && len(includes)+len(back) > 0; round++ {
		if round == maxRounds {
			i.incomplete = true
			break
		}
		before := len(i.found)
		if err := i.forward(ctx, from, includes); err != nil {
			return nil, err
		}
		if err := i.backward(ctx, from, back); err != nil {
			return nil, err
		}
		from = i.found[before:]
		includes, back = iterated(plan.query.Includes), iterated(plan.query.RevIncludes)
	}
	return i, nil
}

func versionOf(r *fhir.Resource) fhir.VersionKey {
	return fhir.VersionKey{Key: r.Key, VersionID: r.VersionID}
}

func iterated(all []fhir.Include) (out []fhir.Include) {
	for _, include := range all {
		if include.Iterate {
			out = append(out, include)
		}
	}
	return out
}

// forward reads what resources refer to. A reference to a version brings that
// version.
func (i *inclusion) forward(ctx context.Context, from []*fhir.Resource, includes []fhir.Include) error {
	if len(includes) == 0 {
		return nil
	}
	var keys []fhir.VersionKey
	wanted := map[fhir.ResourceType]map[byCanonical]bool{}
	for n, resource := range from {
		index, err := i.index(resource)
		if err != nil {
			return err
		}
		for _, part := range i.parts(n, resource, index) {
			for _, reference := range part.index.References {
				if reference.URL != "" {
					for _, target := range i.service.Planner.Canonicals(part.typ, reference.Param) {
						if follows(includes, part.typ, reference.Param, target) {
							if wanted[target] == nil {
								wanted[target] = map[byCanonical]bool{}
							}
							wanted[target][byCanonical{reference.URL, reference.Version}] = true
						}
					}
				}
				key := fhir.VersionKey{Key: fhir.Key{Type: reference.Type, ID: reference.ID}}
				if key.Type == "" || key.ID == "" || !follows(includes, part.typ, reference.Param, key.Type) {
					continue
				}
				if reference.Version != "" {
					version, ok := parseVersion(reference.Version)
					if !ok {
						continue
					}
					key.VersionID = version
				}
				if !i.asked[key] {
					i.asked[key] = true
					keys = append(keys, key)
				}
			}
		}
	}
	if most := maxIncluded - len(i.found); len(keys) > most {
		keys, i.incomplete = keys[:most], true
	}
	if len(keys) > 0 {
		read, err := i.finder.ReadAll(ctx, keys)
		if err != nil {
			return err
		}
		i.add(read)
	}
	return i.canonicals(ctx, wanted)
}

// index reads a resource's references.
func (i *inclusion) index(resource *fhir.Resource) (*fhir.Index, error) {
	root, err := element.ParseStored(resource)
	if err != nil {
		return nil, err
	}
	return i.service.Indexer.Index(resource.Type, root, i.plan.request.Base)
}

// follows reports whether one of the includes is about a link.
func follows(includes []fhir.Include, source fhir.ResourceType, param string, target fhir.ResourceType) bool {
	for _, include := range includes {
		if (include.Source == "" || include.Source == source) && (include.Param == "" || include.Param == param) &&
			(include.Target == "" || include.Target == target) {
			return true
		}
	}
	return false
}

// backward finds what refers to resources.
func (i *inclusion) backward(ctx context.Context, to []*fhir.Resource, includes []fhir.Include) error {
	if len(includes) == 0 {
		return nil
	}
	var links []fhir.Link
	ways := map[fhir.ResourceType][]fhir.Include{}
	for _, resource := range to {
		known, ok := ways[resource.Type]
		if !ok {
			for _, way := range i.service.Planner.RevIncludes(resource.Type) {
				if follows(includes, way.Source, way.Param, resource.Type) {
					known = append(known, way)
				}
			}
			ways[resource.Type] = known
		}
		for _, way := range known {
			links = append(links, fhir.Link{Source: way.Source, Param: way.Param, Target: resource.Key})
		}
	}
	if len(links) > maxLinks {
		return fhir.NewError(fhir.KindInvalid, fhir.IssueTooCostly,
			"_revinclude asks for too many kinds of link to too many resources; name types, or ask for smaller pages with _count.")
	}
	most := maxIncluded - len(i.found)
	if len(links) == 0 || most <= 0 {
		i.incomplete = i.incomplete || len(links) > 0
		return nil
	}
	// Those found already come back, too.
	found, err := i.finder.Referring(ctx, links, most+len(i.seen)+1)
	if err != nil {
		return err
	}
	i.add(found)
	return i.referringByCanonical(ctx, to, ways)
}

// add keeps what is not on the page yet.
func (i *inclusion) add(resources []*fhir.Resource) {
	for _, resource := range resources {
		key := versionOf(resource)
		if i.seen[key] {
			continue
		}
		if len(i.found) == maxIncluded {
			i.incomplete = true
			return
		}
		i.seen[key] = true
		i.found = append(i.found, resource)
	}
}
