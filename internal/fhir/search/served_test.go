package search

import (
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
