package validation_test

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"starling/internal/fhir"
)

// editions of the profiles of TestChangesAreSeenAtOnce: each leads to others, by
// its base, by a slice told apart by a profile or by an element in one, or by the
// type of a reference's target.
var editions = map[string][]string{
	"base":    {`{"id":"Patient.name","path":"Patient.name","min":1}`, `{"id":"Patient.photo","path":"Patient.photo","min":1}`},
	"derived": {`{"id":"Patient.gender","path":"Patient.gender","min":1}`, `{"id":"Patient.gender","path":"Patient.gender","max":"0"}`},
	"own":     {`{"id":"Identifier.system","path":"Identifier.system","fixedUri":"http://a"}`, `{"id":"Identifier.system","path":"Identifier.system","fixedUri":"http://b"}`},
	"slicing": {
		`{"id":"Patient.identifier","path":"Patient.identifier","slicing":{"discriminator":[{"type":"value","path":"system"}],"rules":"open"}},
		 {"id":"Patient.identifier:own","path":"Patient.identifier","sliceName":"own","min":1,"type":[{"code":"Identifier","profile":["http://example.org/own"]}]}`,
		`{"id":"Patient.identifier","path":"Patient.identifier","slicing":{"discriminator":[{"type":"profile","path":"$this"}],"rules":"open"}},
		 {"id":"Patient.identifier:own","path":"Patient.identifier","sliceName":"own","max":"0","type":[{"code":"Identifier","profile":["http://example.org/own"]}]}`,
	},
	"target": {
		`{"id":"Patient.generalPractitioner","path":"Patient.generalPractitioner","type":[{"code":"Reference","targetProfile":["http://example.org/aim"]}]}`,
		`{"id":"Patient.managingOrganization","path":"Patient.managingOrganization","type":[{"code":"Reference","targetProfile":["http://example.org/aim"]}]}`,
	},
	"aim": {"Practitioner", "Organization"},
}

func edition(t *testing.T, name string, n int) *fhir.Resource {
	url, element := "http://example.org/"+name, editions[name][n]
	switch name {
	case "aim":
		return define(t, url, element, specification+element, "", `{"id":"`+element+`","path":"`+element+`"}`)
	case "own":
		return define(t, url, "Identifier", specification+"Identifier", "", element)
	case "derived":
		return define(t, url, "Patient", "http://example.org/base", "", element)
	}
	return define(t, url, "Patient", specification+"Patient", "", element)
}

// A validator made from the one before it finds what one made from nothing does,
// whatever was stored, replaced and deleted in between.
func TestChangesAreSeenAtOnce(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	names := []string{"base", "derived", "own", "slicing", "target", "aim"}
	patients := []string{
		`{"resourceType":"Patient"}`,
		`{"resourceType":"Patient","name":[{"text":"x"}],"gender":"male","identifier":[{"system":"http://a"}]}`,
		`{"resourceType":"Patient","photo":[{"title":"x"}],"identifier":[{"system":"http://b"}],"generalPractitioner":[{"reference":"Practitioner/1"}]}`,
		`{"resourceType":"Patient","generalPractitioner":[{"reference":"Organization/1"}],"managingOrganization":{"reference":"Organization/1"}}`,
	}
	stored := map[string]*fhir.Resource{}
	v := validator()
	told := map[string]bool{}
	for step := range 150 {
		name := names[random.IntN(len(names))]
		if random.IntN(5) == 0 {
			delete(stored, name)
		} else {
			stored[name] = edition(t, name, random.IntN(2))
		}
		var resources []*fhir.Resource
		for _, name := range names {
			if stored[name] != nil {
				resources = append(resources, stored[name])
			}
		}
		v = v.With(resources)
		fresh := validator().With(resources)
		for _, name := range []string{"base", "derived", "slicing", "target"} {
			for _, text := range patients {
				profile := []string{"http://example.org/" + name}
				got := fmt.Sprint(v.ValidateProfile("Patient", parse(t, text), profile, ""))
				if want := fmt.Sprint(fresh.ValidateProfile("Patient", parse(t, text), profile, "")); got != want {
					t.Fatalf("step %d, %s of %s:\n%s, want\n%s", step, text, name, got, want)
				}
				told[got] = true
			}
		}
	}
	if len(told) < 15 {
		t.Errorf("only %d different answers: it shows little", len(told))
	}
}
