package oracle

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"regexp"
	"slices"
	"strings"

	"starling/internal/fhir"
	"starling/internal/fhir/definition"
)

// maker writes random resources of any type, by its definition. Their values are
// few, so that searches made of one resource's find others.
type maker struct {
	random *rand.Rand
	base   string
	ids    map[string][]string // by type
	out    strings.Builder
	inside bool // of a contained resource
}

func pick[V any](m *rand.Rand, list []V) V { return list[m.IntN(len(list))] }

var phrases = []string{
	"Smith", "smith", "van der Berg", "O'Brien Söhne", "Rodríguez-López", "李 小龍", "Ærø straße", `a,b|c$d\\e`, "St. Mary's", "x  y", "Östlund",
}

// values are those of primitive types; those not named have words.
var values = map[string][]string{
	"boolean": {"true", "false"},
	"decimal": {"0", "1.50", "-3.25", "7", "100", "99.5", "0.1", "1e-2", "104.99"},
	"integer": {"0", "7", "-3", "100"}, "positiveInt": {"1", "7", "42", "100"}, "unsignedInt": {"0", "7", "100"},
	"date": {`"2012"`, `"2012-02"`, `"2012-02-29"`, `"1999-12-31"`, `"2031-01-01"`},
	"dateTime": {
		`"2012"`, `"2012-02"`, `"2012-02-29"`, `"2012-02-29T10:00:00Z"`, `"2012-02-29T23:59:59.5-11:00"`, `"2012-03-01T00:00:00+14:00"`, `"2031-05-05T05:05:05.123Z"`,
	},
	"instant":      {`"2012-02-29T10:00:00.123Z"`, `"2012-02-29T10:00:00+14:00"`, `"2012-03-01T00:00:00Z"`},
	"time":         {`"10:00:00"`},
	"uri":          {`"http://example.org/a"`, `"http://example.org/a/b"`, `"http://example.org/a/b/"`, `"http://example.org/ab"`, `"urn:oid:1.2.3"`, `"http://example.org/c,d"`},
	"url":          {`"http://example.org/a"`, `"http://example.org/a/b"`},
	"oid":          {`"urn:oid:1.2.3"`},
	"uuid":         {`"urn:uuid:c757873d-ec9a-4326-a141-556f43239520"`},
	"canonical":    {`"http://example.org/a|1.0"`, `"http://example.org/a|2"`, `"http://example.org/a"`, `"http://example.org/a/b"`, `"http://example.org/ab|1.0"`},
	"id":           {`"a-1"`, `"B.2"`},
	"base64Binary": {`"AAAA"`},
	"xhtml":        {`"<div xmlns=\"http://www.w3.org/1999/xhtml\">The <b>quick</b> fox&amp;hound</div>"`, `"<div xmlns=\"http://www.w3.org/1999/xhtml\"><p>quick brown</p><p>dogs</p></div>"`},
}

// codings are the codes of concepts, whatever their binding.
var codings = []string{
	`{"system":"` + treeSystem + `","code":"poodle","display":"Standard Poodle"}`, `{"system":"` + treeSystem + `","code":"dog","display":"Hunde, süße"}`,
	`{"system":"` + treeSystem + `","code":"oak"}`, `{"system":"` + snomed + `","code":"A1"}`, `{"system":"` + snomed + `","code":"a1","display":"van der Berg"}`,
	`{"system":"http://example.org/other","code":"x"}`, `{"system":"http://example.org/other","code":"X"}`, `{"code":"x"}`, `{"system":"http://example.org/other"}`,
	`{"code":"dog","display":"x-ray"}`,
}

var quantities = []string{
	`"system":"` + ucum + `","code":"kg","unit":"kilo"`, `"system":"` + ucum + `","code":"g"`, `"system":"` + ucum + `","code":"mg"`, `"system":"` + ucum + `","code":"cm"`,
	`"system":"` + ucum + `","code":"Cel"`, `"system":"` + ucum + `","code":"K"`, `"system":"` + ucum + `","code":"h"`, `"system":"http://example.org/units","code":"box","unit":"boxes"`, `"unit":"kg"`, `"unit":"x"`,
}

// withheld are elements that would make the server do something, or that it keeps
// itself.
func (m *maker) withheld(e *definition.Element, depth int) bool {
	switch e.Name {
	case "id", "contained", "modifierExtension", "implicitRules", "extension", "versionId", "lastUpdated":
		return e.Path != "Identifier.extension" || depth >= 0
	case "text":
		return depth == 0 && m.inside
	}
	return false
}

// resource writes one with an id.
func (m *maker) resource(typ, id string) string {
	m.out.Reset()
	m.whole(typ, id, true)
	return m.out.String()
}

// containable are the types of contained resources.
var containable = []string{"Patient", "Organization", "Practitioner", "Location", "Observation", "Medication", "Encounter"}

func (m *maker) whole(typ, id string, contains bool) {
	m.out.WriteString(`{"resourceType":"` + typ + `","id":"` + id + `"`)
	_, may := registry.Type(typ).Root.Property("contained")
	if contains && may && m.random.IntN(3) > 0 {
		m.out.WriteString(`,"contained":[`)
		m.inside = true
		for i := range 1 + m.random.IntN(3) {
			if i > 0 {
				m.out.WriteByte(',')
			}
			m.whole(pick(m.random, containable), fmt.Sprintf("c%d", i), false)
		}
		m.inside = false
		m.out.WriteByte(']')
	}
	if urls := extensions(typ); len(urls) > 0 {
		m.out.WriteString(`,"extension":[`)
		for i, url := range urls {
			if i > 0 {
				m.out.WriteByte(',')
			}
			m.out.WriteString(`{"url":"` + url + `",` + pick(m.random, []string{`"valueString":"Smith"`, `"valueCode":"x"`, `"valueCodeableConcept":{"coding":[{"code":"x"}]}`, `"valueReference":{"reference":"Patient/r1"}`}) + `}`)
		}
		m.out.WriteByte(']')
	}
	m.members(registry.Type(typ).Root, 0, true)
	m.out.WriteString("}")
}

var extensionURL = regexp.MustCompile(`extension\('([^']+)'\)`)

// extensions are those that parameters of a type look at.
func extensions(typ string) []string {
	urls := map[string]bool{}
	for _, d := range registry.SearchParameters(fhir.ResourceType(typ)) {
		for _, m := range extensionURL.FindAllStringSubmatch(d.Expression, -1) {
			urls[m[1]] = true
		}
	}
	return slices.Sorted(maps.Keys(urls))
}

func (m *maker) members(e *definition.Element, depth int, comma bool) {
	for _, child := range e.Children {
		types := child.Types
		if len(types) == 0 && child.Content != nil {
			types = child.Content.Types
		}
		if m.withheld(child, depth) || len(types) == 0 || m.random.IntN(4+depth) > 2 {
			continue
		}
		typ := pick(m.random, types)
		if comma {
			m.out.WriteByte(',')
		}
		comma = true
		name := child.Name
		if child.Choice {
			name += strings.ToUpper(typ.Code[:1]) + typ.Code[1:]
		}
		m.out.WriteString(`"` + name + `":`)
		if child.Max == 1 {
			m.value(child, typ, depth)
			continue
		}
		m.out.WriteByte('[')
		for i := range 1 + m.random.IntN(2) {
			if i > 0 {
				m.out.WriteByte(',')
			}
			m.value(child, typ, depth)
		}
		m.out.WriteByte(']')
	}
}

func (m *maker) value(e *definition.Element, typ definition.TypeRef, depth int) {
	t := registry.Type(typ.Code)
	switch {
	case strings.HasSuffix(e.Path, "SearchParameter.status"), strings.HasSuffix(e.Path, "Subscription.status"):
		m.out.WriteString(`"retired"`) // none that the server would follow
	case typ.Code == "Reference":
		m.reference(typ)
	case typ.Code == "Coding":
		m.out.WriteString(pick(m.random, codings))
	case typ.Code == "Quantity", typ.Code == "Age", typ.Code == "Duration", typ.Code == "Distance", typ.Code == "Count", typ.Code == "SimpleQuantity":
		m.out.WriteString(`{"value":` + pick(m.random, values["decimal"]) + `,`)
		if m.random.IntN(5) == 0 {
			m.out.WriteString(`"comparator":"` + pick(m.random, []string{"<", "<=", ">", ">="}) + `",`)
		}
		m.out.WriteString(pick(m.random, quantities) + `}`)
	case e.Path == "Location.position":
		fmt.Fprintf(&m.out, `{"latitude":%d.5,"longitude":%d}`, m.random.IntN(4)+50, pick(m.random, []int{-180, -179, 0, 1, 10, 179}))
	case e.Path == "Bundle.entry.resource", e.Path == "Bundle.entry.response.outcome", e.Path == "Parameters.parameter.resource":
		m.out.WriteString(`{"resourceType":"` + pick(m.random, []string{"Composition", "MessageHeader", "Patient"}) + `","id":"` + pick(m.random, []string{"r0", "r1", "r2"}) + `"}`)
	case typ.Code == "code":
		m.out.WriteString(`"` + pick(m.random, m.codes(e)) + `"`)
	case t != nil && t.Kind == definition.KindPrimitive:
		list := values[typ.Code]
		if e.Path == "Meta.profile" {
			list = []string{`"http://example.org/profile/p|1"`, `"http://example.org/profile/p"`}
		}
		if list == nil {
			list = []string{`"` + pick(m.random, phrases) + `"`}
		}
		if e.Name == "version" && typ.Code == "string" {
			list = []string{`"1.0"`, `"2"`}
		}
		m.out.WriteString(pick(m.random, list))
	case len(e.Children) > 0:
		m.object(e, depth)
	case e.Content != nil && depth < 4:
		m.object(e.Content, depth)
	case t != nil && depth < 4:
		m.object(t.Root, depth)
	default:
		m.out.WriteString("{}")
	}
}

// codes are a few that an element may have.
func (m *maker) codes(e *definition.Element) []string {
	if e.Binding != nil {
		if codes, ok := registry.Codes(e.Binding.ValueSet); ok && len(codes) > 0 {
			all := slices.Sorted(maps.Keys(codes))
			return all[:min(len(all), 3)]
		}
	}
	return []string{"x", "X", "en"}
}

func (m *maker) object(e *definition.Element, depth int) {
	m.out.WriteByte('{')
	m.members(e, depth+1, false)
	m.out.WriteByte('}')
}

func (m *maker) reference(typ definition.TypeRef) {
	var types []string
	for _, profile := range typ.TargetProfiles {
		if name := profile[strings.LastIndexByte(profile, '/')+1:]; len(m.ids[name]) > 0 {
			types = append(types, name)
		}
	}
	if len(types) == 0 {
		types = []string{"Patient", "Observation", "Organization"}
	}
	to := pick(m.random, types)
	key := to + "/" + pick(m.random, m.ids[to])
	identifier := `"identifier":{"system":"http://example.org/ids","value":"` + pick(m.random, []string{"7", "8", "a,b"}) + `"}`
	switch m.random.IntN(12) {
	case 0:
		key = m.base + "/" + key
	case 1:
		key += "/_history/" + pick(m.random, []string{"1", "2"})
	case 2:
		key = "https://other.example.org/r4/" + key + pick(m.random, []string{"", "/_history/2"})
	case 3, 4:
		key = pick(m.random, []string{"#c0", "#c1", "#c9"})
	case 5:
		key = pick(m.random, []string{"urn:uuid:c757873d-ec9a-4326-a141-556f43239520", "Nobody/1", to + "/nobody"})
	case 6:
		m.out.WriteString(`{"type":"` + to + `",` + identifier + `}`)
		return
	case 7:
		m.out.WriteString(`{"reference":"` + key + `",` + identifier + `}`)
		return
	case 8:
		m.out.WriteString(`{"display":"Somebody"}`)
		return
	}
	m.out.WriteString(`{"reference":"` + key + `"}`)
}
