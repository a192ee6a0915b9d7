package validation

import (
	"slices"
	"strconv"
	"strings"

	"starling/internal/fhir"
	"starling/internal/fhir/definition"
	"starling/internal/fhir/element"
	"starling/internal/fhir/fhirpath"
)

// definitionRules checks that a StructureDefinition can be used as a profile:
// that its elements exist, that its slicings can be told apart, that its
// expressions can be compiled, and that it asks no less than what it derives from
// (https://hl7.org/fhir/R4/profiling.html). A resource that claims the profile
// would otherwise be checked against less than its author meant.
func (r *run) definitionRules(n element.Node) {
	v := r.validator
	t := v.registry.Type(n.Get("type").Str())
	if t == nil || n.Get("derivation").Str() != "constraint" {
		return
	}
	root := newConstraint(t.Name, t.Name)
	if base := n.Get("baseDefinition").Str(); base != "" && v.typeOfCanonical(base) == "" {
		parent := v.profile(base)
		switch {
		case parent == nil:
			r.warn(n.Get("baseDefinition"), fhir.IssueNotFound, "", "the profile %s, which this one derives from, %s; nothing can be checked against this one", quote(base), v.unusable(base))
			return
		case parent.typeName != t.Name:
			r.issue(n.Get("type"), fhir.IssueBusinessRule, "the type is %s, but that of the base profile is %s", t.Name, parent.typeName)
			return
		}
		root = parent.root.clone()
	}
	root.defined, root.typeName = t.Root, t.Name
	elements := n.Get("differential").Get("element")
	derives := !elements.IsEmpty()
	if !derives {
		elements = n.Get("snapshot").Get("element")
	}
	b := profileBuilder{validator: v, root: root}
	for e := range elements.Children() {
		if r.full() {
			return
		}
		path := e.Get("path").Str()
		if first, _, _ := strings.Cut(path, "."); first != t.Name {
			continue // sdf-8 tells
		}
		if b.tooLarge(e) {
			r.issue(e, fhir.IssueTooCostly, "the profile has too many elements, or this one stands too deep: %d parts of a path and %d elements with those above them are taken", maxParts, maxConstraints)
			return
		}
		at := b.place(e)
		if at == nil || !b.exists(path) {
			r.issue(e, fhir.IssueBusinessRule, "there is no element %s in %s, nor in what its base defines", quote(path), t.Name)
			continue
		}
		if most := e.Get("max").Str(); most != "" && most != "*" {
			if _, err := strconv.Atoi(most); err != nil { // eld-3 says neither yes nor no
				r.issue(e.Get("max"), fhir.IssueBusinessRule, "the most values are %s, expected a number or *", quote(most))
				continue
			}
		}
		if derives {
			r.restricts(e, at)
		}
		at.merge(e)
		r.valueTypes(e, at)
		r.discriminates(e, &b, at)
		for c := range e.Get("constraint").Children() {
			r.compiles(c)
		}
	}
}

// exists reports whether a path leads to an element, as far as that can be told: not
// below a choice of several types, nor in a resource of any type.
func (b *profileBuilder) exists(path string) bool {
	at := b.root.defined
	_, rest, _ := strings.Cut(path, ".")
	for rest != "" {
		var name string
		name, rest, _ = strings.Cut(rest, ".")
		name = strings.TrimSuffix(name, "[x]")
		container := b.container(&constraint{defined: at})
		if container == nil {
			return true
		}
		if at = childOf(container, name); at != nil {
			continue
		}
		property, ok := container.Property(name)
		if !ok || !property.Element.Choice {
			return anyResource(container)
		}
		t := b.validator.registry.Type(property.Type)
		if t == nil {
			return true
		}
		at = t.Root
	}
	return true
}

// anyResource reports whether what stands at a place is a resource of any type, as in
// Bundle.entry.resource, whose elements a profile may name.
func anyResource(container *definition.Element) bool {
	return container.Path == "Resource" || container.Path == "DomainResource"
}

// restricts checks that an element asks no less than before: at is what is asked
// of it so far, by its type and the base profile.
func (r *run) restricts(e element.Node, at *constraint) {
	if at.slice != "" || at.defined == nil {
		return
	}
	path := shorten(e.Get("path").Str())
	least, most := max(at.min, at.defined.Min), at.max
	if most == definition.Unbounded {
		most = at.defined.Max
	}
	var asked constraint
	asked.max = definition.Unbounded
	asked.merge(e)
	if e.Get("min").Exists() && asked.min < least {
		r.issue(e, fhir.IssueBusinessRule, "%s has at least %d values in what this profile derives from, and %d here, which is less", path, least, asked.min)
	}
	if e.Get("max").Exists() && most != definition.Unbounded && (asked.max == definition.Unbounded || asked.max > most) {
		r.issue(e, fhir.IssueBusinessRule, "%s has at most %d values in what this profile derives from, and %s here, which is more", path, most, quote(e.Get("max").Str()))
	}
	if at.fixed.Exists() && asked.fixed.Exists() && !equal(at.fixed, asked.fixed) {
		r.issue(e, fhir.IssueBusinessRule, "%s is fixed to %s in what this profile derives from, and to %s here", path, show(at.fixed), show(asked.fixed))
	}
	r.loosens(e, at, asked.binding)
	types := at.typesOf()
	for _, t := range asked.types {
		if len(types) > 0 && !slices.ContainsFunc(types, func(of definition.TypeRef) bool {
			return r.validator.isKindOf(t.Code, of.Code) || isPublishedID(t.Code, of.Code)
		}) {
			r.issue(e, fhir.IssueBusinessRule, "%s may be of the type %s here, but not in what this profile derives from", path, quote(t.Code))
		}
	}
}

// loosens checks that a required binding stays one. How far the value set of another
// may be narrowed or widened is left to its author
// (https://hl7.org/fhir/R4/profiling.html#binding).
func (r *run) loosens(e element.Node, at *constraint, asked *definition.Binding) {
	before := at.binding
	if before == nil {
		before = at.defined.Binding
	}
	if asked != nil && before != nil && before.Strength == "required" && asked.Strength != "required" {
		r.issue(e.Get("binding").Get("strength"), fhir.IssueBusinessRule, "the binding of %s is required in what this profile derives from, and %s here, which is less",
			shorten(e.Get("path").Str()), shorten(asked.Strength))
	}
}

// typesOf are the types that values may be of; nil where that cannot be told.
func (c *constraint) typesOf() []definition.TypeRef {
	if c.types == nil && c.defined != nil {
		return c.defined.Types
	}
	return c.types
}

// valueTypes checks that fixed[x] and pattern[x] are of a type that the element may be
// of: at is what is asked of it, with what the definition says. No value could have
// another.
func (r *run) valueTypes(e element.Node, at *constraint) {
	types := at.typesOf()
	if len(types) == 0 {
		return
	}
	for member := range e.Children() {
		for _, choice := range []string{"fixed", "pattern"} {
			name, of := strings.CutPrefix(member.Name(), choice)
			if !of || name == "" {
				continue
			}
			if r.validator.registry.Type(name) == nil {
				name = lowerFirst(name)
			}
			if !slices.ContainsFunc(types, func(of definition.TypeRef) bool { return r.validator.mayHave(of.Code, name) }) {
				r.issue(member, fhir.IssueBusinessRule, "%s[x] is a %s, but %s may be %s only", choice, name, shorten(e.Get("path").Str()), codesOf(types))
			}
		}
	}
}

// mayHave reports whether a value of a type can be that of an element of another: as
// it is or as what it specializes, and a Quantity as one of those that have its form.
func (v *Validator) mayHave(elementType, valueType string) bool {
	return v.isKindOf(valueType, elementType) || isPublishedID(valueType, elementType) || valueType == "Quantity" && v.isKindOf(elementType, valueType)
}

// codesOf joins the codes of types, each once.
func codesOf(types []definition.TypeRef) string {
	var codes []string
	for _, t := range types {
		if !slices.Contains(codes, t.Code) {
			codes = append(codes, t.Code)
		}
	}
	return shortenTo(oneOf(codes), 200)
}

// isKindOf reports whether values of a type may stand where those of another are
// expected.
func (v *Validator) isKindOf(name, of string) bool {
	for depth := 0; name != "" && depth < maxChain; depth++ {
		if name == of || of == "Resource" && v.registry.IsResourceType(name) {
			return true
		}
		t := v.registry.Type(name)
		if t == nil {
			return false
		}
		name = t.Base
	}
	return false
}

// isPublishedID reports whether a type is the string that R4 publishes as that of the
// ids of resources, whose values are to be of the form of an id
// (https://hl7.org/fhir/R4/resource.html#id).
func isPublishedID(name, of string) bool { return name == "string" && of == "id" }

// discriminates checks that the paths of a slicing's discriminators lead to elements
// there are.
func (r *run) discriminates(e element.Node, b *profileBuilder, at *constraint) {
	for d := range e.Get("slicing").Get("discriminator").Children() {
		path := d.Get("path").Str()
		container := b.container(at)
		for _, step := range pathSteps(path) {
			if container == nil || strings.HasSuffix(step, ")") {
				break // extension('…'), resolve() and ofType() may lead anywhere
			}
			next := childOf(container, step)
			if next == nil && anyResource(container) {
				break
			}
			if next == nil {
				r.issue(d, fhir.IssueBusinessRule, "the discriminator's path is %s, but %s has no element %s", quote(path), container.Path, quote(step))
				break
			}
			container = b.container(&constraint{defined: next})
		}
	}
}

// compiles checks the expression of a constraint. It is not kept: whoever asks
// may ask for any.
func (r *run) compiles(c element.Node) {
	expression := c.Get("expression")
	if expression.Kind() != element.String {
		return
	}
	if _, err := fhirpath.Compile(r.validator.registry, expression.Str()); err != nil {
		r.issue(expression, fhir.IssueBusinessRule, "the expression of the constraint %s is no FHIRPath that can be compiled: %s", quote(c.Get("key").Str()), shortenTo(err.Error(), 200))
	}
}
