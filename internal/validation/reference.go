package validation

import (
	"slices"
	"strings"

	"starling/internal/fhir"
	"starling/internal/fhir/element"
)

// targets are the types that a reference may be to.
type targets struct {
	types    map[string]bool
	names    string
	profiles []string // those that are no types
}

// targets compiles target profiles; nil if they allow everything or cannot be
// told.
func (v *Validator) targets(profiles []string) *targets {
	t := targets{types: map[string]bool{}}
	for _, url := range profiles {
		name, own := strings.CutPrefix(url, specificationBase)
		if own && v.registry.IsResourceType(name) {
			t.types[name] = true
			continue
		}
		if own && (name == "Resource" || name == "DomainResource") {
			return nil
		}
		name = v.typeOfProfile(url)
		if name == "" {
			return nil
		}
		t.types[name] = true
		t.profiles = append(t.profiles, url)
	}
	if len(t.types) == 0 {
		return nil
	}
	t.names = oneOf(keys(t.types))
	return &t
}

// rule checks that a reference is to one of the types, as far as it tells: by
// its text, by Reference.type, or by what it finds in the document.
func (t *targets) rule(r *run, n element.Node) {
	name, target := r.targetOf(n)
	if name == "" {
		return
	}
	if !t.types[name] {
		r.issue(n, fhir.IssueInvalid, "the reference is to the type %s, expected %s", name, t.names)
		return
	}
	if target.Exists() && len(t.profiles) > 0 && len(t.profiles) == len(t.types) && r.depth < maxProfiles && !r.bundle.Same(target) {
		r.targetProfiles(n, target, t)
	}
}

// targetProfiles checks the target of a reference that is in the document:
// where profiles alone are allowed, it conforms to one of them.
func (r *run) targetProfiles(n, target element.Node, t *targets) {
	item := r.resourceItem(target)
	for _, canonical := range t.profiles {
		if conforms, known := r.conformsTo(item, canonical); conforms || !known {
			return
		}
	}
	r.issue(n, fhir.IssueStructure, "the target of the reference conforms to none of the profiles it must have (%s)", shortenTo(strings.Join(t.profiles, ", "), 200))
}

// targetOf says what a reference is to: its type, "" if it does not tell, and
// the resource if it is in the document.
func (r *run) targetOf(n element.Node) (name string, target element.Node) {
	reference := n.Get("reference").Str()
	switch id, local := strings.CutPrefix(reference, "#"); {
	case local && id == "":
		target = r.container
	case local:
		target = r.containedOf(id)
	default:
		target = r.entryOf(reference)
	}
	if target.Exists() {
		return target.Get("resourceType").Str(), target
	}
	if name = r.validator.typeInReference(reference); name == "" {
		name = n.Get("type").Str()
		if !r.validator.registry.IsResourceType(name) {
			name = ""
		}
	}
	return name, element.Node{}
}

// aggregated checks how a reference is to its target: contained, or bundled with
// it, or anywhere outside of the resource
// (https://hl7.org/fhir/R4/valueset-resource-aggregation-mode.html).
func (r *run) aggregated(allowed []string, n element.Node) {
	reference := n.Get("reference").Str()
	how := "referenced"
	switch {
	case reference == "":
		return
	case reference[0] == '#':
		how = "contained"
	case r.entryOf(reference).Exists():
		how = "bundled"
	}
	if slices.Contains(allowed, how) || how == "bundled" && slices.Contains(allowed, "referenced") {
		return
	}
	r.issue(n, fhir.IssueInvalid, "the target of the reference %s is %s, but must be %s", quote(reference), how, strings.Join(allowed, " or "))
}

// versionRule checks that a reference to a version finds it, where the document
// has other versions of its target only. Other Bundles need not hold what they
// refer to.
func (r *run) versionRule(n element.Node) {
	if r.bundle.Get("type").Str() != "document" {
		return
	}
	reference := n.Get("reference").Str()
	current, _, versioned := strings.Cut(reference, "/_history/")
	if versioned && r.entryOf(current).Exists() && !r.entryOf(reference).Exists() {
		r.issue(n, fhir.IssueNotFound, "the Bundle has the target of the reference %s, but not in that version", quote(reference))
	}
}

// typeRule checks that a literal reference is to what Reference.type says
// (https://hl7.org/fhir/R4/references-definitions.html#Reference.type), as far as the
// text or the document tells.
func (r *run) typeRule(n element.Node) {
	stated := n.Get("type").Str()
	if !r.validator.registry.IsResourceType(stated) {
		return // of a logical model, or none
	}
	if name, _ := r.targetOf(n); name != "" && name != stated {
		r.issue(n, fhir.IssueInvalid, "the reference is to the type %s, but says that it is to %s", name, stated)
	}
}

// typeInReference is the type a literal reference tells: [base]/[type]/[id],
// with or without a version.
func (v *Validator) typeInReference(reference string) string {
	if before, _, versioned := strings.Cut(reference, "/_history/"); versioned {
		reference = before
	}
	at := strings.LastIndexByte(reference, '/')
	if at <= 0 || !fhir.ValidID(reference[at+1:]) {
		return ""
	}
	name := reference[strings.LastIndexByte(reference[:at], '/')+1 : at]
	if !v.registry.IsResourceType(name) {
		return ""
	}
	return name
}

// literal checks the form of a reference that is not to a contained resource: an
// absolute URI, or [type]/[id] with or without a version
// (https://hl7.org/fhir/R4/references.html#literal). In a transaction, [type]?[criteria]
// becomes one of them.
func (r *run) literal(n element.Node, reference string) bool {
	if isAbsolute(reference) && isURI(reference) {
		return true
	}
	if name, _, conditional := strings.Cut(reference, "?"); conditional && r.validator.registry.IsResourceType(name) {
		if r.bundle.Get("type").Str() == "transaction" {
			return true
		}
		r.issue(n, fhir.IssueInvalid, "the reference %s is conditional, which it may be in a transaction only", quote(reference))
		return false
	}
	path, version, versioned := strings.Cut(reference, "/_history/")
	name, id, _ := strings.Cut(path, "/")
	if !isIDOf(id) || versioned && !isIDOf(version) {
		r.issue(n, fhir.IssueInvalid, "the reference is %s, expected an absolute URL, or a type and an id, such as Patient/1", describe(n))
		return false
	}
	if !r.validator.registry.IsResourceType(name) {
		r.issue(n, fhir.IssueInvalid, "the reference %s is to %s, which is no resource type", quote(reference), quote(name))
		return false
	}
	return true
}

// isIDOf reports whether a text has the form of an id, but for its length: the
// specification's own guide refers to resources by longer ones.
func isIDOf(text string) bool {
	return text != "" && strings.Trim(text, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-.") == ""
}

// oneOf joins alternatives: "a, b or c".
func oneOf(all []string) string {
	if len(all) < 2 {
		return strings.Join(all, "")
	}
	return strings.Join(all[:len(all)-1], ", ") + " or " + all[len(all)-1]
}
