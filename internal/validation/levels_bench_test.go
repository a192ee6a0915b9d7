package validation

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"
	"testing"

	"starling/internal/fhir"
	"starling/internal/fhir/definition"
	"starling/internal/fhir/element"
	"starling/internal/validation/schema"
)

// loadBodies are resources of the nine tuned types at real sizes: those of the
// load test, filled in.
func loadBodies(b *testing.B) map[fhir.ResourceType]element.Node {
	b.Helper()
	files, err := filepath.Glob("../../loadtest/scenario/bodies/*.json")
	if err != nil || len(files) != 9 {
		b.Fatal(files, err)
	}
	choice := regexp.MustCompile(`\{\{change:([^|}]*)[^}]*\}\}`)
	name := regexp.MustCompile(`\{\{[A-Za-z]+\}\}`)
	bodies := map[fhir.ResourceType]element.Node{}
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			b.Fatal(err)
		}
		text = name.ReplaceAll(choice.ReplaceAll(text, []byte("$1")), []byte("0a1b2c3d"))
		tree, err := element.Parse(text, element.DefaultLimits)
		if err != nil {
			b.Fatal(file, err)
		}
		bodies[fhir.ResourceType(strings.TrimSuffix(filepath.Base(file), ".json"))] = tree.Root()
	}
	return bodies
}

// structureAlone makes a validator without invariants, to measure what they
// cost. All that the resources need has to be compiled before.
func structureAlone(b *testing.B, bodies map[fhir.ResourceType]element.Node) *Validator {
	b.Helper()
	v := New(definition.R4())
	for t, root := range bodies {
		v.Validate(t, root)
	}
	seen := map[*shape]bool{}
	var strip func(s *shape)
	strip = func(s *shape) {
		if seen[s] {
			return
		}
		seen[s] = true
		s.invariants, s.deep = nil, false
		for _, slot := range s.slots {
			slot.navigate = nil
		}
		for _, m := range s.members {
			m.invariants = nil
			if m.own != nil {
				strip(m.own)
			}
		}
	}
	v.shapes.Range(func(_, s any) bool {
		strip(s.(*shape))
		return true
	})
	return v
}

// BenchmarkLevels compares, for each of the nine types, all rules, the structure
// alone and R4's JSON Schema, which has to decode the text first (package schema
// measures it without), and all rules with the text parsed first.
func BenchmarkLevels(b *testing.B) {
	bodies := loadBodies(b)
	all := New(definition.R4())
	levels := []struct {
		name     string
		validate func(fhir.ResourceType, element.Node) []fhir.Issue
	}{
		{"rules", all.Validate},
		{"structure", structureAlone(b, bodies).Validate},
		{"schema", schema.New().Validate},
		{"parse", func(t fhir.ResourceType, root element.Node) []fhir.Issue {
			tree, err := element.Parse(root.Raw(), element.DefaultLimits)
			if err != nil {
				b.Fatal(err)
			}
			return all.Validate(t, tree.Root())
		}},
	}
	for t, root := range bodies {
		for _, level := range levels {
			b.Run(string(t)+"/"+level.name, func(b *testing.B) {
				for _, issue := range level.validate(t, root) {
					if issue.Severity == fhir.SeverityError {
						b.Fatal(issue)
					}
				}
				b.SetBytes(int64(len(root.Raw())))
				b.ReportAllocs()
				for b.Loop() {
					level.validate(t, root)
				}
			})
		}
	}
}

// BenchmarkSize shows that all rules cost in proportion to the resource.
func BenchmarkSize(b *testing.B) {
	v := New(definition.R4())
	const component = `{"code":{"coding":[{"system":"http://loinc.org","code":"8480-6"}]},"valueQuantity":{"value":107.5,"unit":"mmHg","system":"http://unitsofmeasure.org","code":"mm[Hg]"}}`
	for _, n := range []int{1, 4, 16, 64, 256, 1024} {
		text := `{"resourceType":"Observation","status":"final","code":{"text":"x"},"component":[` + component + strings.Repeat(","+component, n-1) + `]}`
		tree, err := element.Parse([]byte(text), element.DefaultLimits)
		if err != nil {
			b.Fatal(err)
		}
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			b.SetBytes(int64(len(text)))
			b.ReportAllocs()
			for b.Loop() {
				if issues := v.Validate("Observation", tree.Root()); issues != nil {
					b.Fatal(issues)
				}
			}
		})
	}
}

// BenchmarkClaimed is an Observation of 2 KB that claims the profile of vital
// signs, by all rules of both.
func BenchmarkClaimed(b *testing.B) {
	text, err := os.ReadFile("../fhir/element/testdata/observation.json")
	if err != nil {
		b.Fatal(err)
	}
	tree, err := element.Parse(text, element.DefaultLimits)
	if err != nil {
		b.Fatal(err)
	}
	v := New(definition.R4())
	if issues := v.Validate("Observation", tree.Root()); issues != nil {
		b.Fatal(issues)
	}
	b.SetBytes(int64(len(text)))
	b.ReportAllocs()
	for b.Loop() {
		v.Validate("Observation", tree.Root())
	}
}

// BenchmarkFirstUse is the first resource of a type. With -benchtime=1x and one
// type it is that of a server that has served other types only: the definitions
// are opened, and those of the type not read yet.
func BenchmarkFirstUse(b *testing.B) {
	tree, err := element.Parse([]byte(`{"resourceType":"Basic","code":{"text":"x"}}`), element.DefaultLimits)
	if err != nil {
		b.Fatal(err)
	}
	New(definition.R4()).Validate("Basic", tree.Root())
	for t, root := range loadBodies(b) {
		b.Run(string(t), func(b *testing.B) {
			for b.Loop() {
				New(definition.R4()).Validate(t, root)
			}
		})
	}
}

// BenchmarkMemory is what all nine types hold in memory once compiled, in
// MiB.
func BenchmarkMemory(b *testing.B) {
	bodies := loadBodies(b)
	for b.Loop() {
		before := live()
		v := New(definition.R4())
		for t, root := range bodies {
			v.Validate(t, root)
		}
		b.ReportMetric(float64(live()-before)/(1<<20), "MiB")
		runtime.KeepAlive(v)
	}
}

func live() int64 {
	runtime.GC()
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc)
}
