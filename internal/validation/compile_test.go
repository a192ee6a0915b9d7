package validation

import (
	"sync"
	"testing"
	"time"

	"starling/internal/fhir"
	"starling/internal/fhir/definition"
	"starling/internal/fhir/element"
)

// Every type that can be reached compiles, and none slower than a client may
// notice at its first use.
func TestEveryTypeCompiles(t *testing.T) {
	v := New(definition.R4())
	done := map[*shape]bool{}
	var visit func(s *shape)
	visit = func(s *shape) {
		if done[s] {
			return
		}
		done[s] = true
		for name, m := range s.members {
			switch {
			case m.own != nil:
				visit(m.own)
			case m.kind == memberObject:
				if v.shape(m.typeName) == nil {
					t.Errorf("%s.%s: there is no type %q", s.name, name, m.typeName)
					continue
				}
				visit(v.shape(m.typeName))
			case m.kind == memberPrimitive && m.primitive.fault == nil && m.typeName != "boolean" && m.typeName != "decimal":
				t.Errorf("%s.%s: %s has no format", s.name, name, m.typeName)
			}
		}
	}
	for _, name := range v.registry.ResourceTypes() {
		start := time.Now()
		s := v.shape(string(name))
		if took := time.Since(start); took > time.Second {
			t.Errorf("%s took %v", name, took)
		}
		visit(s)
	}
	if len(done) < 600 {
		t.Errorf("only %d shapes", len(done))
	}
	if v.shape("NoSuchType") != nil {
		t.Error("a shape of no type")
	}
}

// Many goroutines may be the first to use a type.
func TestFirstUseByMany(t *testing.T) {
	v := New(definition.R4())
	tree, err := element.Parse([]byte(`{"resourceType":"Patient","gender":"male","name":[{"family":"x","period":{"start":"2020"}}]}`), element.DefaultLimits)
	if err != nil {
		t.Fatal(err)
	}
	var group sync.WaitGroup
	for range 16 {
		group.Go(func() {
			if issues := v.Validate(fhir.ResourceType("Patient"), tree.Root()); issues != nil {
				t.Error(issues)
			}
		})
	}
	group.Wait()
}
