package validation_test

import (
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
}

func TestSpecificationExamples(t *testing.T) {
	for name, text := range corpus(t, examples) {
		t.Run(name, func(t *testing.T) {
			issues := validate(t, string(text))
			rule, refused := rightlyRefused[name]
			if refused && len(issues) == 0 {
				t.Errorf("accepted, though: %s", rule)
			}
			for _, issue := range issues {
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
			for _, issue := range validate(t, string(text)) {
				t.Errorf("%s: %s", issue.Expression, issue.Diagnostics)
			}
			for entry := range parse(t, string(text)).Get("entry").Children() {
				resource := entry.Get("resource")
				for _, issue := range validator().Validate(fhir.ResourceType(resource.Get("resourceType").Str()), resource) {
					t.Errorf("alone: %s: %s", issue.Expression, issue.Diagnostics)
				}
			}
		})
	}
}
