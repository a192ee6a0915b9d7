package search

import (
	"testing"

	"starling/internal/fhir"
	"starling/internal/fhir/element"
)

// Whatever JSON is indexed as whatever type, there is no error, and a search
// for what was indexed finds it.
func FuzzIndex(f *testing.F) {
	for _, text := range []string{patient, observation, explanationOfBenefit, `[]`, `7`, `{"name":[[{"family":["x",null]}]],"subject":{"reference":"#"}}`} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		tree, err := element.Parse([]byte(text), element.DefaultLimits)
		if err != nil {
			return
		}
		for _, typ := range []fhir.ResourceType{"Patient", "Observation", "ServiceRequest", "Bundle"} {
			index, err := r4.Index(typ, tree.Root(), base)
			if err != nil {
				t.Fatalf("%s: %v", typ, err)
			}
			for _, query := range queriesFor(index) {
				plan, _, err := r4.Plan([]fhir.ResourceType{typ}, query, true, base)
				if err == nil && !matches(plan.Criteria, index) {
					t.Fatalf("%s?%s (%s) does not find %s", typ, query, show(plan.Criteria), text)
				}
			}
		}
	})
}
