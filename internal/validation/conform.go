package validation

import (
	"unicode/utf8"

	"starling/internal/fhir"
	"starling/internal/fhir/definition"
	"starling/internal/fhir/element"
	"starling/internal/fhir/fhirpath"
)

// typeRule is one of the types that values may be of.
type typeRule struct {
	code        string
	profiles    []string // one of them must be met
	targets     *targets // of a reference; nil for any
	aggregation []string
}

// maxProfiles is how deep profiles may lead to others.
const maxProfiles = 40

// claimed checks a resource against a profile named in it or in the request;
// one that is not known is reported with that severity.
func (r *run) claimed(n element.Node, canonical string, severity fhir.Severity) {
	name := n.Get("resourceType").Str()
	if own := r.validator.typeOfCanonical(canonical); own != "" {
		if own != name && own != "Resource" && own != "DomainResource" {
			r.issue(n, fhir.IssueInvalid, "the profile %s is for %s, and this is a %s", quote(canonical), own, shorten(name))
		}
		return
	}
	p := r.validator.profile(canonical)
	if p == nil {
		r.add(n, severity, fhir.IssueNotSupported, "", "the profile %s %s; nothing was checked against it", quote(canonical), r.validator.unusable(canonical))
		return
	}
	if p.typeName != name {
		r.issue(n, fhir.IssueInvalid, "the profile %s is for %s, and this is a %s", quote(canonical), p.typeName, shorten(name))
		return
	}
	current := r.current
	if !r.current.Same(n) {
		r.current, r.container, r.env.Resource = n, n, fhirpath.Item{}
	}
	r.conform(p, r.resourceItem(n))
	r.current = current
}

// conform checks an item of the profile's type.
func (r *run) conform(p *profile, item fhirpath.Item) {
	if r.depth >= maxProfiles || r.probing == 0 && r.depth >= deep && r.hasReported(p, item) {
		return
	}
	r.depth++
	by := r.by
	r.by = p.url
	limits := r.environment().Limits
	if p.clients {
		r.env.Limits = r.limits(fhirpath.UserLimits)
	}
	r.meets(p.root, item)
	r.env.Limits = limits
	r.by = by
	r.depth--
}

// passes reports whether a check finds no error; it reports none itself.
func (r *run) passes(check func()) bool {
	errors, warnings := r.errors, r.warnings
	r.probing++
	check()
	r.probing--
	passed := r.errors == errors
	r.errors, r.warnings = errors, warnings
	return passed
}

// at is the node where issues of an item are reported.
func at(item fhirpath.Item) element.Node {
	if n := item.Node(); n.Exists() {
		return n
	}
	return item.Extra()
}

// meets checks a value against what a profile asks of it and its children.
func (r *run) meets(c *constraint, item fhirpath.Item) {
	n := at(item)
	if len(c.ofType) > 0 && !r.ofType(c, item) {
		return
	}
	if c.fixed.Exists() && !equal(c.fixed, item.Node()) {
		r.issue(n, fhir.IssueValue, "%s must be %s, found %s", c.path, show(c.fixed), show(item.Node()))
	}
	if c.pattern.Exists() && !holdsPattern(c.pattern, item.Node()) {
		r.issue(n, fhir.IssueValue, "%s must have %s, found %s", c.path, show(c.pattern), show(item.Node()))
	}
	r.within(c, item)
	if c.maxLength > 0 && len(item.Text()) > c.maxLength && utf8.RuneCountInString(item.Text()) > c.maxLength {
		r.issue(n, fhir.IssueTooLong, "%s has more than %d characters", c.path, c.maxLength)
	}
	if c.bound != nil && item.Node().Exists() {
		r.bound(item.Node(), item.Type(), c.bound)
	}
	for _, i := range c.compiled {
		r.evaluate(n, i, item)
	}
	for _, child := range c.children {
		if r.full() {
			return
		}
		r.child(child, item)
	}
}

// child checks the values of an element: how many, each of them, and the
// slices they fall in.
func (r *run) child(c *constraint, parent fhirpath.Item) {
	if r.exhausted() {
		return
	}
	mark := len(r.items)
	items, err := c.navigate.Append(r.items, r.environment(), parent)
	if err != nil {
		return
	}
	r.items = items
	values := items[mark:]
	r.count(c, at(parent), len(values))
	for i := range values {
		if r.full() {
			break
		}
		r.meets(c, values[i])
	}
	if len(c.slices) > 0 || c.slicing != nil && c.slicing.rules == "closed" {
		r.slices(c, at(parent), values)
	}
	r.items = r.items[:mark]
}

func (r *run) count(c *constraint, parent element.Node, found int) {
	if found < c.min {
		r.issueBelow(parent, c.name, fhir.IssueRequired, "%s: at least %d expected, found %d", c.path, c.min, found)
	}
	if c.max != definition.Unbounded && found > c.max {
		r.issueBelow(parent, c.name, fhir.IssueStructure, "%s: at most %d allowed, found %d", c.path, c.max, found)
	}
}

// ofType checks that a value is of one of the types, and meets the profiles
// of that type.
func (r *run) ofType(c *constraint, item fhirpath.Item) bool {
	var found *typeRule
	for i := range c.ofType {
		if t := &c.ofType[i]; item.Type() == t.code || abstract[t.code] && item.Is(t.code) {
			found = t
			if item.Type() == t.code && r.refers(t, item) {
				break
			}
		}
	}
	switch {
	case found == nil:
		if item.Type() == "BackboneElement" || item.Type() == "Element" {
			return true
		}
		r.issue(at(item), fhir.IssueStructure, "%s must be of type %s, found %s", c.path, c.typeNames(), item.Type())
		return false
	case found.targets != nil && item.Is("Reference") && item.Node().Exists():
		found.targets.rule(r, item.Node())
	}
	if len(found.aggregation) > 0 && item.Is("Reference") {
		r.aggregated(found.aggregation, item.Node())
	}
	if len(found.profiles) > 0 {
		r.oneOf(found.profiles, item, c.path)
	}
	return true
}

// refers reports whether a reference may be to where it is.
func (r *run) refers(t *typeRule, item fhirpath.Item) bool {
	if t.targets == nil || item.Type() != "Reference" {
		return true
	}
	name, _ := r.targetOf(item.Node())
	return name == "" || t.targets.types[name]
}

// abstract are the types that values are of only as what specializes them.
var abstract = map[string]bool{"Resource": true, "DomainResource": true, "Element": true, "BackboneElement": true}

func (c *constraint) typeNames() string {
	names := ""
	for i := range c.ofType {
		if i > 0 {
			names += ", "
		}
		names += c.ofType[i].code
	}
	return names
}

// oneOf checks that an item conforms to one of several profiles. Profiles that
// are not known are not held against it.
func (r *run) oneOf(canonicals []string, item fhirpath.Item, path string) {
	var known []*profile
	for _, canonical := range canonicals {
		if own := r.validator.typeOfCanonical(canonical); own != "" {
			if item.Is(own) {
				return
			}
			continue
		}
		p := r.validator.profile(canonical)
		if p == nil {
			return
		}
		known = append(known, p)
	}
	if len(known) == 1 {
		r.conform(known[0], item)
		return
	}
	for _, p := range known {
		if r.conforms(p, item) {
			return
		}
	}
	r.issue(at(item), fhir.IssueStructure, "%s conforms to none of the %d profiles that it may have", path, len(canonicals))
}

// profilesRule checks values of a type against the profiles that a definition
// names for them.
func profilesRule(typeName string, canonicals []string) rule {
	return func(r *run, n element.Node) {
		r.oneOf(canonicals, fhirpath.Element(r.validator.registry, typeName, n), typeName)
	}
}

// conformsTo implements Environment.ConformsTo.
func (r *run) conformsTo(item fhirpath.Item, canonical string) (conforms, known bool) {
	if own := r.validator.typeOfCanonical(canonical); own != "" {
		return item.Is(own), true
	}
	p := r.validator.profile(canonical)
	if p == nil {
		return false, false
	}
	if !item.Is(p.typeName) {
		return false, true
	}
	return r.conforms(p, item), true
}
