package interaction

import (
	"slices"

	"starling/internal/fhir"
)

// part is a resource whose references are followed: one that was found, or one that
// it contains.
type part struct {
	typ   fhir.ResourceType
	index *fhir.Index
}

// parts gives those of the n-th of the resources that a round goes out from. Only
// the matches of a search for contained resources have more than one.
func (i *inclusion) parts(n int, resource *fhir.Resource, index *fhir.Index) (all []part) {
	page, query := i.inside, i.plan.query
	if query.Types[0] != fhir.AnyType || n >= len(page.Matches) || page.Matches[n] != resource {
		return []part{{resource.Type, index}}
	}
	if !query.AsContained || slices.Contains(page.Contained[n], fhir.Itself) {
		all = append(all, part{resource.Type, index})
	}
	place := map[fhir.ResourceType]int{}
	for _, c := range index.Contained {
		contained, _ := query.Criteria.(fhir.Contained)
		if !query.AsContained || c.Type == contained.Type && slices.Contains(page.Contained[n], place[c.Type]) {
			all = append(all, part{c.Type, c.Index})
		}
		place[c.Type]++
	}
	return all
}
