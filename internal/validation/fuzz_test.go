package validation_test

import (
	"os"
	"testing"

	"starling/internal/fhir"
	"starling/internal/fhir/element"
	"starling/internal/validation"
)

// FuzzValidate: whatever the parser accepts is checked without a panic, and
// every issue names its place.
func FuzzValidate(f *testing.F) {
	text, err := os.ReadFile("../fhir/element/testdata/observation.json")
	if err != nil {
		f.Fatal(err)
	}
	f.Add("Observation", text)
	f.Add("Patient", []byte(`{"resourceType":"Patient","name":[{"given":["a",null],"_given":[null,{"extension":[{"url":"x","valueQuantity":{"value":1}}]}]}],"text":{"status":"generated","div":"<div xmlns='http://www.w3.org/1999/xhtml'><p class=\"a\">&amp;</p></div>"}}`))
	f.Add("Bundle", []byte(`{"resourceType":"Bundle","type":"batch","entry":[{"resource":{"resourceType":"Patient","contained":[{"resourceType":"Condition","clinicalStatus":{"coding":[{"code":"x"}]}}]}}]}`))
	f.Add("Binary", []byte(`{"resourceType":"Binary","data":"Y Q=="}`))
	f.Add("Patient", []byte(`[null]`))
	f.Fuzz(func(t *testing.T, typeName string, text []byte) {
		tree, err := element.Parse(text, element.DefaultLimits)
		if err != nil {
			return
		}
		issues := validator().Validate(fhir.ResourceType(typeName), tree.Root())
		if len(issues) > validation.MaxIssues {
			t.Errorf("%d issues", len(issues))
		}
		for _, issue := range issues {
			if issue.Severity == "" || issue.Code == "" || issue.Expression == "" || issue.Diagnostics == "" {
				t.Errorf("%+v", issue)
			}
		}
	})
}
