package validation

import (
	"fmt"
	"strings"
	"testing"

	"starling/internal/fhir"
	"starling/internal/fhir/definition"
)

// What has not changed, and leads to nothing that has, is compiled once.
func TestUnchangedProfilesAreCompiledOnce(t *testing.T) {
	profile := func(name, base, element string) *fhir.Resource {
		return &fhir.Resource{
			Key: fhir.Key{Type: "StructureDefinition", ID: name}, VersionID: 1, Method: fhir.MethodPut,
			Content: fhir.Content{Body: fmt.Appendf(nil, `,"url":"http://example.org/%s","name":"X","status":"active","kind":"resource","abstract":false,
				"type":"Patient","baseDefinition":%q,"derivation":"constraint","differential":{"element":[%s]}`, name, base, element)},
		}
	}
	base := profile("base", specificationBase+"Patient", `{"id":"Patient.name","path":"Patient.name","min":1}`)
	derived := profile("derived", "http://example.org/base", `{"id":"Patient.gender","path":"Patient.gender","min":1}`)
	linked := profile("linked", specificationBase+"Patient", `{"id":"Patient.link.other","path":"Patient.link.other","type":[{"code":"Reference","targetProfile":["http://example.org/derived"]}]}`)
	apart := profile("apart", specificationBase+"Patient", `{"id":"Patient.photo","path":"Patient.photo","min":1}`)
	first := New(definition.R4()).With([]*fhir.Resource{base, derived, linked, apart})
	if err := first.Compile(func() bool { return true }); err != nil {
		t.Fatal(err)
	}
	other := profile("base", specificationBase+"Patient", `{"id":"Patient.name","path":"Patient.name","min":2}`)
	second := first.With([]*fhir.Resource{other, derived, linked, apart})
	for name, same := range map[string]bool{"base": false, "derived": false, "linked": false, "apart": true} {
		before, compiled := first.stored.compiled.Load("http://example.org/" + name)
		after, kept := second.stored.compiled.Load("http://example.org/" + name)
		if !compiled || kept != same || same && before != after {
			t.Errorf("%s is kept: %v, want %v", name, kept, same)
		}
	}
}

// A profile was stored, so it is read, whatever the limits of a body are here.
func TestStoredProfilesAreReadWhatTheirSize(t *testing.T) {
	deep := strings.Repeat(`{"url":"http://example.org/e","extension":[`, 60) + `{"url":"http://example.org/e","valueString":"x"}` + strings.Repeat(`]}`, 60)
	resource := &fhir.Resource{
		Key: fhir.Key{Type: "StructureDefinition", ID: "deep"}, VersionID: 1, Method: fhir.MethodPut,
		Content: fhir.Content{Body: fmt.Appendf(nil, `,"url":"http://example.org/deep","extension":[%s],"name":"X","status":"active","kind":"resource","abstract":false,
			"type":"Patient","baseDefinition":"%sPatient","derivation":"constraint","differential":{"element":[{"id":"Patient.name","path":"Patient.name","min":1}]}`, deep, specificationBase)},
	}
	v := New(definition.R4()).With([]*fhir.Resource{resource})
	if v.profile("http://example.org/deep") == nil || len(v.Profiles("Patient")) != 1 {
		t.Error("it is not known")
	}
}

// The tests of a slice that could not be made are not taken for none, which all
// values would pass.
func TestTestsOfSliceAreMadeOrNot(t *testing.T) {
	tests := testsOnce([]discriminator{{"value", "code"}}, nil)
	for range 2 {
		func() {
			defer func() {
				if recover() == nil {
					t.Error("it has tests of nothing")
				}
			}()
			tests(New(definition.R4()))
		}()
	}
}
