package validation_test

import (
	"strings"
	"testing"

	"starling/internal/fhir"
)

// A profile that is stored and cannot be used is told with the reason, wherever it is
// asked for: above all with the base profile that it lacks.
func TestUnusableProfiles(t *testing.T) {
	const (
		lacking, below, circle = "http://example.org/lacking", "http://example.org/below", "http://example.org/circle"
		none, logical          = "http://example.org/none", "http://example.org/logical"
		missing                = "http://example.org/missing"
		element                = `{"id":"Patient.name","path":"Patient.name","min":1}`
	)
	stored := []*fhir.Resource{
		define(t, lacking, "Patient", missing, "", element),
		define(t, below, "Patient", lacking, `,"version":"1"`, element),
		define(t, circle, "Patient", circle, "", element),
		define(t, logical, "http://example.org/Type", specification+"Element", "", element),
	}
	v := validator().With(stored)
	const lacks = `cannot be used, since the profile "` + missing + `", which it derives from, is not known here`
	for canonical, want := range map[string]string{
		lacking: lacks, below: lacks, below + "|1": lacks, circle: "cannot be used, since it derives from itself", logical: "cannot be used, since it constrains no type of R4",
		none: "is not known here", below + "|2": "is not known here",
	} {
		patient := parse(t, `{"resourceType":"Patient","meta":{"profile":["`+canonical+`"]}}`)
		want = `the profile "` + canonical + `" ` + want
		for severity, issues := range map[fhir.Severity][]fhir.Issue{
			fhir.SeverityWarning: v.Validate("Patient", patient),
			fhir.SeverityError:   v.RefusingUnknownProfiles().Validate("Patient", patient),
		} {
			if len(issues) != 1 || issues[0].Severity != severity || issues[0].Code != fhir.IssueNotSupported || !strings.HasPrefix(issues[0].Diagnostics, want) {
				t.Errorf("%s: %v, want %s", canonical, issues, want)
			}
		}
		issues := onlyErrors(v.ValidateProfile("Patient", parse(t, `{"resourceType":"Patient"}`), []string{canonical}, ""))
		if len(issues) != 1 || !strings.HasPrefix(issues[0].Diagnostics, want) {
			t.Errorf("asked for %s: %v, want %s", canonical, issues, want)
		}
	}
	// When the base comes it is known.
	v = v.With(append(stored, define(t, missing, "Patient", specification+"Patient", "", element)))
	if issues := v.Validate("Patient", parse(t, `{"resourceType":"Patient","meta":{"profile":["`+below+`"]}}`)); len(issues) != 1 || !strings.Contains(issues[0].Diagnostics, "at least 1 expected") {
		t.Errorf("with the base: %v", issues)
	}
	// The definition itself says so, too.
	issues := validator().With(stored).ValidateProfile("StructureDefinition", parse(t, definitionOf(lacking, `{"path":"Observation.code"}`)), nil, "")
	if len(issues) == 0 || !strings.Contains(issues[0].Diagnostics, `the profile "`+lacking+`", which this one derives from, `+lacks) {
		t.Errorf("of the definition: %v", issues)
	}
}
