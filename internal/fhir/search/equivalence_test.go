package search

import (
	"slices"
	"testing"

	"starling/internal/fhir"
	"starling/internal/fhir/definition"
	"starling/internal/fhir/element"
	"starling/internal/fhir/fhirpath"
)

// equivalence compares the walk over plain paths with the FHIRPath engine:
// both must find the same elements for every parameter of a resource.
type equivalence struct {
	search      *Search
	expressions map[fhir.ResourceType]map[string][]*fhirpath.Expression
	found       map[string][]int // by parameter: nodes of the walk
	elements    int
}

func newEquivalence() *equivalence {
	return &equivalence{search: New(definition.R4()), expressions: map[fhir.ResourceType]map[string][]*fhirpath.Expression{}}
}

// prepare compiles a type and makes its walk record the nodes it takes.
func (e *equivalence) prepare(t tester, typ fhir.ResourceType) {
	compiled, err := e.search.parameters(typ)
	if err != nil {
		t.Fatal(err)
	}
	byParam := map[string][]*fhirpath.Expression{}
	for code, p := range compiled.byCode {
		for _, taken := range p.elements {
			taken.read = func(_ *extraction, _ *take, n element.Node) { e.found[code] = append(e.found[code], n.Index()) }
		}
		for _, branch := range branches(p.definition.Expression) {
			if _, plain := parsePath(branch); !plain || branchType(branch) != string(typ) && branchType(branch) != "Resource" && branchType(branch) != "DomainResource" {
				continue
			}
			expression, err := fhirpath.Compile(definition.R4(), branch)
			if err != nil {
				t.Errorf("%s.%s: %v", typ, code, err)
				continue
			}
			byParam[code] = append(byParam[code], expression)
		}
	}
	e.expressions[typ] = byParam
}

func (e *equivalence) check(t tester, name string, root element.Node) {
	typ := resourceType(root)
	if !definition.R4().IsResourceType(string(typ)) {
		return
	}
	if e.expressions[typ] == nil {
		e.prepare(t, typ)
	}
	e.found = map[string][]int{}
	compiled, _ := e.search.parameters(typ)
	x := extraction{search: e.search, root: root, container: root, base: base}
	x.walk(compiled.root, root)
	for code, expressions := range e.expressions[typ] {
		var want []int
		for _, expression := range expressions {
			items, err := expression.Evaluate(nil, fhirpath.Root(definition.R4(), typ, root))
			if err != nil {
				t.Errorf("%s: %s.%s: %v", name, typ, code, err)
				continue
			}
			for _, item := range items {
				want = append(want, readable(compiled.byCode[code].definition.Type, item)...)
			}
		}
		got := e.found[code]
		slices.Sort(got)
		slices.Sort(want)
		if got, want = slices.Compact(got), slices.Compact(want); !slices.Equal(got, want) {
			t.Errorf("%s: %s.%s: the walk finds nodes %d, FHIRPath %d", name, typ, code, got, want)
		}
		e.elements += len(want)
	}
}

// readable gives an item's node if a parameter of the type reads it; of an
// extension its value's.
func readable(parameterType string, item fhirpath.Item) []int {
	if item.Type() == "Extension" {
		for member := range item.Node().Children() {
			if name := member.Name(); len(name) > 5 && name[:5] == "value" {
				return []int{member.Index()}
			}
		}
		return nil
	}
	if n := item.Node(); n.Exists() && n.Kind() != element.Null && readerFor(parameterType, item.Type()) != nil {
		return []int{n.Index()}
	}
	return nil
}

func TestWalkFindsWhatFHIRPathFinds(t *testing.T) {
	e := newEquivalence()
	for _, text := range []string{patient, observation, explanationOfBenefit} {
		e.check(t, "own resource", parse(t, text))
	}
	if e.elements < 50 {
		t.Errorf("only %d elements", e.elements)
	}
}

func TestWalkFindsWhatFHIRPathFindsInExamples(t *testing.T) {
	e := newEquivalence()
	archived(t, "r4-examples.tar.xz", func(name string, data []byte) {
		tree, err := element.Parse(data, element.DefaultLimits)
		if err != nil {
			t.Fatal(err)
		}
		e.check(t, name, tree.Root())
	})
	t.Logf("%d elements", e.elements)
	if e.elements < 5000 {
		t.Errorf("only %d elements", e.elements)
	}
}
