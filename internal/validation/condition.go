package validation

import (
	"starling/internal/fhir"
	"starling/internal/fhir/element"
	"starling/internal/fhir/fhirpath"
)

// conditions checks StructureDefinition.contextInvariant: what must hold of the
// element that an extension is in, to which %extension is the extension
// (https://hl7.org/fhir/R4/defining-extensions.html#context).
func (r *run) conditions(p *profile, parent, n element.Node, extension fhirpath.Item) {
	if len(p.conditions) == 0 || r.exhausted() {
		return
	}
	focus, ok := r.found(parent)
	if !ok {
		return
	}
	env := *r.environment()
	env.Variables = map[string]fhirpath.Collection{"extension": {extension}}
	if p.clients {
		env.Limits = r.limits(fhirpath.UserLimits)
	}
	for _, condition := range p.conditions {
		expression := r.validator.expression(condition)
		if expression == nil {
			continue
		}
		value, known, err := expression.Test(&env, focus)
		switch {
		case err != nil:
			r.warn(n, fhir.IssueExtension, "", "the condition of the extension %s cannot be evaluated here: %v", quote(p.url), err)
		case known && !value:
			r.issue(n, fhir.IssueExtension, "the extension %s may only be used where %s", quote(p.url), shortenTo(condition, 200))
		}
	}
}

// found is a node as FHIRPath finds it from the root. Few extensions have
// conditions, so the way there is compiled each time, and not kept.
func (r *run) found(n element.Node) (fhirpath.Item, bool) {
	if n.Same(r.root) {
		return r.resourceItem(n), true
	}
	way, err := fhirpath.Compile(r.validator.registry, r.location(n))
	if err != nil {
		return fhirpath.Item{}, false
	}
	items, err := way.Append(nil, r.environment(), r.resourceItem(r.root))
	if err != nil {
		return fhirpath.Item{}, false
	}
	for _, item := range items {
		if at(item).Same(n) || item.Extra().Same(n) {
			return item, true
		}
	}
	return fhirpath.Item{}, false
}
