package validation_test

import (
	"bytes"
	"math/rand/v2"
	"os"
	"slices"
	"strings"
	"testing"

	"starling/internal/fhir/definition"
	"starling/internal/fhir/element"
)

// mutation is one change that makes a valid resource invalid.
type mutation struct {
	kind string
	path string
	text []byte
}

// mutator finds the changes a resource can suffer. It reads the definitions
// itself, not through the validator.
type mutator struct {
	text  []byte
	found []mutation
}

func mutations(t *testing.T, text []byte) []mutation {
	root := parse(t, string(text))
	m := mutator{text: text}
	m.object(root, definition.R4().Type(root.Get("resourceType").Str()).Root)
	return m.found
}

func (m *mutator) add(kind string, n element.Node, start, end int, with string) {
	m.found = append(m.found, mutation{kind, element.Path(n), slices.Concat(m.text[:start], []byte(with), m.text[end:])})
}

func (m *mutator) object(n element.Node, e *definition.Element) {
	for child := range n.Children() {
		name := child.Name()
		property, ok := e.Property(name)
		if !ok || property.Extra { // resourceType, and what stands beside a primitive
			continue
		}
		start, end := child.Span()
		named := bytes.LastIndex(m.text[:start], []byte(`"`+name+`"`))
		m.add("misspelt", child, named, start, `"`+name+`x":`)
		alone := !n.Get("_" + name).Exists()
		if property.Element.Min > 0 && alone {
			m.remove(child, named, end)
		}
		if list := child.Kind() == element.Array; !list {
			m.add("repeated", child, start, end, "["+string(child.Raw())+","+string(child.Raw())+"]")
		} else if alone {
			m.add("not a list", child, start, end, string(child.At(0).Raw()))
			m.add("emptied", child, start, end, "[]")
			child = child.At(0)
		}
		m.value(child, property)
	}
}

func (m *mutator) remove(n element.Node, start, end int) {
	before := bytes.TrimRight(m.text[:start], " \t\r\n")
	after := bytes.TrimLeft(m.text[end:], " \t\r\n")
	if after[0] == ',' {
		end = len(m.text) - len(after) + 1
	} else if before[len(before)-1] == ',' {
		start = len(before) - 1
	}
	m.add("removed", n, start, end, "")
}

func (m *mutator) value(n element.Node, property definition.Property) {
	start, end := n.Span()
	switch n.Kind() {
	case element.Object:
		m.add("wrong type", n, start, end, `"x"`)
		m.add("emptied", n, start, end, `{}`)
		inside := property.Element
		if inside.Children == nil && property.Type != "Resource" {
			inside = definition.R4().Type(property.Type).Root
		}
		if property.Type == "Resource" {
			inside = definition.R4().Type(n.Get("resourceType").Str()).Root
		}
		m.object(n, inside)
	case element.String:
		m.add("wrong type", n, start, end, `1`)
		m.add("emptied", n, start, end, `""`)
		m.badFormat(n, property, start, end)
	case element.Number, element.True, element.False:
		m.add("wrong type", n, start, end, `"1"`)
		m.add("nullified", n, start, end, `null`)
	}
}

func (m *mutator) badFormat(n element.Node, property definition.Property, start, end int) {
	bad := map[string]string{
		"date": `"2023-02-30"`, "dateTime": `"2023-02-28T10:00:00"`, "instant": `"2023-02-28"`, "time": `"9:00:00"`, "uri": `"a b"`,
		"url": `"a b"`, "canonical": `"a b"`, "oid": `"1.2"`, "uuid": `"x"`, "id": `"a_b"`, "code": `" a"`, "base64Binary": `"YQ"`,
		"xhtml": `"<div>x</div>"`, "string": `"\u0001"`, "markdown": `"\u0001"`,
	}[property.Type]
	m.add("bad "+property.Type, n, start, end, bad)
	if b := property.Element.Binding; b != nil && b.Strength == "required" && property.Type == "code" {
		if codes, ok := definition.R4().Codes(b.ValueSet); ok && len(codes) > 0 {
			m.add("bad code", n, start, end, `"no-such-code"`)
		}
	}
}

func checkMutations(t *testing.T, found []mutation) {
	t.Helper()
	for _, mutation := range found {
		issues := validate(t, string(mutation.text))
		if !hasErrors(issues) {
			t.Errorf("%s %s: not found", mutation.path, mutation.kind)
		}
		for _, issue := range issues {
			if issue.Expression == "" || issue.Diagnostics == "" || strings.Contains(issue.Diagnostics, "%!") {
				t.Errorf("%s %s: %+v", mutation.path, mutation.kind, issue)
			}
		}
	}
}

func TestMutationsAreFound(t *testing.T) {
	text, err := os.ReadFile("../fhir/element/testdata/observation.json")
	if err != nil {
		t.Fatal(err)
	}
	found := mutations(t, text)
	if len(found) < 250 {
		t.Errorf("only %d mutations", len(found))
	}
	checkMutations(t, found)
}

// Of each example, ten mutations chosen at random.
func TestMutatedExamplesAreFound(t *testing.T) {
	random := rand.New(rand.NewPCG(4, 0))
	total := map[string]int{}
	files := corpus(t, examples)
	names := make([]string, 0, len(files))
	for name := range files {
		if rightlyRefused[name] == "" {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	for _, name := range names {
		t.Run(name, func(t *testing.T) {
			found := mutations(t, files[name])
			random.Shuffle(len(found), func(i, j int) { found[i], found[j] = found[j], found[i] })
			found = found[:min(10, len(found))]
			checkMutations(t, found)
			for _, mutation := range found {
				total[mutation.kind]++
			}
		})
	}
	t.Log(total)
}
