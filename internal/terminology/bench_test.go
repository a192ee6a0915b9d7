package terminology

import (
	"context"
	"testing"
)

// BenchmarkValidateCode asks for a code of the specification, as the
// validation of a resource does (Member) and as the operation does.
func BenchmarkValidateCode(b *testing.B) {
	x := of(b)
	for _, c := range []struct{ name, set, system, code string }{
		{"listed", "http://hl7.org/fhir/ValueSet/units-of-time|4.0.1", "http://unitsofmeasure.org", "min"},
		{"whole", "http://hl7.org/fhir/ValueSet/administrative-gender|4.0.1", "", "unknown"},
		{"is-a", "http://terminology.hl7.org/ValueSet/v3-ActEncounterCode", "http://terminology.hl7.org/CodeSystem/v3-ActCode", "AMB"},
		{"nested", "http://hl7.org/fhir/ValueSet/all-types|4.0.1", "", "Patient"},
		{"not held", "http://hl7.org/fhir/ValueSet/condition-code", "http://snomed.info/sct", "22298006"},
	} {
		b.Run("Member/"+c.name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				_, _ = x.Member(b.Context(), c.set, c.system, c.code)
			}
		})
	}
	v, err := x.ValueSet("http://terminology.hl7.org/ValueSet/v3-ActEncounterCode")
	if err != nil {
		b.Fatal(err)
	}
	b.Run("operation", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			c := Coding{System: "http://terminology.hl7.org/CodeSystem/v3-ActCode", Code: "AMB"}
			if checked, err := x.ValidateCode(context.Background(), v, c, false); err != nil || !checked.Result {
				b.Fatal(err)
			}
		}
	})
}

func BenchmarkExpand(b *testing.B) {
	x := of(b)
	for name, url := range map[string]string{
		"4 codes": "http://hl7.org/fhir/ValueSet/administrative-gender", "1000 codes": "http://terminology.hl7.org/ValueSet/v3-ActCode",
	} {
		v, err := x.ValueSet(url)
		if err != nil {
			b.Fatal(err)
		}
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if _, err := x.Expand(context.Background(), v, Expansion{Count: -1}); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
