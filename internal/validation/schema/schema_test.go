package schema

import (
	"strings"
	"sync"
	"testing"

	"starling/internal/fhir"
	"starling/internal/fhir/definition"
	"starling/internal/fhir/element"
)

func parse(t testing.TB, text string) element.Node {
	t.Helper()
	tree, err := element.Parse([]byte(text), element.DefaultLimits)
	if err != nil {
		t.Fatal(err)
	}
	return tree.Root()
}

// TestEveryTypeCompiles: there is a schema for each resource type, and its own
// name alone is a resource for it.
func TestEveryTypeCompiles(t *testing.T) {
	v := New()
	for _, name := range definition.R4().ResourceTypes() {
		if _, err := v.schema(name); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		for _, issue := range v.Validate(name, parse(t, `{"resourceType":"`+string(name)+`"}`)) {
			if issue.Code != fhir.IssueRequired {
				t.Errorf("%s: %+v", name, issue)
			}
		}
	}
}

func TestValidate(t *testing.T) {
	v := New()
	for text, want := range map[string]string{
		`{"resourceType":"Patient","name":[{"family":"A","given":["B"]}],"birthDate":"2000-01","_birthDate":{"id":"x"}}`: "",
		`{"resourceType":"Patient","nane":[]}`:                                                                           "structure Patient",
		`{"resourceType":"Patient","name":[{"family":7}]}`:                                                               "structure Patient.name[0].family",
		`{"resourceType":"Patient","birthDate":"2000-1"}`:                                                                "value Patient.birthDate",
		`{"resourceType":"Patient","gender":"man"}`:                                                                      "code-invalid Patient.gender",
		`{"resourceType":"Patient","contained":[{"resourceType":"Organization","unknown":1}]}`:                           "structure Patient.contained[0]",
		`{"resourceType":"Patient","contained":[{"resourceType":"Nobody"}]}`:                                             "not-supported Patient.contained[0]",
		`{"resourceType":"Patient","contained":[{}]}`:                                                                    "required Patient.contained[0]",
		`{"resourceType":"Bundle","type":"collection","entry":[{"resource":{"resourceType":"Patient","active":"yes"}}]}`: "structure Bundle.entry[0].resource.active",
		`{"resourceType":"Observation","code":{"text":"x"},"valueQuantity":{"value":"1"}}`:                               "structure Observation.valueQuantity.value",
	} {
		root := parse(t, text)
		var got []string
		for _, issue := range v.Validate(fhir.ResourceType(root.Get("resourceType").Str()), root) {
			got = append(got, string(issue.Code)+" "+issue.Expression)
		}
		if strings.Join(got, ", ") != want {
			t.Errorf("%s: %q, want %q", text, got, want)
		}
	}
}

// TestFirstUseAtOnce: many first uses of types do no harm.
func TestFirstUseAtOnce(t *testing.T) {
	v := New()
	var wait sync.WaitGroup
	for i := range 32 {
		wait.Go(func() {
			name := definition.R4().ResourceTypes()[i%8]
			v.Validate(name, parse(t, `{"resourceType":"`+string(name)+`"}`))
		})
	}
	wait.Wait()
}
