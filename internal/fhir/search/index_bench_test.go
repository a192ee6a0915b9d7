package search

import (
	"testing"

	"starling/internal/fhir/definition"
)

func BenchmarkIndex(b *testing.B) {
	s := New(definition.R4())
	for _, r := range []struct{ name, text string }{
		{"Observation", observation}, {"Patient", patient}, {"ExplanationOfBenefit", explanationOfBenefit},
	} {
		b.Run(r.name, func(b *testing.B) {
			root := parse(b, r.text)
			b.SetBytes(int64(len(r.text)))
			b.ReportAllocs()
			for b.Loop() {
				if _, err := s.Index(resourceType(root), root, "http://localhost/fhir"); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
