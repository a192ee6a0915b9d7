package search

import (
	"slices"
	"testing"

	"starling/internal/fhir/definition"
)

// Every element that a parameter's path reaches is read, but for these, which
// docs/search.md explains.
func TestEveryElementIsRead(t *testing.T) {
	ignored := map[string][]string{
		"CarePlan.activity-date":               {"string"},
		"Immunization.date":                    {"string"},
		"Consent.source-reference":             {"Attachment"},
		"Observation.combo-value-quantity":     {"SampledData"},
		"Observation.component-value-quantity": {"SampledData"},
		"Observation.value-quantity":           {"SampledData"},
		"Procedure.date":                       {"Age", "Range", "string"},
	}
	paths := 0
	for _, typ := range definition.R4().ResourceTypes() {
		c := compiler{search: r4, t: typ}
		for _, d := range definition.R4().SearchParameters(typ) {
			if readers[d.Type] == nil || indexedByStore(d.Code) {
				continue
			}
			for _, branch := range branches(d.Expression) {
				if from := branchType(branch); from != string(typ) && from != "Resource" && from != "DomainResource" {
					continue
				}
				ops, ok := parsePath(branch)
				if !ok {
					continue
				}
				paths++
				places := c.places(ops)
				if len(places) == 0 {
					t.Errorf("%s.%s: %s leads nowhere", typ, d.Code, branch)
				}
				for _, at := range places {
					if at.typ != "Extension" && readerFor(d.Type, at.typ) == nil && !slices.Contains(ignored[string(typ)+"."+d.Code], at.typ) {
						t.Errorf("%s.%s: %s takes %s, which a %s parameter does not read", typ, d.Code, branch, at.typ, d.Type)
					}
				}
			}
		}
	}
	if paths < 1500 {
		t.Errorf("only %d plain paths", paths)
	}
}
