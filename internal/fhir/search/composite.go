package search

import (
	"maps"
	"slices"
	"strings"

	"starling/internal/fhir"
	"starling/internal/fhir/definition"
	"starling/internal/fhir/element"
)

// A composite parameter looks at elements and wants all its parts in the same
// one (https://hl7.org/fhir/R4/search.html#combining). Where that element is the
// resource itself and each part has a parameter of its own, those together say
// the same, and nothing more is indexed.
type compositeParameter struct {
	parts []*parameter
	// joint has, for each time the element is the resource, the codes of the
	// parameters that the parts are.
	joint [][]string
	// indexed says that other elements have values in the index.
	indexed bool
}

// composite is a composite parameter at one element.
type composite struct {
	param string
	parts []compositePart
}

type compositePart struct {
	root     *step
	resource bool // root is the resource's, not the element's
}

// composite compiles a composite parameter. One with a part that finds nothing
// is left out.
func (c *compiler) composite(d *definition.SearchParameter) {
	if d.Type != "composite" || d.Expression == "" || len(d.Components) < 2 {
		return
	}
	p := &parameter{definition: d, code: d.Param(), composite: &compositeParameter{}}
	definitions := c.componentDefinitions(d)
	for _, branch := range branches(d.Expression) {
		branch, own := c.own(branch)
		ops, ok := parsePath(branch)
		if !own || !ok || len(definitions) == 0 {
			continue
		}
		for _, at := range c.places(ops) {
			c.compositeAt(p, definitions, at)
		}
	}
	if p.composite.indexed || len(p.composite.joint) > 0 {
		c.out.byCode[d.Code] = p
	}
}

func (c *compiler) componentDefinitions(d *definition.SearchParameter) []*definition.SearchParameter {
	var out []*definition.SearchParameter
	from := c.search
	if from.parts != nil {
		from = from.parts
	}
	for _, component := range d.Components {
		for _, other := range from.definitions(c.t) {
			if other.URL == withoutVersion(component.Definition) {
				out = append(out, other)
			}
		}
	}
	if len(out) != len(d.Components) {
		return nil
	}
	return out
}

// compositeAt compiles a composite parameter at one of its elements.
func (c *compiler) compositeAt(p *parameter, definitions []*definition.SearchParameter, at place) {
	one := &composite{param: p.code}
	var parts []*parameter
	for i, d := range definitions {
		part, compiled := c.part(d, p.definition.Components[i].Expression, at)
		// DocumentReference's relationship has the expressions of its two
		// parts exchanged.
		for j := 0; len(part.elements) == 0 && j < len(definitions); j++ {
			part, compiled = c.part(d, p.definition.Components[j].Expression, at)
		}
		if len(part.elements) == 0 {
			return
		}
		parts, one.parts = append(parts, part), append(one.parts, compiled)
	}
	p.composite.merge(parts)
	if len(at.way) == 0 && p.definition.Generation == "" {
		if joint := c.joint(parts); joint != nil {
			p.composite.joint = append(p.composite.joint, joint)
			return
		}
	}
	p.composite.indexed = true
	s := c.out.root.at(at.way)
	s.composites = append(s.composites, one)
}

// merge adds the elements the parts have at another element.
func (p *compositeParameter) merge(parts []*parameter) {
	if p.parts == nil {
		p.parts = parts
		return
	}
	for i, part := range parts {
		p.parts[i].elements = append(p.parts[i].elements, part.elements...)
	}
}

// part compiles the expression of a part at an element.
func (c *compiler) part(d *definition.SearchParameter, expression string, at place) (*parameter, compositePart) {
	p, out := &parameter{definition: d}, compositePart{root: &step{}}
	from := place{typ: at.typ, element: at.element}
	if rest, ok := strings.CutPrefix(expression, "%resource."); ok {
		expression, out.resource = rest, true
		from = place{typ: string(c.t), element: c.search.registry.Type(string(c.t)).Root}
	}
	for _, branch := range branches(expression) {
		ops, ok := parsePath(branch)
		if !ok {
			continue
		}
		for i := range ops {
			if ops[i].kind == pathAs && ops[i].name == "DateTime" { // as R4 has it
				ops[i].name = "dateTime"
			}
		}
		for _, end := range c.follow([]place{from}, ops) {
			c.take(out.root, p, end)
		}
	}
	return p, out
}

// joint finds parameters that look at just the elements the parts do; nil if
// a part has none.
func (c *compiler) joint(parts []*parameter) []string {
	var codes []string
	for _, part := range parts {
		for _, code := range slices.Sorted(maps.Keys(c.out.byCode)) {
			other := c.out.byCode[code]
			if other.definition.Type == part.definition.Type && !other.dynamic && other.definition.Generation == "" && sameWays(other.ways, part.ways) {
				codes = append(codes, code)
				break
			}
		}
	}
	if len(codes) < len(parts) {
		return nil
	}
	return codes
}

func sameWays(a, b []string) bool {
	return slices.Equal(slices.Sorted(slices.Values(a)), slices.Sorted(slices.Values(b)))
}

// wayText tells the ways to elements apart.
func wayText(at place) string {
	var b strings.Builder
	for _, op := range at.way {
		b.WriteString("." + op.name + "'" + op.text + "'")
	}
	return b.String()
}

// composite reads an element that has a value for each part.
func (x *extraction) composite(c *composite, n element.Node) {
	value := fhir.CompositeValue{Param: c.param}
	for _, part := range c.parts {
		y := extractions.Get().(*extraction)
		y.search, y.root, y.container, y.base = x.search, x.root, x.container, x.base
		from := n
		if part.resource {
			from = x.root
		}
		y.walk(part.root, from)
		index := y.index()
		y.reset()
		extractions.Put(y)
		if isEmpty(index) {
			return
		}
		value.Parts = append(value.Parts, index)
	}
	x.composites = append(x.composites, value)
}

func isEmpty(i *fhir.Index) bool {
	return len(i.Tokens)+len(i.References)+len(i.Strings)+len(i.Dates)+len(i.Numbers)+len(i.Quantities)+len(i.URIs) == 0
}

// planComposite reads the values of the parts, joined by $
// (https://hl7.org/fhir/R4/search.html#combining).
func planComposite(p *planning, t *term, value string) (fhir.Criterion, error) {
	of := t.of[0].composite
	texts := splitEscaped(value, '$')
	if len(texts) != len(of.parts) || slices.Contains(texts, "") {
		return nil, t.badValue(value, "a value for each of its parts, joined by $,")
	}
	parts := make([]fhir.Criterion, len(texts))
	for i := range texts {
		var err error
		if parts[i], err = p.planPart(t, of.parts[i], texts[i]); err != nil {
			return nil, err
		}
	}
	var choices fhir.Or
	for _, codes := range of.joint {
		all := make(fhir.And, len(parts))
		for i, code := range codes {
			all[i] = named(parts[i], code)
		}
		choices = append(choices, all)
	}
	if of.indexed {
		choices = append(choices, fhir.Composite{Param: t.code, Parts: parts})
	}
	if len(choices) == 1 {
		return choices[0], nil
	}
	return choices, nil
}

// planPart plans the value of one part. A system without a code finds nothing
// narrow enough to be bound to another part.
func (p *planning) planPart(t *term, part *parameter, text string) (fhir.Criterion, error) {
	plan := planners[part.definition.Type]
	if plan == nil {
		return nil, t.unsupported("a part is of the type " + part.definition.Type)
	}
	c, err := plan.value(p, &term{queryParameter: &queryParameter{name: t.name, value: text}, of: []*parameter{part}}, text)
	if err != nil {
		return nil, err
	}
	switch k := c.(type) {
	case fhir.Token:
		if k.Code == nil {
			return nil, t.badValue(text, "a code")
		}
	case fhir.ReferenceTo:
		if k.URL == "" && k.Type == "" {
			if len(part.definition.Target) != 1 {
				return nil, t.badValue(text, "a reference with its type")
			}
			k.Type = part.definition.Target[0]
			return k, nil
		}
	}
	return c, nil
}

// named gives a part's criterion the parameter it concerns.
func named(c fhir.Criterion, param string) fhir.Criterion {
	switch c := c.(type) {
	case fhir.Or:
		out := make(fhir.Or, len(c))
		for i := range c {
			out[i] = named(c[i], param)
		}
		return out
	case fhir.Token:
		c.Param = param
		return c
	case fhir.ReferenceTo:
		c.Param = param
		return c
	case fhir.String:
		c.Param = param
		return c
	case fhir.Date:
		c.Param = param
		return c
	case fhir.Number:
		c.Param = param
		return c
	case fhir.Quantity:
		c.Param = param
		return c
	}
	return c
}

// present is :missing=false of a composite.
func (p *compositeParameter) present(code string) fhir.Criterion {
	var choices fhir.Or
	for _, codes := range p.joint {
		var all fhir.And
		for _, part := range codes {
			all = append(all, fhir.Missing{Param: part})
		}
		choices = append(choices, all)
	}
	if p.indexed {
		choices = append(choices, fhir.Missing{Param: code})
	}
	return choices
}
