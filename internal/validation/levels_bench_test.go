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

// BenchmarkLevels compares all rules, the structure alone and R4's JSON Schema,
// for each of the nine types.
func BenchmarkLevels(b *testing.B) {
	bodies := loadBodies(b)
	levels := []struct {
		name     string
		validate func(fhir.ResourceType, element.Node) []fhir.Issue
	}{
		{"all rules", New(definition.R4()).Validate},
		{"structure", structureAlone(b, bodies).Validate},
		{"JSON Schema", schema.New().Validate},
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
	for _, n := range []int{1, 10, 100, 1000} {
		text := `{"resourceType":"Observation","status":"final","code":{"text":"x"},"component":[` + component + strings.Repeat(","+component, n-1) + `]}`
		tree, err := element.Parse([]byte(text), element.DefaultLimits)
		if err != nil {
			b.Fatal(err)
		}
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			b.SetBytes(int64(len(text)))
			for b.Loop() {
				if issues := v.Validate("Observation", tree.Root()); issues != nil {
					b.Fatal(issues)
				}
			}
		})
	}
}

// BenchmarkFirstUse is the first resource of a type on a fresh registry's
// validator.
func BenchmarkFirstUse(b *testing.B) {
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

// BenchmarkProfiles compiles a hundred profiles such as US Core's: each with
// cardinalities, bindings, slices and an invariant.
func BenchmarkProfiles(b *testing.B) {
	bodies := loadBodies(b)
	var resources []*fhir.Resource
	var types []fhir.ResourceType
	for t := range bodies {
		types = append(types, t)
	}
	for i := range 100 {
		t := types[i%len(types)]
		resources = append(resources, &fhir.Resource{
			Key: fhir.Key{Type: "StructureDefinition", ID: fmt.Sprint("p", i)}, VersionID: 1,
			Content: fhir.Content{Body: []byte(profileLike(t, i))},
		})
	}
	base := New(definition.R4())
	for t, root := range bodies {
		base.Validate(t, root)
	}
	b.ResetTimer()
	for b.Loop() {
		v := base.With(resources)
		for i := range 100 {
			t := types[i%len(types)]
			v.ValidateProfile(t, bodies[t], []string{fmt.Sprint("http://example.org/p", i)}, "")
		}
	}
}

// profileLike is a StructureDefinition's members, without the first.
func profileLike(t fhir.ResourceType, i int) string {
	n := string(t)
	return fmt.Sprintf(`,"url":"http://example.org/p%d","name":"P%d","status":"active","kind":"resource","abstract":false,"type":"%s",
		"baseDefinition":"http://hl7.org/fhir/StructureDefinition/%[3]s","derivation":"constraint","differential":{"element":[
		{"id":"%[3]s","path":"%[3]s","constraint":[{"key":"p-%[1]d","severity":"error","human":"An identifier has a value.","expression":"identifier.all(value.exists())"}]},
		{"id":"%[3]s.identifier","path":"%[3]s.identifier","min":1,"slicing":{"discriminator":[{"type":"value","path":"system"}],"rules":"open"}},
		{"id":"%[3]s.identifier:own","path":"%[3]s.identifier","sliceName":"own","min":0,"max":"1"},
		{"id":"%[3]s.identifier:own.system","path":"%[3]s.identifier.system","min":1,"fixedUri":"http://example.org/%[1]d"},
		{"id":"%[3]s.identifier:own.value","path":"%[3]s.identifier.value","min":1},
		{"id":"%[3]s.meta","path":"%[3]s.meta","mustSupport":true},
		{"id":"%[3]s.text","path":"%[3]s.text","max":"1"},
		{"id":"%[3]s.language","path":"%[3]s.language","binding":{"strength":"required","valueSet":"http://hl7.org/fhir/ValueSet/all-languages"}}]}}`, i, i, n)
}
