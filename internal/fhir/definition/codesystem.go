package definition

import (
	"encoding/json"
	"regexp"
	"strings"
)

// codeSystem is the JSON of a CodeSystem, its concepts also as a flat list.
type codeSystem struct {
	Content string
	Concept []conceptJSON

	concepts []concept
	index    map[string]int // code → concept
}

type conceptJSON struct {
	Code, Display string
	Concept       []conceptJSON
	Property      []conceptProperty
}

type conceptProperty struct {
	Code         string
	ValueCode    string
	ValueString  string
	ValueBoolean *bool
	ValueCoding  struct{ Code string }
}

func (p *conceptProperty) value() string {
	if p.ValueBoolean != nil {
		if *p.ValueBoolean {
			return "true"
		}
		return "false"
	}
	return p.ValueCode + p.ValueString + p.ValueCoding.Code
}

// concept is a node of the hierarchy: nesting, and the subsumedBy, parent and
// child properties some systems use instead.
type concept struct {
	code, display string
	parents       []int
	children      int
	properties    []conceptProperty
}

// valueSetFilter is ValueSet.compose.include.filter.
type valueSetFilter struct{ Property, Op, Value string }

// system reads a code system, nil if the file has none.
func (t *terminology) system(url string) *codeSystem {
	if s, ok := t.systems[url]; ok {
		return s
	}
	n, ok := t.file.find(url)
	if !ok || t.file.lines[n].resourceType != "CodeSystem" {
		return nil
	}
	s := &codeSystem{}
	if err := json.Unmarshal(t.file.line(n), s); err != nil {
		panic("definition: " + err.Error())
	}
	s.index = map[string]int{}
	s.add(s.Concept, -1)
	s.linkParents()
	t.systems[url] = s
	return s
}

func (s *codeSystem) add(concepts []conceptJSON, parent int) {
	for i := range concepts {
		c, n := &concepts[i], len(s.concepts)
		s.concepts = append(s.concepts, concept{code: c.Code, display: c.Display, properties: c.Property})
		if parent >= 0 {
			s.link(n, parent)
		}
		s.index[c.Code] = n
		s.add(c.Concept, n)
	}
}

func (s *codeSystem) link(child, parent int) {
	s.concepts[child].parents = append(s.concepts[child].parents, parent)
	s.concepts[parent].children++
}

// linkParents adds the hierarchy told by properties.
func (s *codeSystem) linkParents() {
	for n := range s.concepts {
		for i := range s.concepts[n].properties {
			p := &s.concepts[n].properties[i]
			other, ok := s.index[p.value()]
			if !ok {
				continue
			}
			switch p.Code {
			case "subsumedBy", "parent":
				s.link(n, other)
			case "child":
				s.link(other, n)
			}
		}
	}
}

// under reports whether a concept is below an ancestor, or the ancestor itself.
func (s *codeSystem) under(n, ancestor int) bool {
	if n == ancestor {
		return true
	}
	for _, parent := range s.concepts[n].parents {
		if s.under(parent, ancestor) {
			return true
		}
	}
	return false
}

// pass reports whether a concept passes a filter; ok is false for a filter that
// is not known (https://hl7.org/fhir/R4/valueset-filter-operator.html).
func (s *codeSystem) pass(n int, f *valueSetFilter) (pass, ok bool) {
	c := &s.concepts[n]
	switch f.Op {
	case "is-a", "descendent-of", "is-not-a":
		ancestor, known := s.index[f.Value]
		if !known || (f.Property != "concept" && f.Property != "code") {
			return false, false
		}
		under := s.under(n, ancestor)
		switch f.Op {
		case "is-not-a":
			return !under, true
		case "descendent-of":
			return under && n != ancestor, true
		}
		return under, true
	case "in", "not-in":
		in := false
		for value := range strings.SplitSeq(f.Value, ",") {
			in = in || c.has(f.Property, strings.TrimSpace(value))
		}
		return in == (f.Op == "in"), true
	case "=":
		return c.has(f.Property, f.Value), true
	case "exists":
		return c.exists(f.Property) == (f.Value == "true"), true
	case "regex":
		re, err := regexp.Compile("^(?:" + f.Value + ")$")
		if err != nil || f.Property != "code" {
			return false, false
		}
		return re.MatchString(c.code), true
	}
	return false, false
}

func (c *concept) has(property, value string) bool {
	if property == "code" || property == "concept" {
		return c.code == value
	}
	if property == "display" {
		return c.display == value
	}
	for i := range c.properties {
		if p := &c.properties[i]; p.Code == property && p.value() == value {
			return true
		}
	}
	return false
}

func (c *concept) exists(property string) bool {
	for i := range c.properties {
		if c.properties[i].Code == property {
			return true
		}
	}
	return false
}
