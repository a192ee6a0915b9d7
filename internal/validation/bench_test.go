package validation_test

import (
	"os"
	"testing"

	"starling/internal/fhir/element"
)

func BenchmarkValidate(b *testing.B) {
	text, err := os.ReadFile("../fhir/element/testdata/observation.json")
	if err != nil {
		b.Fatal(err)
	}
	root := parse(b, string(text))
	if issues := validator().Validate("Observation", root); issues != nil {
		b.Fatal(issues)
	}
	b.Run("structure", func(b *testing.B) {
		b.ReportAllocs()
		b.SetBytes(int64(len(text)))
		for b.Loop() {
			if validator().Validate("Observation", root) != nil {
				b.Fatal("refused")
			}
		}
	})
	b.Run("parse and structure", func(b *testing.B) {
		b.ReportAllocs()
		b.SetBytes(int64(len(text)))
		for b.Loop() {
			tree, err := element.Parse(text, element.DefaultLimits)
			if err != nil || validator().Validate("Observation", tree.Root()) != nil {
				b.Fatal("refused")
			}
		}
	})
}
