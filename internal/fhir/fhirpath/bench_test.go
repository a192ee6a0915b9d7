package fhirpath

import (
	"os"
	"path/filepath"
	"testing"

	"starling/internal/fhir/definition"
)

// BenchmarkSearchParameters evaluates every search parameter of Observation
// on a resource of 2 KB, as a write does.
func BenchmarkSearchParameters(b *testing.B) {
	data, err := os.ReadFile(filepath.Join("..", "element", "testdata", "observation.json"))
	if err != nil {
		b.Fatal(err)
	}
	reg := definition.R4()
	focus := testItem(b, string(data))
	var expressions []*Expression
	for _, p := range reg.SearchParameters("Observation") {
		if p.Expression == "" {
			continue
		}
		e, err := Compile(reg, p.Expression)
		if err != nil {
			b.Fatal(err)
		}
		expressions = append(expressions, e)
	}
	var env Environment
	var result Collection
	items := 0
	b.ReportAllocs()
	for b.Loop() {
		items = 0
		for _, e := range expressions {
			if result, err = e.Append(result[:0], &env, focus); err != nil {
				b.Fatal(err)
			}
			items += len(result)
		}
	}
	b.ReportMetric(float64(len(expressions)), "expressions")
	b.ReportMetric(float64(items), "items")
}

func BenchmarkEvaluate(b *testing.B) {
	for _, text := range []string{
		"Observation.code",
		"Observation.component.code.text",
		"(Observation.value as Quantity) | (Observation.component.value as Quantity)",
		"Observation.subject.where(resolve() is Patient)",
		"value.empty() or component.code.where(coding.intersect(%resource.code.coding).exists()).empty()",
		"descendants().count()",
	} {
		b.Run(text, func(b *testing.B) {
			focus := testItem(b, testObservation)
			e, err := Compile(definition.R4(), text)
			if err != nil {
				b.Fatal(err)
			}
			var result Collection
			b.ReportAllocs()
			for b.Loop() {
				if result, err = e.Append(result[:0], nil, focus); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

func BenchmarkCompile(b *testing.B) {
	reg := definition.R4()
	b.ReportAllocs()
	for b.Loop() {
		if _, err := Compile(reg, "Patient.telecom.where(system='phone') | Person.telecom.where(system='phone')"); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkInvariants tests every invariant on every element of the same
// resource, as full validation does.
func BenchmarkInvariants(b *testing.B) {
	data, err := os.ReadFile(filepath.Join("..", "element", "testdata", "observation.json"))
	if err != nil {
		b.Fatal(err)
	}
	reg := definition.R4()
	focus := testItem(b, string(data))
	type rule struct {
		*Expression
		item Item
	}
	var rules []rule
	all, err := mustCompile(b, "$this.combine(descendants())").Evaluate(nil, focus)
	if err != nil {
		b.Fatal(err)
	}
	compiled := map[string]*Expression{}
	for _, item := range all {
		root := item.shape.nested
		if root == nil {
			root = reg.Type(item.Type()).Root
		}
		for _, c := range root.Constraint {
			if compiled[c.Expression] == nil {
				compiled[c.Expression] = mustCompile(b, c.Expression)
			}
			rules = append(rules, rule{compiled[c.Expression], item})
		}
	}
	env := Environment{Resource: focus}
	b.ReportAllocs()
	for b.Loop() {
		for _, rule := range rules {
			if value, known, err := rule.Test(&env, rule.item); err != nil || known && !value {
				b.Fatal(rule.String(), value, err)
			}
		}
	}
	b.ReportMetric(float64(len(rules)), "rules")
}

func mustCompile(t testing.TB, text string) *Expression {
	t.Helper()
	e, err := Compile(definition.R4(), text)
	if err != nil {
		t.Fatal(err)
	}
	return e
}
