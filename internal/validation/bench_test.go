package validation_test

import (
	"os"
	"strings"
	"testing"

	"starling/internal/fhir/element"
)

// A resource with nothing wrong costs its unescaped strings and the check's own
// state, whatever its size.
func TestValidateAllocatesNothingAnElement(t *testing.T) {
	items := strings.Repeat(`{"code":{"text":"x"},"valueQuantity":{"value":1}},`, 500)
	root := parse(t, `{"resourceType":"Observation","status":"final","code":{"text":"x"},"component":[`+items+`{"code":{"text":"x"}}]}`)
	allocations := testing.AllocsPerRun(10, func() {
		if validator().Validate("Observation", root) != nil {
			t.Fatal("refused")
		}
	})
	if allocations > 1 {
		t.Errorf("%v allocations; want 1", allocations)
	}
}

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
