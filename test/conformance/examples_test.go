package conformance

import (
	"encoding/json"
	"net/http"
	"slices"
	"strings"
	"testing"

	"starling/test/program"
)

// refused are the examples of the specification that break its own rules, each
// with the reason.
var refused = map[string]string{
	"ImplementationGuide-fhir":                     "required elements are missing",
	"ig-r4":                                        "required elements are missing",
	"Questionnaire-qs1":                            "required elements are missing",
	"ActivityDefinition-blood-tubes-supply":        "txt-2: the narrative is empty",
	"ActivityDefinition-heart-valve-replacement":   "txt-2: the narrative is empty",
	"EventDefinition-example":                      "txt-2: the narrative is empty",
	"Questionnaire-zika-virus-exposure-assessment": "txt-2: the narrative is empty",
}

// refusable are those that a server may refuse, by a rule that R4 leaves to it
// or that is checked only where references are.
var refusable = map[string]string{
	"DeviceMetric-example":                        "a reference has a type its element does not allow",
	"DeviceUseStatement-example":                  "a reference has a type its element does not allow",
	"MedicationRequest-medrx0301":                 "a reference has a type its element does not allow",
	"Observation-clinical-gender":                 "a reference has a type its element does not allow",
	"Basic-referral":                              "an unknown modifier extension",
	"Bundle-types":                                "an extension outside its context",
	"Bundle-10bb101f-a121-4264-a920-67be9cb82c74": "a fullUrl of another resource",
	"Bundle-3a0707d3-549e-4467-b8b8-5a2ab3800efe": "a fullUrl of another resource",
	"Bundle-lri-example":                          "a fullUrl of another resource",
	"Bundle-hla-1":                                "an extension without the part that it has",
	"TestScript-testscript-example":               "a code that is no MIME type",
	"TestScript-testscript-example-history":       "a code that is no MIME type",
	"TestScript-testscript-example-multisystem":   "a code that is no MIME type",
	"TestScript-testscript-example-readtest":      "a code that is no MIME type",
	"TestScript-testscript-example-search":        "a code that is no MIME type",
	"TestScript-testscript-example-update":        "a code that is no MIME type",
}

// Every example of the specification is accepted under its own id and reads back
// as it was sent, but for those above, which are refused with an outcome.
func TestSpecificationExamples(t *testing.T) {
	examples := archive(t, "r4-examples.tar.xz")
	server := program.Start(t, "--data-dir", t.TempDir())
	names := make([]string, 0, len(examples))
	for file := range examples {
		names = append(names, strings.TrimSuffix(file, ".json"))
	}
	slices.Sort(names)
	accepted, turnedAway := 0, 0
	for _, name := range names {
		t.Run(name, func(t *testing.T) {
			text := examples[name+".json"]
			sent := decode(t, text)
			typ, id := sent["resourceType"].(string), sent["id"].(string)
			if typ == "Parameters" {
				t.Skip("Parameters has no endpoint")
			}
			url := server.URL + "/" + typ + "/" + id
			answer, err := program.Do("PUT", url, text)
			if err != nil {
				t.Fatal(err)
			}
			turned := answer.Status == http.StatusBadRequest || answer.Status == http.StatusUnprocessableEntity
			reason, must := refused[name]
			_, may := refusable[name]
			switch {
			case must && !turned:
				t.Errorf("status %d, want 400 or 422 since %s", answer.Status, reason)
			case turned && (must || may):
				wantOutcome(t, answer)
				turnedAway++
			case answer.Status != http.StatusCreated:
				t.Errorf("status %d: %.1500s", answer.Status, answer.Body)
			default:
				read := program.Want(t, http.StatusOK, "GET", url, nil)
				if d := difference(sent, decode(t, read.Body), true); d != "" {
					t.Error(d)
				}
				accepted++
			}
		})
	}
	if accepted+turnedAway < 700 {
		t.Errorf("%d accepted and %d refused: not all of the examples were tried", accepted, turnedAway)
	}
	t.Logf("%d of %d examples accepted and read back equal, %d refused as they should be", accepted, len(examples), turnedAway)
}

// wantOutcome checks that a refusal says what is wrong, and where.
func wantOutcome(t *testing.T, answer program.Answer) {
	t.Helper()
	var outcome struct {
		ResourceType string
		Issue        []struct {
			Severity, Code, Diagnostics string
			Details                     struct{ Text string }
			Expression                  []string
		}
	}
	if err := json.Unmarshal(answer.Body, &outcome); err != nil || outcome.ResourceType != "OperationOutcome" || len(outcome.Issue) == 0 {
		t.Fatalf("no OperationOutcome: %v %.600s", err, answer.Body)
	}
	for _, issue := range outcome.Issue {
		if issue.Severity == "error" && issue.Code != "" && len(issue.Expression) > 0 {
			return
		}
	}
	t.Errorf("no error names its element: %.600s", answer.Body)
}
