package search

import (
	"slices"
	"testing"

	"starling/internal/fhir/definition"
)

// Each search parameter of the specification is served for every type it is
// defined for, or named as not served with a reason.
func TestEveryDefinitionIsServedOrNamed(t *testing.T) {
	named := map[string]bool{}
	served, refused := 0, 0
	for _, typ := range definition.R4().ResourceTypes() {
		defined := definition.R4().SearchParameters(typ)
		for _, d := range r4.Served(typ) {
			named[d.URL] = true
			served++
		}
		for _, d := range r4.Unserved(typ) {
			named[d.URL] = true
			refused++
			if d.Reason == "" {
				t.Errorf("%s.%s is refused without a reason", typ, d.Code)
			}
		}
		if n := len(r4.Served(typ)) + len(r4.Unserved(typ)); n != len(defined) {
			t.Errorf("%s: %d parameters are served or named, %d are defined", typ, n, len(defined))
		}
	}
	for _, d := range r4.Unserved("") {
		named[d.URL] = true
	}
	all := definition.R4().SearchParameterURLs()
	for _, url := range all {
		if !named[url] {
			t.Errorf("%s is neither served nor named", url)
		}
	}
	t.Logf("%d definitions, %d served and %d refused of a type", len(all), served, refused)
	if len(all) < 1300 {
		t.Errorf("only %d definitions", len(all))
	}
}

// An expression may leave out the type it begins with, as that of InsurancePlan.name
// does; a Device's url and a Subscription's are not what canonicals name.
func TestOddDefinitionsAreServed(t *testing.T) {
	index, err := r4.Index("InsurancePlan", parse(t, `{"resourceType":"InsurancePlan","name":"Silver","alias":["Argent"]}`), base)
	if err != nil || len(index.Strings) != 2 {
		t.Errorf("%v %+v", err, index)
	}
	if _, err := plan("InsurancePlan?name:exact=Silver", true); err != nil {
		t.Error(err)
	}
	for _, typ := range r4.Canonicals("Measure", "depends-on") {
		if typ == "Device" || typ == "Subscription" || typ == "Contract" {
			t.Errorf("a canonical leads to a %s", typ)
		}
	}
	if !slices.Contains(r4.Canonicals("Measure", "depends-on"), "Library") {
		t.Error("no canonical leads to a Library")
	}
}
