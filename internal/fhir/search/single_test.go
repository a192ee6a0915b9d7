package search

import (
	"testing"

	"pgregory.net/rapid"

	"starling/internal/fhir"
)

// TestSingle tells parameters of which a valid resource has one value at most
// from the others, and holds it against random resources.
func TestSingle(t *testing.T) {
	single := func(t *testing.T, typ fhir.ResourceType, code string) bool {
		t.Helper()
		q, _, err := r4.Plan([]fhir.ResourceType{typ}, "_sort=-"+code, true, base)
		if err != nil {
			t.Fatal(err)
		}
		return q.Sort[0].Single
	}
	for _, c := range []struct {
		typ    fhir.ResourceType
		code   string
		single bool
	}{
		{"Encounter", "date", true},
		{"Observation", "date", true},
		{"Patient", "birthdate", true},
		{"Condition", "onset-date", true},
		{"Encounter", "location-period", false},
		{"Patient", "family", false},
		{"Goal", "target-date", false},
		{"CarePlan", "activity-date", false},
		{"MedicationRequest", "date", false},
		{"Observation", "combo-value-quantity", false},
		{"Observation", "value-date", true},
	} {
		if got := single(t, c.typ, c.code); got != c.single {
			t.Errorf("%s.%s: single %t", c.typ, c.code, got)
		}
	}
	held := 0
	for _, typ := range storedTypes {
		maker := rapid.Custom(func(t *rapid.T) string { return (&resourceMaker{t: t}).resource(string(typ)) })
		for i := range 50 {
			index, err := r4.Index(typ, parse(t, maker.Example(i)), base)
			if err != nil {
				t.Fatal(err)
			}
			values := map[string]int{}
			for _, v := range index.Dates {
				values[v.Param]++
			}
			for code, n := range values {
				if of := r4.types[typ].compiled.byCode[code]; of == nil || of.repeats {
					continue
				}
				if held++; n > 1 {
					t.Errorf("%s has %d values for %s", typ, n, code)
				}
			}
		}
	}
	if held < 50 {
		t.Errorf("%d resources had a value", held)
	}
}
