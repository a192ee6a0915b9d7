package search

import (
	"reflect"
	"testing"
)

func TestBranches(t *testing.T) {
	got := branches(`A.b | (C.d as E) | F.where(x='|').g | (H | I).j`)
	want := []string{"A.b", "(C.d as E)", "F.where(x='|').g", "(H | I).j"}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
	for branch, want := range map[string]string{"A.b": "A", "(C.d as E)": "C", "((X.y)).z": "X", "A.b.exists() and A.c": "A", "": ""} {
		if got := branchType(branch); got != want {
			t.Errorf("branchType(%q) = %q, want %q", branch, got, want)
		}
	}
}

func TestParsePath(t *testing.T) {
	field := func(name string) pathOp { return pathOp{kind: pathField, name: name} }
	for in, want := range map[string][]pathOp{
		"Patient.name.family":                              {field("Patient"), field("name"), field("family")},
		"Resource.meta.tag":                                {field("Resource"), field("meta"), field("tag")},
		"(Observation.value as Quantity)":                  {field("Observation"), field("value"), {kind: pathAs, name: "Quantity"}},
		"Observation.value as Quantity":                    {field("Observation"), field("value"), {kind: pathAs, name: "Quantity"}},
		"(Observation.value as CodeableConcept).text":      {field("Observation"), field("value"), {kind: pathAs, name: "CodeableConcept"}, field("text")},
		"Condition.onset.as(Age)":                          {field("Condition"), field("onset"), {kind: pathAs, name: "Age"}},
		"Basic.subject.where(resolve() is Patient)":        {field("Basic"), field("subject"), {kind: pathResolve, name: "Patient"}},
		"Library.relatedArtifact.where(type='x').resource": {field("Library"), field("relatedArtifact"), {kind: pathEquals, name: "type", text: "x"}, field("resource")},
		"Patient.extension('http://x')":                    {field("Patient"), field("extension"), {kind: pathEquals, name: "url", text: "http://x"}},
		"(Asset.as)":                                       {field("Asset"), field("as")},
	} {
		if got, ok := parsePath(in); !ok || !reflect.DeepEqual(got, want) {
			t.Errorf("parsePath(%q) = %v, %v, want %v", in, got, ok, want)
		}
	}
	for _, in := range []string{
		"", "A.", "A..b", "Patient.deceased.exists() and Patient.deceased != false", "Bundle.entry[0].resource", "(A.b", "A.b)",
		"A | B", "A.where(x)", "A.where(x='y' and z='w')", "A.where(hasExtension('x')).y", "A.as(", "A as", "A.where(resolve() is Patient or x)",
	} {
		if ops, ok := parsePath(in); ok {
			t.Errorf("parsePath(%q) = %v", in, ops)
		}
	}
}
