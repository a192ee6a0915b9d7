package fhirpath

import (
	"slices"
	"strings"

	"starling/internal/fhir/element"
)

// bundleEntry is an entry of the Bundle that is %rootResource.
type bundleEntry struct {
	fullURL  string
	resource element.Node
}

// bundle gives the entries of the root resource, if that is a Bundle, in their
// order.
func (r *run) bundle() []bundleEntry {
	if r.bundled {
		return r.entries
	}
	r.bundled = true
	if root := r.rootResource(); root.shape != nil && root.shape.name == "Bundle" {
		for entry := range root.node.Get("entry").Children() {
			if resource := entry.Get("resource"); resource.Kind() == element.Object {
				r.entries = append(r.entries, bundleEntry{entry.Get("fullUrl").Str(), resource})
			}
		}
	}
	return r.entries
}

// entryOf is the entry that a node is in, nil if it is in none.
func (r *run) entryOf(n element.Node) *bundleEntry {
	entries := r.bundle()
	i, found := slices.BinarySearchFunc(entries, n.Index(), func(e bundleEntry, index int) int {
		if e.resource.Index() > index {
			return 1
		}
		if e.resource.Contains(n) {
			return 0
		}
		return -1
	})
	if !found {
		return nil
	}
	return &entries[i]
}

// entryTarget finds the entry that a reference at a node means: the one whose
// fullUrl it is, to which a relative reference is completed with the base of
// its own entry's fullUrl (https://hl7.org/fhir/R4/bundle.html#references).
func (r *run) entryTarget(at element.Node, reference string) (Item, bool) {
	entries := r.bundle()
	if len(entries) == 0 {
		return Item{}, false
	}
	url, version, _ := strings.Cut(reference, "/_history/")
	if !strings.Contains(url, ":") {
		entry := r.entryOf(at)
		if entry == nil {
			return Item{}, false
		}
		own := entry.resource.Get("resourceType").Str() + "/" + entry.resource.Get("id").Str()
		base, ok := strings.CutSuffix(entry.fullURL, own)
		if !ok {
			return Item{}, false
		}
		url = base + url
	}
	r.steps -= len(entries) // counted by the caller's next tick
	for _, entry := range entries {
		if entry.fullURL == url && (version == "" || entry.resource.Get("meta").Get("versionId").Str() == version) {
			return r.rootResource().shape.model.resource(entry.resource), true
		}
	}
	return Item{}, false
}
