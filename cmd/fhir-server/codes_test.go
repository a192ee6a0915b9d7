package main

import (
	"slices"
	"testing"

	"starling/internal/fhir/definition"
	"starling/internal/fhir/search"
	"starling/internal/terminology"
)

// The specification's own code systems and value sets answer searches.
func TestSearchedCodes(t *testing.T) {
	known := terminology.New(terminology.NewSpecification(definition.R4()), nil, nil, nil)
	codes := searchedCodes(func() *terminology.Terminology { return known })
	members, err := codes.Members("http://hl7.org/fhir/ValueSet/administrative-gender")
	if err != nil || !slices.Contains(members, search.Coding{System: "http://hl7.org/fhir/administrative-gender", Code: "male"}) {
		t.Errorf("%v %v", members, err)
	}
	const clinical = "http://terminology.hl7.org/CodeSystem/allergyintolerance-clinical"
	below, err := codes.Subsumed(clinical, "inactive", false)
	if err != nil || !slices.Contains(below, search.Coding{System: clinical, Code: "resolved"}) || slices.Contains(below, search.Coding{System: clinical, Code: "active"}) {
		t.Errorf("%v %v", below, err)
	}
	above, err := codes.Subsumed(clinical, "resolved", true)
	if err != nil || !slices.Contains(above, search.Coding{System: clinical, Code: "inactive"}) {
		t.Errorf("%v %v", above, err)
	}
	for _, system := range []string{clinical + "/none", "http://snomed.info/sct"} {
		if _, err := codes.Subsumed(system, "a", true); err == nil {
			t.Errorf("%s has codes", system)
		}
	}
	if _, err := codes.Members("http://example.org/none"); err == nil {
		t.Error("a value set that is not there has codes")
	}
	if _, err := searchedCodes(nil).Members("http://hl7.org/fhir/ValueSet/administrative-gender"); err == nil {
		t.Error("there is no terminology, and yet an answer")
	}
}
