package terminology

import (
	"encoding/json"
	"slices"
	"strings"

	"starling/internal/fhir"
)

// codeSystemJSON is a CodeSystem, as far as it is used.
type codeSystemJSON struct {
	URL, Version, Name, Title string
	CaseSensitive             bool
	Content                   string
	ValueSet                  string
	Concept                   []conceptJSON
	Property                  []struct{ Code, URI string }
}

type conceptJSON struct {
	Code, Display, Definition string
	Designation               []Designation
	Property                  []Property
	Concept                   []conceptJSON
}

// Designation is a further name of a concept.
type Designation struct {
	Language string
	Use      json.RawMessage // a Coding; nil: none
	Value    string
}

// CodeSystem is a code system, compiled.
type CodeSystem struct {
	URL, Version, Name string
	ValueSet           string // canonical of the value set with all its codes; "" if it has none
	// content is CodeSystem.content: only of a complete one it is known that a
	// code that is not in it does not exist.
	content       string
	caseSensitive bool
	concepts      []concept
	exact         map[string]int32
	folded        map[string]int32 // nil if caseSensitive
	// properties are those that the system defines, or gives to a concept.
	properties map[string]bool
}

type concept struct {
	*conceptJSON
	parents, children []int32
	abstract          bool // a group, not to be selected
	inactive          bool
}

// newCodeSystem compiles a CodeSystem.
func newCodeSystem(text []byte) (*CodeSystem, error) {
	var j codeSystemJSON
	if err := json.Unmarshal(text, &j); err != nil {
		return nil, fhir.NewError(fhir.KindUnprocessable, fhir.IssueStructure, "A code system cannot be read.").Because(err)
	}
	s := &CodeSystem{
		URL: j.URL, Version: j.Version, Name: j.Name, ValueSet: j.ValueSet,
		content: j.Content, caseSensitive: j.CaseSensitive, exact: map[string]int32{}, properties: map[string]bool{},
	}
	if s.Name == "" {
		s.Name = j.Title
	}
	if s.Name == "" {
		s.Name = j.URL
	}
	if !s.caseSensitive {
		s.folded = map[string]int32{}
	}
	flags := map[string]string{} // the standard ones, by what the system calls them
	for _, p := range j.Property {
		s.properties[p.Code] = true
		if flag, standard := strings.CutPrefix(p.URI, conceptProperties); standard {
			flags[p.Code] = flag
		}
	}
	s.add(j.Concept, -1, flags)
	s.linkProperties(hierarchyProperties(&j))
	for i := range s.concepts {
		c := &s.concepts[i]
		slices.Sort(c.parents)
		slices.Sort(c.children)
		c.parents, c.children = slices.Compact(c.parents), slices.Compact(c.children)
	}
	return s, nil
}

func (s *CodeSystem) add(concepts []conceptJSON, parent int, flags map[string]string) {
	for i := range concepts {
		c, n := &concepts[i], len(s.concepts)
		s.concepts = append(s.concepts, concept{conceptJSON: c})
		if _, taken := s.exact[c.Code]; !taken {
			s.exact[c.Code] = int32(n)
		}
		if s.folded != nil {
			if _, taken := s.folded[fhir.FoldCase(c.Code)]; !taken {
				s.folded[fhir.FoldCase(c.Code)] = int32(n)
			}
		}
		for i := range c.Property {
			s.properties[c.Property[i].Code] = true
		}
		s.concepts[n].readStatus(flags)
		if parent >= 0 {
			s.link(n, parent)
		}
		s.add(c.Concept, n, flags)
		c.Concept = nil
	}
}

// readStatus reads the standard properties
// (https://hl7.org/fhir/R4/codesystem-concept-properties.html) and those that
// HL7's own systems use for the same. flags has what others call the standard ones.
func (c *concept) readStatus(flags map[string]string) {
	for i := range c.Property {
		p := &c.Property[i]
		name := p.Code
		if flag, ok := flags[name]; ok {
			name = flag
		}
		switch name {
		case "notSelectable", "abstract":
			c.abstract = c.abstract || p.text() == "true"
		case "inactive":
			c.inactive = c.inactive || p.text() == "true"
		case "status":
			c.inactive = c.inactive || p.text() == "retired" || p.text() == "inactive"
		}
	}
}

// find gives the number of a code; of one that ignores case, whatever its
// case. Where the system does not say whether case counts, it does not
// (https://hl7.org/fhir/R4/codesystem-definitions.html#CodeSystem.caseSensitive).
func (s *CodeSystem) find(code string) (int, bool) {
	if n, ok := s.exact[code]; ok {
		return int(n), true
	}
	if s.folded == nil {
		return 0, false
	}
	n, ok := s.folded[fhir.FoldCase(code)]
	return int(n), ok
}

// complete reports whether the system holds all its codes.
func (s *CodeSystem) complete() bool { return s.content == "complete" || s.content == "" }

// display gives the name of a code; "" if there is none.
func (s *CodeSystem) display(code string) string {
	if n, ok := s.find(code); ok {
		return s.concepts[n].Display
	}
	return ""
}

// isDisplay reports whether a text is one of the names of a concept, of
// whatever language.
func (c *concept) isDisplay(text string) bool {
	if strings.EqualFold(text, c.Display) {
		return true
	}
	return slices.ContainsFunc(c.Designation, func(d Designation) bool { return strings.EqualFold(text, d.Value) })
}
