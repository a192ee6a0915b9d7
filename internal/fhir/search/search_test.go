package search

import (
	"slices"
	"sync"
	"testing"

	"starling/internal/fhir"
	"starling/internal/fhir/definition"
)

// Types are compiled on first use, whoever comes first.
func TestConcurrentUse(t *testing.T) {
	s := New(definition.R4())
	root := parse(t, observation)
	want := indexed(t, observation)
	var group sync.WaitGroup
	for range 8 {
		group.Go(func() {
			for range 20 {
				index, err := s.Index("Observation", root, base)
				if err != nil || !slices.Equal(lines(index), want) {
					t.Errorf("%q, %v", lines(index), err)
					return
				}
				if _, _, err := s.Plan([]fhir.ResourceType{"Observation", "Patient"}, "_tag=a&identifier=b", true, base); err != nil {
					t.Error(err)
					return
				}
			}
		})
	}
	group.Wait()
}

func TestUnknownType(t *testing.T) {
	if _, err := r4.Index("Nobody", parse(t, `{}`), base); err == nil {
		t.Error("a resource of no type was indexed")
	}
	if r4.Served("Nobody") != nil {
		t.Error("a type that does not exist has parameters")
	}
}

func BenchmarkPlan(b *testing.B) {
	types := []fhir.ResourceType{"Observation"}
	b.ReportAllocs()
	for b.Loop() {
		if _, _, err := r4.Plan(types, "patient=Patient/1&code=http://loinc.org|1234-5&date=ge2012&_count=20", true, base); err != nil {
			b.Fatal(err)
		}
	}
}
