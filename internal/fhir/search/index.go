package search

import (
	"slices"
	"sync"

	"starling/internal/fhir"
	"starling/internal/fhir/element"
)

// Index gives the values a resource of type t has for its search parameters.
// References to base are local. A value that cannot be indexed, such as a date
// that is none, is left out; an error is the server's own fault.
// Of the index, _id and _lastUpdated are no part: the store has them.
func (s *Search) Index(t fhir.ResourceType, root element.Node, base string) (*fhir.Index, error) {
	p, err := s.parameters(t)
	if err != nil {
		return nil, err
	}
	index := s.indexOf(t, p, root, root, base)
	return index, s.indexContained(index, root, base)
}

// indexOf indexes a resource that is container itself or contained in it.
func (s *Search) indexOf(t fhir.ResourceType, p *parameters, root, container element.Node, base string) *fhir.Index {
	x := extractions.Get().(*extraction)
	x.search, x.root, x.container, x.base = s, root, container, base
	x.walk(p.root, root)
	for _, e := range p.others {
		x.evaluate(e, t)
	}
	index := x.index()
	index.Dates = onlyFirst(index.Dates, p.single)
	x.reset()
	extractions.Put(x)
	return index
}

// onlyFirst leaves out what follows the first value of a parameter that has one alone
// in a valid resource: what is stored unchecked may have more, and what is read
// in the order of such a date is a value a resource.
func onlyFirst(dates []fhir.DateValue, single map[string]bool) []fhir.DateValue {
	if len(dates) < 2 {
		return dates
	}
	kept := dates[:0]
	for _, v := range dates {
		if !single[v.Param] || !slices.ContainsFunc(kept, func(other fhir.DateValue) bool { return other.Param == v.Param }) {
			kept = append(kept, v)
		}
	}
	return kept
}

// extraction is the work on one resource; its slices are used again.
type extraction struct {
	search *Search
	root   element.Node
	// container is what contains root, or root.
	container element.Node
	base      string

	tokens     values[fhir.TokenValue]
	references values[referenceValue]
	strings    values[fhir.StringValue]
	dates      values[fhir.DateValue]
	numbers    values[fhir.NumberValue]
	quantities values[fhir.QuantityValue]
	uris       values[fhir.URIValue]
	composites []fhir.CompositeValue
	typed      values[fhir.TypedIdentifier]
	positions  values[fhir.PositionValue]
	names      values[fhir.NameValue]
}

var extractions = sync.Pool{New: func() any { return new(extraction) }}

// walk reads a value, or every item of an array, at a step.
func (x *extraction) walk(s *step, n element.Node) {
	switch n.Kind() {
	case element.Array:
		for item := range n.Children() {
			x.walk(s, item)
		}
		return
	case element.Null, 0:
		return
	}
	for _, t := range s.takes {
		t.read(x, t, n)
	}
	for _, c := range s.composites {
		x.composite(c, n)
	}
	for _, f := range s.filters {
		if x.holds(f, n) {
			x.walk(f.then, n)
		}
	}
	if len(s.members) == 0 || n.Kind() != element.Object {
		return
	}
	for child := range n.Children() {
		if next := s.members[child.Name()]; next != nil {
			x.walk(next, child)
		}
	}
}

func (x *extraction) holds(f *filter, n element.Node) bool {
	if f.op.kind == pathResolve {
		return string(x.targetType(n)) == f.op.name
	}
	member := n.Get(f.op.name)
	return member.Exists() && member.Literal() == f.op.text
}

func (x *extraction) index() *fhir.Index {
	return &fhir.Index{
		Tokens: x.tokens.distinct(), References: x.referenceValues(), Strings: x.strings.distinct(), Dates: x.dates.distinct(),
		Numbers: x.numbers.distinct(), Quantities: x.quantityValues(), URIs: x.uris.distinct(),
		Composites: x.composites, Typed: x.typed.distinct(), Positions: x.positions.distinct(), Names: x.names.distinct(),
		Text: x.texts(),
	}
}

// reset lets go of the resource, whose text the values share.
func (x *extraction) reset() {
	x.tokens.reset()
	x.references.reset()
	x.strings.reset()
	x.dates.reset()
	x.numbers.reset()
	x.quantities.reset()
	x.uris.reset()
	x.composites = nil
	x.typed.reset()
	x.positions.reset()
	x.names.reset()
	x.search, x.root, x.container, x.base = nil, element.Node{}, element.Node{}, ""
}
