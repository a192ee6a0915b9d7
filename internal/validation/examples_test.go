package validation_test

import (
	"slices"
	"strings"
	"testing"

	"starling/internal/fhir"
)

const examples = "r4-examples.tar.xz"

// rightlyRefused are the examples of the specification that break its rules of
// structure: each with the rule, as the beginning of its issues' diagnostics
// after the element.
var rightlyRefused = map[string]string{
	"ImplementationGuide-fhir":                     "is required, but missing", // name, status
	"ig-r4":                                        "is required, but missing",
	"Questionnaire-qs1":                            "is required, but missing", // linkId
	"ActivityDefinition-blood-tubes-supply":        "txt-2",
	"ActivityDefinition-heart-valve-replacement":   "txt-2",
	"EventDefinition-example":                      "txt-2",
	"Questionnaire-zika-virus-exposure-assessment": "txt-2",
	"DeviceMetric-example":                         "the reference is to the type DeviceDefinition",
	"DeviceUseStatement-example":                   "the reference is to the type Procedure",
	"MedicationRequest-medrx0301":                  "the reference is to the type Practitioner",
	"Observation-clinical-gender":                  "the reference is to the type Encounter",
	"Bundle-types":                                 "may not be used here", // extensions beside the context published for them
	"Bundle-10bb101f-a121-4264-a920-67be9cb82c74":  "fullUrl is",           // that of another resource
	"Bundle-3a0707d3-549e-4467-b8b8-5a2ab3800efe":  "fullUrl is",
	"Bundle-lri-example":                           "fullUrl is",
	"Bundle-hla-1":                                 "the extension has no part",
	"Basic-referral":                               "the modifier extension", // policy: unknown ones are refused
}

func TestSpecificationExamples(t *testing.T) {
	for name, text := range corpus(t, examples) {
		t.Run(name, func(t *testing.T) {
			issues := validate(t, string(text))
			rule, refused := rightlyRefused[name]
			if refused && !hasErrors(issues) {
				t.Errorf("accepted, though: %s", rule)
			}
			for _, issue := range issues {
				if issue.Severity != fhir.SeverityError {
					continue
				}
				if !refused || !strings.Contains(issue.Diagnostics, rule) {
					t.Errorf("%s: %s", issue.Expression, issue.Diagnostics)
				}
			}
		})
	}
}

func TestSynthea(t *testing.T) {
	for name, text := range corpus(t, "synthea/synthea-r4-smart.sample60.tar.xz") {
		t.Run(name, func(t *testing.T) {
			for _, issue := range onlyErrors(validate(t, string(text))) {
				t.Errorf("%s: %s", issue.Expression, issue.Diagnostics)
			}
			for entry := range parse(t, string(text)).Get("entry").Children() {
				resource := entry.Get("resource")
				for _, issue := range onlyErrors(validator().Validate(fhir.ResourceType(resource.Get("resourceType").Str()), resource)) {
					t.Errorf("alone: %s: %s", issue.Expression, issue.Diagnostics)
				}
			}
		})
	}
}

func onlyErrors(issues []fhir.Issue) []fhir.Issue {
	return slices.DeleteFunc(issues, func(issue fhir.Issue) bool { return issue.Severity != fhir.SeverityError })
}

func hasErrors(issues []fhir.Issue) bool { return len(onlyErrors(slices.Clone(issues))) > 0 }
