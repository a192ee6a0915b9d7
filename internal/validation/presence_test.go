package validation

import (
	"os"
	"path/filepath"
	"testing"

	"starling/internal/fhir/definition"
	"starling/internal/fhir/element"
	"starling/internal/fhir/fhirpath"
)

// What is decided by the elements that exist is what FHIRPath says, for all
// sets of the elements an invariant names.
func TestPresenceIsWhatFHIRPathSays(t *testing.T) {
	v := New(definition.R4())
	checked := 0
	for _, name := range v.registry.ResourceTypes() {
		s := v.shapeOf(string(name))
		constraints := v.registry.Type(string(name)).Root.Constraint
		for i := range constraints {
			c := &constraints[i]
			if p, _ := presenceOf(s, c.Expression); p != nil && !byHand[c.Key] {
				checked++
				comparePresence(t, v, s, c, p)
			}
		}
	}
	if checked < 30 {
		t.Errorf("only %d invariants ask for presence", checked)
	}
}

func comparePresence(t *testing.T, v *Validator, s *shape, c *definition.Constraint, p presence) {
	expression := v.expression(c.Expression)
	var named []*slot
	for _, slot := range s.slots {
		var one slotSet
		one.add(slot.index)
		if p(one) != p(slotSet{}) || mentions(c.Expression, slot.element.Name) {
			named = append(named, slot)
		}
	}
	if len(named) > 8 {
		named = named[:8]
	}
	for set := range 1 << len(named) {
		var has slotSet
		text := `{"resourceType":"` + s.typeName + `"`
		for i, slot := range named {
			if set>>i&1 == 0 {
				continue
			}
			has.add(slot.index)
			text += "," + sample(slot)
		}
		tree, err := element.Parse([]byte(text+"}"), element.DefaultLimits)
		if err != nil {
			t.Fatal(err, text)
		}
		decided := p(has)
		if decided == unknown {
			continue
		}
		item := fhirpath.Element(v.registry, s.typeName, tree.Root())
		value, known, err := expression.Test(nil, item)
		if err == nil && (!known || value != (decided == isTrue)) {
			t.Errorf("%s %s: %v, FHIRPath says %v (known %v) of %s", s.name, c.Key, decided == isTrue, value, known, text)
		}
	}
}

func mentions(expression, name string) bool {
	for i := 0; i+len(name) <= len(expression); i++ {
		if expression[i:i+len(name)] == name {
			return true
		}
	}
	return false
}

// sample is a member that makes an element exist.
func sample(s *slot) string {
	name, value := s.element.Name, `{"id":"x"}`
	if s.element.Choice {
		name += capital(s.element.Types[0].Code)
	}
	if len(s.element.Types) > 0 {
		if p := primitives[s.element.Types[0].Code]; p != nil {
			switch p.kind {
			case element.True:
				value = "true"
			case element.Number:
				value = "1"
			default:
				value = `"x"`
			}
		}
	}
	if s.list {
		value = "[" + value + "]"
	}
	return `"` + name + `":` + value
}

// The functions that stand for ubiquitous invariants agree with FHIRPath.
func TestByHandIsWhatFHIRPathSays(t *testing.T) {
	v := New(definition.R4())
	for _, test := range []struct{ typeName, key, text string }{
		{"Period", "per-1", `{"start":"2020","end":"2019"}`},
		{"Period", "per-1", `{"start":"2020-01-01","end":"2020-01-02"}`},
		{"Period", "per-1", `{"start":"2020-01","end":"2020-01-02"}`},
		{"Period", "per-1", `{"start":"2020-01-01T00:00:00Z","end":"2020-01-01T00:30:00+01:00"}`},
		{"Period", "per-1", `{"start":"2020-01-01T00:00:00+01:00","end":"2020-01-01T00:30:00+01:00"}`},
		{"Period", "per-1", `{"start":"2020-01-01T00:00:00.5Z","end":"2020-01-01T00:00:00Z"}`},
		{"Period", "per-1", `{"start":"2020-01-01T00:00:00Z"}`},
		{"Period", "per-1", `{"id":"x"}`},
		{"Extension", "ext-1", `{"url":"http://a","valueString":"x"}`},
		{"Extension", "ext-1", `{"url":"http://a"}`},
		{"Extension", "ext-1", `{"url":"http://a","valueString":"x","extension":[{"url":"b","valueCode":"x"}]}`},
		{"Extension", "ext-1", `{"url":"http://a","extension":[{"url":"b","valueCode":"x"}]}`},
	} {
		tree, err := element.Parse([]byte(test.text), element.DefaultLimits)
		if err != nil {
			t.Fatal(err)
		}
		r := run{validator: v, root: tree.Root()}
		r.object(tree.Root(), v.shapeOf(test.typeName), fhirpath.Item{})
		failed := false
		for _, issue := range r.issues {
			failed = failed || issue.Constraint == test.key
		}
		for _, c := range v.registry.Type(test.typeName).Root.Constraint {
			if c.Key != test.key {
				continue
			}
			value, known, err := v.expression(c.Expression).Test(nil, fhirpath.Element(v.registry, test.typeName, tree.Root()))
			if err != nil || (known && !value) != failed {
				t.Errorf("%s %s: failed %v, FHIRPath says %v (known %v, %v)", test.key, test.text, failed, value, known, err)
			}
		}
	}
}

// The first use of each of the benchmark's types, profiles of it included,
// takes no longer than a client may notice.
func TestFirstUse(t *testing.T) {
	text, err := os.ReadFile(filepath.Join("..", "fhir", "element", "testdata", "observation.json"))
	if err != nil {
		t.Fatal(err)
	}
	tree, err := element.Parse(text, element.DefaultLimits)
	if err != nil {
		t.Fatal(err)
	}
	New(definition.R4()).Validate("Observation", tree.Root()) // reads the definitions
	result := testing.Benchmark(func(b *testing.B) {
		for b.Loop() {
			New(definition.R4()).Validate("Observation", tree.Root())
		}
	})
	t.Logf("first use of Observation and vitalsigns: %d µs", result.NsPerOp()/1000)
	if result.NsPerOp() > 100e6 {
		t.Errorf("the first use takes %d ms", result.NsPerOp()/1e6)
	}
}
