package postgres

import (
	"testing"

	"starling/internal/fhir"
)

// TestFewBeginJoins looks at sets that go over other resources: one that begins
// at a few drives, even where another set is below few, since each candidate of
// that would have to be tested for the join.
func TestFewBeginJoins(t *testing.T) {
	const resources = 30_000
	s := openClinic(t, resources)
	conn, err := s.requests.Acquire(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Release()
	id := fhir.Token{Param: "identifier", Code: ref("mrn-7")}
	one := fhir.Chain{Param: "patient", Type: "Patient", Criterion: id}
	nested := fhir.Chain{Param: "encounter", Type: "Encounter", Criterion: one}
	typeless := fhir.Or{fhir.Chain{Param: "subject", Type: "Patient", Criterion: id}, fhir.Chain{Param: "subject", Type: "Group", Criterion: id}}
	plan := fhir.Has{Type: "CarePlan", Param: "subject", Criterion: fhir.URI{Param: "instantiates-uri", URI: "http://example.org/plans/7/7"}}
	common := code("code", "2339-0")
	male := code("gender", "male")
	for name, c := range map[string]struct {
		typ    fhir.ResourceType
		common fhir.Criterion
		join   fhir.Criterion
		drives bool
	}{
		"chain":            {"Observation", common, one, true},
		"chain of two":     {"Observation", common, nested, true},
		"without a type":   {"Observation", common, typeless, true},
		"to an id":         {"Observation", common, fhir.Chain{Param: "patient", Type: "Patient", Criterion: fhir.IDIn{clinicPatient(7)}}, true},
		"has":              {"Patient", male, plan, true},
		"chain of a has":   {"Observation", common, fhir.Chain{Param: "patient", Type: "Patient", Criterion: plan}, true},
		"common chain":     {"Observation", common, fhir.Chain{Param: "patient", Type: "Patient", Criterion: male}, false},
		"common has":       {"Patient", male, fhir.Has{Type: "Observation", Param: "patient", Criterion: common}, false},
		"common chain has": {"Observation", common, fhir.Chain{Param: "patient", Type: "Patient", Criterion: fhir.Has{Type: "Observation", Param: "patient", Criterion: common}}, false},
	} {
		t.Run(name, func(t *testing.T) {
			query := searchFor(c.typ, c.common, c.join)
			sizes, err := s.sizesOf(t.Context(), conn.Conn(), query)
			if err != nil {
				t.Fatal(err)
			}
			of := sizes[c.typ]
			if len(of) != 2 {
				t.Fatalf("sizes %v", of)
			}
			if drives := of[1] < of[0]; drives != c.drives {
				t.Errorf("sizes %v of the common criterion and the join", of)
			}
			if common := of[0]; c.typ == "Observation" && common < few/10 {
				t.Errorf("the common criterion holds for %d", common)
			}
		})
	}
}
