package validation

import (
	"slices"
	"strings"

	"starling/internal/fhir"
	"starling/internal/fhir/element"
	"starling/internal/fhir/fhirpath"
)

// extension checks an extension of parent against its definition, if that is
// known (https://hl7.org/fhir/R4/extensibility.html). An unknown one is
// allowed unless it changes the meaning of what it is in: nobody may ignore a
// modifier that he does not understand.
func (r *run) extension(parent, n element.Node, m *member) {
	url := n.Get("url").Str()
	modifier := m.slot.element.Name == "modifierExtension"
	if !isAbsolute(url) {
		if url != "" && !strings.HasPrefix(m.slot.element.Path, "Extension.") {
			r.issue(n, fhir.IssueExtension, "the URL of the extension is %s, expected an absolute URL", quote(url))
		}
		return // a part of an extension is defined with it
	}
	p := r.validator.profile(url)
	switch {
	case p == nil && modifier:
		r.issue(n, fhir.IssueExtension, "the modifier extension %s is not known here, and what it means cannot be ignored", quote(url))
		return
	case p == nil:
		return
	case p.typeName != "Extension":
		r.issue(n, fhir.IssueExtension, "%s does not define an extension", quote(url))
		return
	case modifier && !p.modifier:
		r.issue(n, fhir.IssueExtension, "the extension %s is no modifier extension", quote(url))
	case !modifier && p.modifier:
		r.issue(n, fhir.IssueExtension, "the extension %s is a modifier extension, and must be in modifierExtension", quote(url))
	}
	if !r.placed(p, parent, m) {
		r.issue(n, fhir.IssueExtension, "the extension %s may not be used here, but in %s", quote(url), p.places())
	}
	item := fhirpath.Element(r.validator.registry, "Extension", n)
	r.conditions(p, parent, n, item)
	r.conform(p, item)
}

// noPart is about an extension within one whose definition has parts, and is none of
// them: a relative URL has its meaning from that definition alone
// (https://hl7.org/fhir/R4/extensibility.html#Extension).
func (r *run) noPart(c *constraint, n element.Node) {
	if url := n.Get("url").Str(); url != "" && !isAbsolute(url) {
		r.issue(n, fhir.IssueExtension, "the extension has no part %s, but %s", quote(url), shortenTo(c.sliceNames(), 200))
	}
}

func (p *profile) places() string {
	places := make([]string, len(p.contexts))
	for i, c := range p.contexts {
		places[i] = c.expression
	}
	return shortenTo(strings.Join(places, ", "), 200)
}

// placed reports whether an extension may be in parent.
func (r *run) placed(p *profile, parent element.Node, m *member) bool {
	if len(p.contexts) == 0 || m.slot.element.Path == misplaced[p.url] {
		return true
	}
	var paths []string
	for _, c := range p.contexts {
		switch c.kind {
		case "element":
			if c.expression == "Element" || c.expression == "Resource" && parent.Get("resourceType").Exists() {
				return true
			}
			if paths == nil {
				paths = r.definedPaths(parent)
			}
			// An element of a definition is named [url]#[elementId]
			// (https://hl7.org/fhir/R4/valueset-extension-context-type.html). Which slice of a
			// profile a value is in is not told here.
			_, id, inDefinition := strings.Cut(c.expression, "#")
			if !inDefinition {
				id = c.expression
			}
			id, _, sliced := strings.Cut(id, ":")
			if sliced || slices.Contains(paths, strings.ReplaceAll(id, "[x]", "")) {
				return true
			}
		case "extension":
			if parent.Get("url").Str() == c.expression {
				return true
			}
		default:
			return true // a condition on the whole resource, not decided here
		}
	}
	return false
}

// misplaced are the places where the specification itself uses an extension
// against the context it has published for it.
var misplaced = map[string]string{
	specificationBase + "structuredefinition-fhir-type": "ElementDefinition.type.extension",
	specificationBase + "regex":                         "ElementDefinition.type.extension",
}

// resourceAt begins definedPaths anew in a resource.
func (r *run) resourceAt(n element.Node) (*shape, []string) {
	s := r.shapeAt(n)
	if s == nil {
		return nil, nil
	}
	return s, []string{s.name}
}

// definedPaths are the paths of an element that definitions use: from the
// resource, from each data type it lies in, and its own type with the types
// that one specializes.
func (r *run) definedPaths(n element.Node) []string {
	var paths []string
	at, s := r.root, r.shapeAt(r.root)
	var m *member
	if s != nil {
		paths = append(paths, s.name)
	}
	for !at.Same(n) {
		child, _ := childToward(at, n)
		if !child.Exists() {
			break
		}
		if at.Kind() == element.Array {
			at = child
			if m != nil && m.kind == memberResource {
				s, paths = r.resourceAt(at)
			}
			continue
		}
		at = child
		if s == nil {
			break
		}
		if m = s.members[child.Name()]; m == nil || m.slot == nil {
			return paths
		}
		if m.kind == memberResource {
			s, paths = r.resourceAt(at)
			continue
		}
		for i := range paths {
			paths[i] += "." + m.slot.element.Name
		}
		if m.own != nil {
			paths = append(paths, m.own.name, m.typeName)
			s = m.own
			continue
		}
		paths = append(paths, m.typeName)
		if s = nil; m.kind == memberObject {
			s = r.validator.shapeOf(m.typeName)
		}
	}
	if s != nil && s.resource && n.Get("resourceType").Exists() {
		paths = append(paths, s.name, "Resource", "DomainResource")
	}
	if m != nil && m.own == nil && m.kind != memberResource {
		for t := r.validator.registry.Type(m.typeName); t != nil && t.Base != ""; t = r.validator.registry.Type(t.Base) {
			paths = append(paths, t.Base)
		}
	}
	return paths
}

func keys(set map[string]bool) []string {
	names := make([]string, 0, len(set))
	for name := range set {
		names = append(names, name)
	}
	slices.Sort(names)
	return names
}
