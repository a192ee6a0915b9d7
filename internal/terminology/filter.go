package terminology

import (
	"regexp"
	"slices"
	"strconv"
	"strings"

	"starling/internal/fhir"
)

// filterJSON is ValueSet.compose.include.filter.
type filterJSON struct{ Property, Op, Value string }

// selected gives the concepts that pass a filter
// (https://hl7.org/fhir/R4/valueset-filter-operator.html). One on a property that
// the system does not have is an error, as it is mostly a slip: of all that it asks
// nothing could be told.
func (s *CodeSystem) selected(f *filterJSON) (bitset, error) {
	if !slices.Contains(standardProperties, f.Property) && !s.properties[f.Property] {
		return nil, s.badFilter(f, "the code system has no such property")
	}
	switch f.Op {
	case "is-a", "descendent-of", "is-not-a", "generalizes":
		return s.selectedByHierarchy(f)
	case "=":
		return s.selectedByValues(f.Property, []string{f.Value}), nil
	case "in", "not-in":
		values := strings.Split(f.Value, ",")
		for i := range values {
			values[i] = strings.TrimSpace(values[i])
		}
		b := s.selectedByValues(f.Property, values)
		if f.Op == "not-in" {
			b.not(len(s.concepts))
		}
		return b, nil
	case "exists":
		if f.Value != "true" && f.Value != "false" {
			return nil, s.badFilter(f, "true or false was expected")
		}
		return s.selectedWhere(func(c *concept) bool { return (len(s.values(c, f.Property)) > 0) == (f.Value == "true") }), nil
	case "regex":
		if len(f.Value) > maxRegex {
			return nil, s.badFilter(f, "the expression is too long")
		}
		re, err := regexp.Compile("^(?:" + f.Value + ")$")
		if err != nil {
			return nil, s.badFilter(f, "the expression is not understood")
		}
		return s.selectedWhere(func(c *concept) bool { return slices.ContainsFunc(s.values(c, f.Property), re.MatchString) }), nil
	}
	return nil, s.badFilter(f, "the operator is not known")
}

func (s *CodeSystem) badFilter(f *filterJSON, text string) error {
	return fhir.NewError(fhir.KindUnprocessable, fhir.IssueNotSupported,
		"The filter "+f.Property+" "+f.Op+" "+shorten(f.Value)+" on "+s.URL+" cannot be applied: "+text+".")
}

func (s *CodeSystem) selectedByHierarchy(f *filterJSON) (bitset, error) {
	if f.Property != "concept" && f.Property != "code" {
		return nil, s.badFilter(f, "the operator is for the property concept")
	}
	n, ok := s.find(f.Value)
	if !ok {
		return nil, s.badFilter(f, "there is no such code")
	}
	if f.Op == "generalizes" {
		return s.ancestors(n), nil
	}
	b := s.descendants(n)
	switch f.Op {
	case "descendent-of":
		b.remove(n)
	case "is-not-a":
		b.not(len(s.concepts))
	}
	return b, nil
}

func (s *CodeSystem) selectedByValues(property string, values []string) bitset {
	switch property {
	case "code", "concept":
		b := newBitset(len(s.concepts))
		for _, code := range values {
			if n, ok := s.find(code); ok {
				b.add(n)
			}
		}
		return b
	case "parent", "child":
		b := newBitset(len(s.concepts))
		for _, code := range values {
			n, ok := s.find(code)
			if !ok {
				continue
			}
			next := s.concepts[n].children
			if property == "child" {
				next = s.concepts[n].parents
			}
			for _, other := range next {
				b.add(int(other))
			}
		}
		return b
	}
	return s.selectedWhere(func(c *concept) bool {
		return slices.ContainsFunc(s.values(c, property), func(v string) bool { return slices.Contains(values, v) })
	})
}

func (s *CodeSystem) selectedWhere(pass func(*concept) bool) bitset {
	b := newBitset(len(s.concepts))
	for n := range s.concepts {
		if pass(&s.concepts[n]) {
			b.add(n)
		}
	}
	return b
}

// standardProperties are those that every concept can be asked for
// (https://hl7.org/fhir/R4/codesystem-concept-properties.html), and its own elements.
var standardProperties = []string{
	"concept", "code", "display", "definition", "parent", "child", "inactive", "notSelectable", "deprecated",
}

// values gives the texts of a property of a concept. The standard flags are false
// for one that does not say; parents and children are also those of the nesting.
func (s *CodeSystem) values(c *concept, property string) []string {
	switch property {
	case "code", "concept":
		return []string{c.Code}
	case "display":
		return nonEmpty(c.Display)
	case "definition":
		return nonEmpty(c.Definition)
	case "inactive":
		return []string{strconv.FormatBool(c.inactive)}
	case "notSelectable":
		return []string{strconv.FormatBool(c.abstract)}
	case "parent":
		return s.codesOf(c.parents)
	case "child":
		return s.codesOf(c.children)
	}
	var all []string
	for i := range c.Property {
		if p := &c.Property[i]; p.Code == property {
			all = append(all, p.text())
		}
	}
	return all
}

func (s *CodeSystem) codesOf(concepts []int32) []string {
	codes := make([]string, len(concepts))
	for i, n := range concepts {
		codes[i] = s.concepts[n].Code
	}
	return codes
}

func nonEmpty(text string) []string {
	if text == "" {
		return nil
	}
	return []string{text}
}

// shorten cuts text of a client's to a bearable length.
func shorten(text string) string {
	const most = 100
	if runes := []rune(text); len(runes) > most {
		text = string(runes[:most]) + "…"
	}
	return `"` + text + `"`
}
