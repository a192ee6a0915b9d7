package conformance

import (
	"encoding/json"
	"net/http"
	"strings"
	"testing"

	"starling/test/program"
)

// A search that cannot be understood gets a 400 whose OperationOutcome names what
// is wrong, and nothing of the server's inside.
func TestBadSearches(t *testing.T) {
	server := program.Start(t, "--database-url", program.Database(t))
	for _, c := range []struct {
		search string
		names  string // must be in the text
		header []string
	}{
		{search: "Patient?no-such=1", names: "no-such", header: []string{"Prefer", "handling=strict"}},
		{search: "Patient?name:exactly=x", names: "exactly"},
		{search: "Patient?birthdate:exact=2012", names: "exact"},
		{search: "Patient?gender:contains=m", names: "contains"},
		{search: "Patient?birthdate=xx2012", names: "birthdate"},
		{search: "Patient?birthdate=gte2012", names: "birthdate"},
		{search: "Patient?birthdate=2012-13", names: "birthdate"},
		{search: "Patient?birthdate=2011-02-29", names: "birthdate"},
		{search: "Patient?birthdate=2012-01-01T25:00", names: "birthdate"},
		{search: "Patient?birthdate=yesterday", names: "birthdate"},
		{search: "Patient?_lastUpdated=ge", names: "_lastUpdated"},
		{search: "Patient?deceased:missing=perhaps", names: "deceased"},
		{search: "Observation?code-value-quantity=8302-2", names: "code-value-quantity"},
		{search: "Observation?code-value-quantity=8302-2$gt180$x", names: "code-value-quantity"},
		{search: "Observation?code-value-quantity=$gt180", names: "code-value-quantity"},
		{search: "Observation?code-value-quantity=8302-2$heavy", names: "code-value-quantity"},
		{search: "Observation?value-quantity=gt", names: "value-quantity"},
		{search: "Observation?value-quantity=5%7Ca%7Cb%7Cc", names: "value-quantity"},
		{search: "Observation?value-quantity=1.2.3", names: "value-quantity"},
		{search: "RiskAssessment?probability=much", names: "probability"},
		{search: "Observation?subject:Medication.code=x", names: "subject"},
		{search: "Observation?subject:Patient.no-such=x", names: "no-such"},
		{search: "Observation?code.name=x", names: "code"},
		{search: "Observation?subject:Nothing=1", names: "Nothing"},
		{search: "Patient?_has:Observation:code:status=final", names: "code"},
		{search: "Patient?_has:Observation:patient=1", names: "_has"},
		{search: "Patient?_has:Nothing:patient:code=1", names: "Nothing"},
		{search: "Patient?identifier:of-type=MR%7C1", names: "identifier"},
		{search: "Patient?phone=phone%7C555", names: "phone"},
		{search: "Condition?code:in=http://example.org/no-such-set", names: "no-such-set"},
		{search: "Location?near=north", names: "near"},
		{search: "Location?near=95%7C10", names: "near"},
		{search: "Patient?_filter=name%20is%20x", names: "_filter"},
		{search: "Patient?_filter=(name%20eq%20x", names: "_filter"},
		{search: "Patient?_content=x", names: "_content"},
		{search: "Patient?_query=x", names: "_query"},
		{search: "Patient?_count=-1", names: "_count"},
		{search: "Patient?_count=ten", names: "_count"},
		{search: "Patient?_total=some", names: "_total"},
		{search: "Patient?_summary=short", names: "_summary"},
		{search: "Patient?_sort=no-such", names: "no-such"},
		{search: "Patient?_sort=a,b,c,d,e,f,g,h,i", names: "_sort"},
		{search: "Observation?_include=Observation:no-such", names: "no-such"},
		{search: "Observation?_include=Nothing:subject", names: "Nothing"},
		{search: "Patient?_include=Observation", names: "_include"},
		{search: "Patient?_revinclude=Observation:code", names: "code"},
		{search: "Patient?_summary=text&_include=Patient:general-practitioner", names: "_include"},
		{search: "Patient?_contained=maybe", names: "_contained"},
		{search: "?_type=Patient,Nothing", names: "Nothing"},
		{search: "?_type=Patient,Observation&birthdate=2012", names: "birthdate", header: []string{"Prefer", "handling=strict"}},
		{search: "Patient/1/Nothing", names: "Nothing"},
		{search: "Nothing?name=x", names: "Nothing"},
	} {
		t.Run(c.search, func(t *testing.T) {
			at := server.URL + "/" + c.search
			if strings.HasPrefix(c.search, "?") {
				at = server.URL + c.search
			}
			answer, err := program.Do("GET", at, nil, c.header...)
			if err != nil {
				t.Fatal(err)
			}
			refused := answer.Status == http.StatusBadRequest ||
				answer.Status == http.StatusNotFound && c.names == "Nothing" // of a type there is not
			var outcome struct {
				ResourceType string
				Issue        []struct{ Severity, Code, Diagnostics string }
			}
			if err := json.Unmarshal(answer.Body, &outcome); err != nil || outcome.ResourceType != "OperationOutcome" || len(outcome.Issue) == 0 {
				t.Fatalf("status %d: %.300s", answer.Status, answer.Body)
			}
			issue := outcome.Issue[0]
			if !refused || issue.Severity != "error" || issue.Code == "" || issue.Code == "exception" {
				t.Errorf("status %d: %+v", answer.Status, issue)
			}
			if !strings.Contains(issue.Diagnostics, c.names) {
				t.Errorf("%q does not name %q", issue.Diagnostics, c.names)
			}
			for _, inside := range []string{"SQLSTATE", "SELECT", "panic", ".go:", "*fhir."} {
				if strings.Contains(string(answer.Body), inside) {
					t.Errorf("the answer shows %q: %s", inside, answer.Body)
				}
			}
		})
	}
}
