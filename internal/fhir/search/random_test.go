package search

import (
	"strings"
	"testing"

	"pgregory.net/rapid"

	"starling/internal/fhir/definition"
)

// resourceMaker writes random resources of any type, by its definition.
type resourceMaker struct {
	t   *rapid.T
	out strings.Builder
}

// texts are values of primitive types; those not named have words.
var texts = map[string][]string{
	"boolean": {"true", "false"},
	"decimal": {"0", "1.50", "-3.25e2", "1e-3", "12345678901234567890.5"},
	"integer": {"0", "7", "-3"}, "positiveInt": {"1", "42"}, "unsignedInt": {"0", "9"},
	"date":         {`"2012"`, `"2012-02"`, `"2012-02-29"`},
	"dateTime":     {`"2012"`, `"2012-02-29T10:00:00Z"`, `"2012-02-29T23:59:59.5-11:00"`, `"2012-02-30"`},
	"instant":      {`"2012-02-29T10:00:00.123Z"`, `"2012-02-29T10:00:00+14:00"`},
	"time":         {`"10:00:00"`},
	"uri":          {`"http://example.org/a"`, `"urn:oid:1.2.3"`, `"http://example.org/a,b$c"`},
	"canonical":    {`"http://example.org/a|1.0"`, `"http://example.org/b"`, `"#c"`},
	"code":         {`"final"`, `"male"`, `"phone"`, `"email"`, `"depends-on"`, `"composed-of"`, `"A,1"`},
	"id":           {`"a-1"`, `"B.2"`},
	"string":       {`"Smith"`, `"van der Berg"`, `"O'Brien \\ Söhne, $5 | 6"`, `"李"`, `" "`, `"http://snomed.info/sct"`},
	"markdown":     {`"*bold*"`, `"A\nb"`},
	"base64Binary": {`"AAAA"`},
}

var referenceTexts = []string{
	"Patient/1", "Group/1/_history/2", "#c1", "http://localhost/fhir/Practitioner/p.1", "https://example.org/r4/Patient/x/_history/1",
	"urn:uuid:c757873d-ec9a-4326-a141-556f43239520", "Nobody/1",
}

func (m *resourceMaker) resource(typ string) string {
	m.out.WriteString(`{"resourceType":"` + typ + `","id":"r","contained":[{"resourceType":"Patient","id":"c1"}]`)
	m.members(definition.R4().Type(typ).Root, 0, true)
	m.out.WriteString("}")
	return m.out.String()
}

// members writes some of an element's children. comma says something stands
// before them.
func (m *resourceMaker) members(e *definition.Element, depth int, comma bool) {
	for _, child := range e.Children {
		switch child.Name {
		case "id", "contained", "text", "extension", "modifierExtension", "resource", "language", "implicitRules":
			if child.Name != "text" && child.Name != "language" || depth == 0 {
				continue
			}
		}
		types := child.Types
		if len(types) == 0 || rapid.IntRange(0, 2+depth).Draw(m.t, child.Path) > 1 {
			continue
		}
		typ := rapid.SampledFrom(types).Draw(m.t, "type").Code
		if comma {
			m.out.WriteByte(',')
		}
		comma = true
		name := child.Name
		if child.Choice {
			name = choiceName(name, typ)
		}
		m.out.WriteString(`"` + name + `":`)
		if child.Max == 1 {
			m.value(child, typ, depth)
			continue
		}
		m.out.WriteByte('[')
		for i := range rapid.IntRange(1, 2).Draw(m.t, "items") {
			if i > 0 {
				m.out.WriteByte(',')
			}
			m.value(child, typ, depth)
		}
		m.out.WriteByte(']')
	}
}

func (m *resourceMaker) value(e *definition.Element, typ string, depth int) {
	t := definition.R4().Type(typ)
	switch {
	case typ == "Reference":
		text := rapid.SampledFrom(referenceTexts).Draw(m.t, "reference")
		m.out.WriteString(`{"reference":"` + text + `"`)
		if rapid.Bool().Draw(m.t, "more") {
			m.out.WriteString(`,"type":"Patient","identifier":{"system":"http://example.org","value":"7"}`)
		}
		m.out.WriteByte('}')
	case len(e.Children) > 0:
		m.object(e, depth)
	case t != nil && t.Kind == definition.KindPrimitive:
		list := texts[typ]
		if list == nil {
			list = []string{`"word"`}
		}
		m.out.WriteString(rapid.SampledFrom(list).Draw(m.t, typ))
	case t != nil && depth < 4:
		m.object(t.Root, depth)
	default:
		m.out.WriteString("{}")
	}
}

func (m *resourceMaker) object(e *definition.Element, depth int) {
	m.out.WriteByte('{')
	m.members(e, depth+1, false)
	m.out.WriteByte('}')
}

// On random resources of every type the walk finds what FHIRPath finds, and
// what is indexed is found.
func TestRandomResources(t *testing.T) {
	e := newEquivalence()
	types := definition.R4().ResourceTypes()
	queries := 0
	rapid.Check(t, func(rt *rapid.T) {
		m := resourceMaker{t: rt}
		text := m.resource(string(rapid.SampledFrom(types).Draw(rt, "type")))
		root := parse(t, text)
		e.check(rt, text, root)
		queries += found(rt, text, root)
	})
	t.Logf("%d elements, %d queries", e.elements, queries)
}
