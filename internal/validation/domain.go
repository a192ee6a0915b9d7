package validation

import (
	"cmp"
	"slices"
	"strings"

	"starling/internal/fhir"
	"starling/internal/fhir/element"
)

// link is a text that means a contained resource: "#id", or "#" for the one
// that contains.
type link struct {
	text string
	at   int // its offset
}

// whole checks what concerns a resource as such
// (https://hl7.org/fhir/R4/domainresource.html).
func (r *run) whole(n element.Node, name string) {
	if contained := n.Get("contained"); !r.contained && contained.Kind() == element.Array {
		r.containedRules(contained)
	}
	switch name {
	case "Bundle":
		r.bundleRules(n)
	case "Questionnaire":
		r.questionnaireRules(n)
	case "QuestionnaireResponse":
		r.responseRules(n)
	case "Observation":
		if r.unasked {
			r.vitalSign(n)
		}
	case "StructureDefinition":
		r.definitionRules(n)
	}
	if r.advice && !r.contained {
		r.narrative(n, name)
	}
	for profile := range n.Get("meta").Get("profile").Children() {
		if profile.Kind() == element.String {
			r.claimed(n, profile.Str(), r.validator.unknownProfile)
		}
	}
}

// maxAdvised is how many resources of a Bundle are told to have no narrative.
const maxAdvised = 10

// narrative advises to have one (dom-6, a best practice). It is not asked of
// contained resources, which are told of by what contains them.
func (r *run) narrative(n element.Node, name string) {
	if r.validator.registry.Type(name).Base != "DomainResource" || n.Get("text").Get("div").Exists() || r.advised == maxAdvised {
		return
	}
	r.advised++
	r.warn(n, fhir.IssueInvariant, "dom-6", "dom-6: a resource should have narrative; there is no text")
}

// containedRules checks contained resources: each has an id of its own, without
// which nothing could refer to it, is referred to or refers to its container
// (dom-3), and has no version (dom-4) or security label (dom-5). That none
// contains another (dom-2) is checked where it would.
func (r *run) containedRules(contained element.Node) {
	ids := make(map[string]bool, 4)
	linked := r.linkedIDs()
	for c := range contained.Children() {
		if c.Kind() != element.Object || r.full() {
			continue
		}
		id := c.Get("id").Str()
		switch {
		case !c.Get("id").Exists():
			r.issue(c, fhir.IssueInvalid, "a contained resource must have an id, by which it is referred to")
		case id == "": // of the wrong form, which has been told
		case ids[id]:
			r.issue(c, fhir.IssueInvalid, "two contained resources have the id %s", quote(id))
		case !linked[id] && !r.linksBack(c):
			r.breach(c, fhir.IssueInvariant, "dom-3", "nothing refers to the contained resource %s, and it does not refer to its container", quote(id))
		}
		ids[id] = true
		meta := c.Get("meta")
		if meta.Get("versionId").Exists() || meta.Get("lastUpdated").Exists() {
			r.breach(c, fhir.IssueInvariant, "dom-4", "a contained resource has no versionId and no lastUpdated")
		}
		if meta.Get("security").Exists() {
			r.breach(c, fhir.IssueInvariant, "dom-5", "a contained resource has no security label")
		}
	}
}

// linkedIDs are the ids of contained resources that are referred to.
func (r *run) linkedIDs() map[string]bool {
	ids := make(map[string]bool, len(r.links))
	for i := range r.links {
		ids[r.links[i].text[1:]] = true
	}
	return ids
}

// linksBack reports whether a contained resource refers to its container. The links
// are in the order of their places.
func (r *run) linksBack(c element.Node) bool {
	start, end := c.Span()
	first, _ := slices.BinarySearchFunc(r.links, start, func(l link, at int) int { return cmp.Compare(l.at, at) })
	for i := first; i < len(r.links) && r.links[i].at < end; i++ {
		if r.links[i].text == "#" {
			return true
		}
	}
	return false
}

// containedOf is the contained resource of an id.
func (r *run) containedOf(id string) element.Node {
	contained := r.container.Get("contained")
	looked := 0
	for c := range contained.Children() {
		if c.Get("id").Str() == id {
			return c
		}
		if looked++; looked == manyContained {
			break
		}
	}
	if looked < manyContained {
		return element.Node{}
	}
	if !r.indexed.Same(r.container) || r.byID == nil {
		r.indexed, r.byID = r.container, map[string]element.Node{}
		for c := range contained.Children() {
			if id := c.Get("id").Str(); !r.byID[id].Exists() {
				r.byID[id] = c
			}
		}
	}
	return r.byID[id]
}

// manyContained is from how many contained resources on an index of them is made.
const manyContained = 16

// baseOf is what completes relative references beside a fullUrl: all before
// its type and id; "" if it is no RESTful URL.
func baseOf(fullURL string) string {
	if !strings.HasPrefix(fullURL, "http:") && !strings.HasPrefix(fullURL, "https:") {
		return ""
	}
	at := strings.LastIndexByte(fullURL, '/')
	if at < 0 {
		return ""
	}
	return fullURL[:strings.LastIndexByte(fullURL[:at], '/')+1]
}
