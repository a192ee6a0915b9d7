package search

import (
	"slices"
	"strings"
	"sync"

	"starling/internal/fhir"
	"starling/internal/fhir/definition"
)

// parameters is all search parameters of one resource type, compiled.
type parameters struct {
	root   *step                 // the plain paths, walked together
	others []*expression         // what takes the FHIRPath engine
	byCode map[string]*parameter // those with an expression for the type
	// single has the names of the values of dates that do not repeat.
	single map[string]bool
}

type lazyParameters struct {
	custom   []*definition.SearchParameter // beside the registry's
	only     bool                          // without the registry's
	once     sync.Once
	compiled *parameters
	err      error
}

// parameter is a search parameter as one type has it.
type parameter struct {
	definition *definition.SearchParameter
	code       string // of its values in the index; none for a part of a composite
	// elements are the elements the parameter takes values from.
	elements []*take
	ways     []string // to the elements
	first    place    // of the elements
	// target is the one type that all its references are filtered for.
	target fhir.ResourceType
	// dynamic says that some values come from FHIRPath, of types known only
	// when it is evaluated.
	dynamic bool
	// repeats says that a valid resource may have several values for it.
	repeats bool
	// composite is what a composite parameter has instead of elements.
	composite *compositeParameter
}

// step is a place in a resource that parameters pass or take values at.
type step struct {
	takes   []*take
	filters []*filter
	// composites have their elements here.
	composites []*composite
	members    map[string]*step // by JSON name
}

// take is one parameter taking values of one type at a step.
type take struct {
	param   string
	typ     string // of the element
	element *definition.Element
	read    reader
	implied *implied // for codes: the system their binding implies
}

// filter is a condition under which a walk goes on.
type filter struct {
	op   pathOp
	then *step
}

// compile reads the expressions of a type's parameters.
func (s *Search) compile(t fhir.ResourceType) (*parameters, error) {
	c := compiler{search: s, t: t, out: &parameters{root: &step{}, byCode: map[string]*parameter{}, single: map[string]bool{}}}
	for _, d := range s.definitions(t) {
		if err := c.parameter(d); err != nil {
			return nil, err
		}
	}
	for _, d := range s.definitions(t) {
		c.composite(d)
	}
	for _, p := range c.out.byCode {
		if p.definition.Type == "date" && !p.repeats {
			c.out.single[p.code] = true
		}
	}
	return c.out, nil
}

type compiler struct {
	search *Search
	t      fhir.ResourceType
	out    *parameters
}

func (c *compiler) parameter(d *definition.SearchParameter) error {
	if readers[d.Type] == nil || d.Expression == "" || indexedByStore(d.Code) || notIndexed[d.Code] != "" {
		return nil
	}
	p := &parameter{definition: d, code: d.Param()}
	targets := map[fhir.ResourceType]bool{}
	for _, branch := range branches(d.Expression) {
		branch, own := c.own(branch)
		if !own {
			continue
		}
		ops, ok := parsePath(branch)
		if !ok {
			other, err := c.search.compileExpression(d, branch)
			if err != nil {
				return err
			}
			c.out.others = append(c.out.others, other)
			p.dynamic = true
			continue
		}
		for _, at := range c.places(ops) {
			c.take(c.out.root, p, at)
		}
		last := ops[len(ops)-1]
		if last.kind != pathResolve {
			last.name = ""
		}
		targets[fhir.ResourceType(last.name)] = true
	}
	if len(targets) == 1 {
		for p.target = range targets {
		}
	}
	p.repeats = p.repeats || p.dynamic
	if p.dynamic || len(p.elements) > 0 {
		c.out.byCode[d.Code] = p
	}
	return nil
}

// own reports whether a branch is for resources of the type, and gives it with the
// type at its beginning: `name` is `InsurancePlan.name`. A branch may begin with
// the name of an element that is also that of a primitive type: `code`.
func (c *compiler) own(branch string) (string, bool) {
	from := branchType(branch)
	switch t := c.search.registry.Type(from); {
	case from == "", from == string(c.t), from == "Resource", from == "DomainResource":
		return branch, true
	case t != nil && t.Kind != definition.KindPrimitive:
		return branch, false
	}
	at := len(branch) - len(strings.TrimLeft(branch, branchBegin))
	return branch[:at] + string(c.t) + "." + branch[at:], true
}

// place is a step not yet made: the way to it and what stands there.
type place struct {
	way     []pathOp // fields by JSON name, and filters
	typ     string
	element *definition.Element
	many    bool // an element on the way may repeat
}

func (p place) to(op pathOp, typ string, element *definition.Element) place {
	return place{append(slices.Clip(p.way), op), typ, element, p.many || op.kind == pathField && element.Max != 1}
}

// beside reports whether two places are types of one choice.
func (p place) beside(other place) bool {
	n := len(p.way)
	return p.element == other.element && n > 0 && n == len(other.way) && slices.Equal(p.way[:n-1], other.way[:n-1])
}

// places follows a path from the type's root to where it ends.
func (c *compiler) places(ops []pathOp) []place {
	root := c.search.registry.Type(string(c.t)).Root
	return c.follow([]place{{typ: string(c.t), element: root}}, ops[1:])
}

// follow goes on from places.
func (c *compiler) follow(places []place, ops []pathOp) []place {
	for _, op := range ops {
		var next []place
		for _, at := range places {
			switch op.kind {
			case pathField:
				next = append(next, c.children(at, op.name)...)
			case pathAs:
				if c.search.isA(at.typ, op.name) {
					next = append(next, at)
				}
			default:
				next = append(next, at.to(op, at.typ, at.element))
			}
		}
		places = next
	}
	return places
}

// children gives the places of an element's child: one, or for a choice one a
// type.
func (c *compiler) children(at place, name string) []place {
	element := at.element
	switch {
	case len(element.Children) > 0:
	case element.Content != nil:
		element = element.Content
	default:
		t := c.search.registry.Type(at.typ)
		if t == nil {
			return nil
		}
		element = t.Root
	}
	for _, child := range element.Children {
		if child.Name != name {
			continue
		}
		types := child.Types
		if len(types) == 0 && child.Content != nil {
			types = child.Content.Types
		}
		var out []place
		for _, t := range types {
			member := name
			if child.Choice {
				member = choiceName(name, t.Code)
			}
			out = append(out, at.to(pathOp{kind: pathField, name: member}, t.Code, child))
		}
		return out
	}
	return nil
}

// choiceName is the JSON name of a choice: value and Quantity, valueQuantity.
func choiceName(name, typ string) string {
	if c := typ[0]; c >= 'a' && c <= 'z' {
		return name + string(c-'a'+'A') + typ[1:]
	}
	return name + typ
}

// take ends a path: what stands there is read for the parameter. An extension
// is read for its value.
func (c *compiler) take(root *step, p *parameter, at place) {
	if at.typ == "Extension" {
		for _, value := range c.children(at, "value") {
			c.take(root, p, value)
		}
		return
	}
	read := readerFor(p.definition.Type, at.typ)
	if read == nil {
		return
	}
	s := root.at(at.way)
	if slices.ContainsFunc(s.takes, func(t *take) bool { return slices.Contains(p.elements, t) }) {
		return // The expression names the path twice.
	}
	t := &take{param: p.code, typ: at.typ, element: at.element, read: read}
	if p.definition.Type == "token" && at.typ == "code" {
		t.implied = c.search.impliedBy(at.element.Binding)
	}
	// The types of one choice exclude each other.
	p.repeats = p.repeats || at.many || len(p.elements) > 0 && !at.beside(p.first)
	if len(p.elements) == 0 {
		p.first = at
	}
	p.elements = append(p.elements, t)
	p.ways = append(p.ways, wayText(at))
	s.takes = append(s.takes, t)
}

// at finds or makes the step at the end of a way.
func (s *step) at(way []pathOp) *step {
	for _, op := range way {
		s = s.next(op)
	}
	return s
}

// next finds or makes the step behind a field or filter.
func (s *step) next(op pathOp) *step {
	if op.kind == pathField {
		if s.members == nil {
			s.members = map[string]*step{}
		}
		if s.members[op.name] == nil {
			s.members[op.name] = &step{}
		}
		return s.members[op.name]
	}
	for _, f := range s.filters {
		if f.op == op {
			return f.then
		}
	}
	f := &filter{op: op, then: &step{}}
	s.filters = append(s.filters, f)
	return f.then
}

// isA decides `as`: whether a type is another or specializes it, as Age does
// Quantity. A primitive is its own type alone: a canonical is no uri.
func (s *Search) isA(typ, other string) bool {
	for typ != other {
		t := s.registry.Type(typ)
		if t == nil || t.Kind == definition.KindPrimitive {
			return false
		}
		typ = t.Base
	}
	return true
}
