package definition

import (
	"runtime"
	"testing"
)

// tuned are the types of the benchmark's scenario.
var tuned = []string{
	"Patient", "Location", "Organization", "Practitioner", "Encounter", "Observation", "MedicationRequest", "Claim",
	"ExplanationOfBenefit",
}

func BenchmarkOpen(b *testing.B) {
	for b.Loop() {
		if _, err := open(packed); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkFirstUseOfType(b *testing.B) {
	for _, name := range []string{"Patient", "ExplanationOfBenefit", "Extension", "ElementDefinition"} {
		b.Run(name, func(b *testing.B) {
			r := R4()
			for b.Loop() {
				r.compile(r.file.line(r.types[name].line))
			}
		})
	}
}

func BenchmarkFirstUseOfSearchParameters(b *testing.B) {
	for b.Loop() {
		R4().readSearchParameters()
	}
}

func BenchmarkProperty(b *testing.B) {
	root := R4().Type("Observation").Root
	for b.Loop() {
		if _, ok := root.Property("valueQuantity"); !ok {
			b.Fatal("no valueQuantity")
		}
	}
}

// TestHeap holds the registry to what an idle instance can spare.
func TestHeap(t *testing.T) {
	heap := func() int {
		runtime.GC()
		runtime.GC() // pools give up what they hold in the second
		var m runtime.MemStats
		runtime.ReadMemStats(&m)
		return int(m.HeapAlloc)
	}
	start := heap()
	r, err := open(packed)
	if err != nil {
		t.Fatal(err)
	}
	opened := heap()
	for _, name := range tuned {
		r.Type(name)
	}
	compiled := heap()
	r.SearchParameters("Patient")
	searched := heap()
	for name := range r.types {
		r.Type(name)
	}
	all := heap()
	for canonical := range r.file.urls {
		r.Codes(canonical)
	}
	t.Logf("KiB: index %d, nine types %d, search parameters %d, all types %d, all value sets %d", (opened-start)>>10,
		(compiled-opened)>>10, (searched-compiled)>>10, (all-searched)>>10, (heap()-all)>>10)
	if searched-start > 8<<20 {
		t.Errorf("%d KiB for nine types", (searched-start)>>10)
	}
	runtime.KeepAlive(r)
}
