// Package parameter serves search parameters that are stored at run time: it
// derives a search from the SearchParameter resources, has stored resources
// indexed for it, and refuses queries with a parameter until that is done.
package parameter

import (
	"sync/atomic"

	"starling/internal/fhir"
	"starling/internal/fhir/definition"
	"starling/internal/fhir/element"
	"starling/internal/fhir/search"
)

// Set is the search parameters at one time. It is immutable.
type Set struct {
	Search *search.Search
	// Custom are those beside the specification's.
	Custom []*definition.SearchParameter
	// By the name of their values: the types they are of, and the version of the
	// SearchParameter.
	types    map[string][]fhir.ResourceType
	versions map[string]int64
	read     map[*fhir.Resource]*readParameter
}

// Builder gives what makes a set of the resources of the domain routing, in the
// order of their creation: of two that cannot both be served the first is. What
// the set before it has read, checked and compiled of the very same resources, it
// uses again.
func Builder(base *search.Search, progress *Progress) func([]*fhir.Resource) *Set {
	var last atomic.Pointer[Set]
	last.Store(&Set{Search: base})
	return func(resources []*fhir.Resource) *Set {
		before := last.Load()
		set := &Set{types: map[string][]fhir.ResourceType{}, versions: map[string]int64{}, read: map[*fhir.Resource]*readParameter{}}
		var refused []search.Refused
		// The parts of composites have to be there first.
		serving := base
		for _, composite := range []bool{false, true} {
			for _, r := range resources {
				read := set.read[r]
				if read == nil {
					read = before.read[r]
				}
				if read == nil {
					read = readResource(base, r)
				}
				set.read[r] = read
				d := read.definition
				if d == nil || (d.Type == "composite") != composite || base.IsSpecified(d.URL) {
					continue
				}
				if generation := generationOf(r, d, set.Custom); generation != d.Generation {
					named := *d
					named.Generation = generation
					d, read = &named, &readParameter{&named, false}
					set.read[r] = read
				}
				check := serving.Check
				if read.passed {
					check = serving.CheckAgain
				}
				if issues := check(d); len(issues) > 0 {
					refused = append(refused, search.Refused{Definition: d, Reason: issues[0].Diagnostics})
					continue
				}
				if !read.passed {
					set.read[r] = &readParameter{d, true}
				}
				set.Custom = append(set.Custom, d)
				set.types[d.Param()], set.versions[d.Param()] = base.TypesOf(d), r.VersionID
				serving = serving.And(d)
			}
		}
		set.Search = base.With(set.Custom, refused, func(param string) error { return progress.refusal(param, set.versions[param]) })
		set.Search.Share(before.Search)
		last.Store(set)
		return set
	}
}

// readParameter is what a resource of the domain was read as.
type readParameter struct {
	definition *definition.SearchParameter // nil: none that is in force
	passed     bool                        // Search.Check
}

func readResource(base *search.Search, r *fhir.Resource) *readParameter {
	d, ok := inForce(r)
	if !ok {
		return &readParameter{}
	}
	base.Complete(d)
	return &readParameter{definition: d}
}

// inForce reads a SearchParameter; false for other resources and for those that
// are neither active nor draft.
func inForce(r *fhir.Resource) (*definition.SearchParameter, bool) {
	if r.Type != "SearchParameter" {
		return nil, false
	}
	root, err := element.ParseStored(r)
	if err != nil {
		return nil, false
	}
	status := root.Get("status").Str()
	d, err := definition.ParseSearchParameter(root.Raw())
	if err != nil || status != "active" && status != "draft" {
		return nil, false
	}
	d.Generation = generationOf(r, d, nil)
	return d, true
}
