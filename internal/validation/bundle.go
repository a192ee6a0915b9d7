package validation

import (
	"strings"

	"starling/internal/fhir"
	"starling/internal/fhir/element"
)

// bundleRules checks how the entries of a Bundle name their resources
// (https://hl7.org/fhir/R4/bundle.html#bundle-unique): what the invariants of
// Bundle do not say.
func (r *run) bundleRules(n element.Node) {
	kind := n.Get("type").Str()
	for entry := range n.Get("entry").Children() {
		if r.full() {
			return
		}
		url := entry.Get("fullUrl")
		resource := entry.Get("resource")
		match := entry.Get("search").Get("mode").Str() == "match"
		if kind == "searchset" && match && resource.Kind() == element.Object && !resource.Get("id").Exists() {
			r.issue(resource, fhir.IssueInvalid, "a match of a search has an id")
		}
		if url.Kind() != element.String || resource.Kind() != element.Object {
			continue
		}
		r.fullURL(url, resource)
	}
	switch kind {
	case "document":
		r.firstEntry(n, "Composition")
	case "message":
		r.firstEntry(n, "MessageHeader")
	}
}

// fullURL checks that the URL of an entry agrees with its resource's id, and
// is absolute.
func (r *run) fullURL(url, resource element.Node) {
	text, id := url.Str(), resource.Get("id").Str()
	if !isAbsolute(text) {
		r.issue(url, fhir.IssueInvalid, "fullUrl is %s, expected an absolute URL", describe(url))
		return
	}
	name := r.validator.typeInReference(text)
	if name == "" || id == "" || !strings.HasPrefix(text, "http") {
		return
	}
	if want := name + "/" + id; !strings.HasSuffix(text, "/"+want) || resource.Get("resourceType").Str() != name {
		r.issue(url, fhir.IssueInvalid, "fullUrl is %s, but the resource is %s/%s",
			describe(url), shorten(resource.Get("resourceType").Str()), shorten(id))
	}
}

func (r *run) firstEntry(n element.Node, name string) {
	if !n.Get("entry").At(0).Exists() {
		r.issue(n, fhir.IssueInvalid, "a Bundle of type %s must begin with a %s, and has no entries", n.Get("type").Str(), name)
	}
}
