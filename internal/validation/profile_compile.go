package validation

import (
	"slices"
	"strings"

	"starling/internal/fhir/definition"
	"starling/internal/fhir/element"
)

// compileProfile builds the tree of a StructureDefinition: of its snapshot if
// it has one, or else of its differential on top of its base profile, which is
// how snapshots are made. nil if the text defines no profile of R4, or one
// whose base is not known.
func (v *Validator) compileProfile(text []byte, chain []string) *profile {
	tree, err := element.Parse(text, element.StoredLimits)
	if err != nil {
		return nil
	}
	n := tree.Root()
	t := v.registry.Type(n.Get("type").Str())
	if n.Get("resourceType").Str() != "StructureDefinition" || n.Get("derivation").Str() == "specialization" || t == nil {
		return nil
	}
	p := &profile{url: n.Get("url").Str(), version: n.Get("version").Str(), typeName: t.Name}
	for c := range n.Get("context").Children() {
		p.contexts = append(p.contexts, context{c.Get("type").Str(), c.Get("expression").Str()})
	}
	p.conditions = texts(n.Get("contextInvariant"))
	elements := n.Get("snapshot").Get("element")
	p.root = newConstraint(t.Name, t.Name)
	if elements.IsEmpty() {
		elements = n.Get("differential").Get("element")
		base := n.Get("baseDefinition").Str()
		if v.typeOfCanonical(base) == "" {
			parent := v.profileIn(base, chain)
			if parent == nil {
				return nil
			}
			p.root = parent.root.clone()
			if p.contexts == nil {
				p.contexts, p.conditions = parent.contexts, parent.conditions
			}
			p.modifier = parent.modifier
		}
	}
	p.root.defined, p.root.typeName = t.Root, t.Name
	b := profileBuilder{validator: v, root: p.root}
	for e := range elements.Children() {
		if at := b.place(e); at != nil {
			at.merge(e)
		}
		if e.Get("path").Str() == t.Name && e.Get("isModifier").Kind() == element.True {
			p.modifier = true
		}
	}
	v.prune(p.root)
	v.finish(p.root)
	return p
}

func newConstraint(name, path string) *constraint {
	return &constraint{name: name, path: path, max: definition.Unbounded}
}

// clone copies a tree before it is compiled further.
func (c *constraint) clone() *constraint {
	copied := *c
	copied.types, copied.invariants = slices.Clone(c.types), slices.Clone(c.invariants)
	copied.compiled, copied.ofType, copied.tests = nil, nil, nil
	if c.slicing != nil {
		slicing := *c.slicing
		copied.slicing = &slicing
	}
	copied.children, copied.slices = cloneAll(c.children), cloneAll(c.slices)
	return &copied
}

func cloneAll(list []*constraint) []*constraint {
	copied := make([]*constraint, len(list))
	for i, c := range list {
		copied[i] = c.clone()
	}
	return copied
}

type profileBuilder struct {
	validator *Validator
	root      *constraint
	last      []string // the parts of the id before, with their slices
	made      int      // constraints
}

// Bounds of a profile, far beyond those that are published: an element may stand
// that deep, and all that are named, with those above them, be that many. Types that
// contain themselves, as extensions do, know no others.
const (
	maxParts       = 50
	maxConstraints = 50_000
)

// tooLarge reports whether an element is beyond the bounds.
func (b *profileBuilder) tooLarge(e element.Node) bool {
	return b.made >= maxConstraints || strings.Count(e.Get("path").Str(), ".") >= maxParts || strings.Count(e.Get("id").Str(), ".") >= maxParts
}

// place finds or makes the place of an ElementDefinition in the tree; nil if there is
// no such element, or if it is beyond the bounds.
func (b *profileBuilder) place(e element.Node) *constraint {
	if b.tooLarge(e) {
		return nil
	}
	parts := b.parts(e)
	if len(parts) == 0 {
		return nil
	}
	b.last = parts
	at := b.root
	for _, part := range parts[1:] {
		name, slice, _ := strings.Cut(part, ":")
		if at = b.descend(at, name, slice); at == nil {
			return nil
		}
	}
	return at
}

// parts are those of the element's id. Without an id they are those of its
// path, in the slices of the element before.
func (b *profileBuilder) parts(e element.Node) []string {
	path, sliceName := e.Get("path").Str(), e.Get("sliceName").Str()
	if id := e.Get("id").Str(); strings.ContainsRune(id, ':') || sliceName == "" && id != "" && !b.inSlice(path) {
		return strings.Split(id, ".")
	}
	parts := strings.Split(path, ".")
	for i := range parts[:len(parts)-1] {
		if i >= len(b.last) {
			break
		}
		name, _, sliced := strings.Cut(b.last[i], ":")
		if name != parts[i] {
			break
		}
		if sliced {
			parts[i] = b.last[i]
		}
	}
	if sliceName != "" {
		parts[len(parts)-1] += ":" + sliceName
	}
	return parts
}

// inSlice reports whether a path goes on below the slice that came before.
func (b *profileBuilder) inSlice(path string) bool {
	at := ""
	for i, part := range b.last {
		name, _, sliced := strings.Cut(part, ":")
		if i > 0 {
			at += "."
		}
		at += name
		if sliced && strings.HasPrefix(path, at+".") {
			return true
		}
	}
	return false
}

// descend finds or makes a child, or a slice of it. A choice may be named with
// its type: valueQuantity is the slice valueQuantity of value[x].
func (b *profileBuilder) descend(at *constraint, name, slice string) *constraint {
	container := b.container(at)
	typeName := ""
	if container != nil {
		if property, ok := container.Property(name); ok && property.Element.Choice {
			typeName = property.Type
			if slice == "" {
				slice = name
			}
			name = property.Element.Name
		}
	}
	name = strings.TrimSuffix(name, "[x]")
	child := at.child(name)
	if child == nil {
		child = newConstraint(name, at.path+"."+name)
		b.made++
		child.defined = childOf(container, name)
		if child.defined == nil && container != nil && container.Children != nil {
			return nil // an element that the type does not have asks nothing
		}
		at.children = append(at.children, child)
	}
	if slice == "" {
		return child
	}
	return b.slice(child, slice, typeName)
}

// slice finds or makes a slice; "a/b" is a slice of the slice a.
func (b *profileBuilder) slice(of *constraint, name, typeName string) *constraint {
	if outer, _, re := cutLast(name, "/"); re {
		if found := of.sliceNamed(outer); found != nil {
			of = found
		}
	}
	s := of.sliceNamed(name)
	if s == nil {
		s = newConstraint(of.name, of.path+":"+name)
		b.made++
		s.slice, s.defined = name, of.defined
		of.slices = append(of.slices, s)
	}
	if typeName != "" && s.types == nil {
		s.types = []definition.TypeRef{{Code: typeName}}
		if of.slicing == nil {
			of.slicing = &slicing{discriminators: []discriminator{{"type", "$this"}}, rules: "open"}
		}
	}
	return s
}

func cutLast(s, separator string) (before, after string, found bool) {
	at := strings.LastIndex(s, separator)
	if at < 0 {
		return s, "", false
	}
	return s[:at], s[at+len(separator):], true
}

func (c *constraint) child(name string) *constraint {
	for _, child := range c.children {
		if child.name == name {
			return child
		}
	}
	return nil
}

// sliceNamed finds a slice, also among the slices of slices.
func (c *constraint) sliceNamed(name string) *constraint {
	for _, s := range c.slices {
		if s.slice == name {
			return s
		}
		if found := s.sliceNamed(name); found != nil {
			return found
		}
	}
	return nil
}

// container is the element whose children a constraint's values have: the
// element itself if it is defined in place, or the root of its only type.
func (b *profileBuilder) container(c *constraint) *definition.Element {
	if c.defined != nil && c.defined.Children != nil {
		return c.defined
	}
	types := c.types
	if types == nil && c.defined != nil {
		types = c.defined.Types
	}
	if len(types) != 1 {
		return nil
	}
	if t := b.validator.registry.Type(types[0].Code); t != nil {
		return t.Root
	}
	return nil
}

func childOf(e *definition.Element, name string) *definition.Element {
	if e == nil {
		return nil
	}
	for _, child := range e.Children {
		if child.Name == name {
			return child
		}
	}
	return nil
}
