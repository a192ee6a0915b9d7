package interaction

import (
	"slices"
	"strconv"
	"strings"
	"testing"

	"starling/internal/fhir"
)

func TestSearchContained(t *testing.T) {
	s := newServer(t)
	s.do(StatusCreated, "PUT", "MedicationRequest/23", `{"resourceType":"MedicationRequest","id":"23","status":"active","intent":"order","subject":{"reference":"Patient/1"},
		"medicationReference":{"reference":"#m1"},"note":[{"text":"with #other"}],"supportingInformation":[{"reference":"#m2"}],"contained":[
		{"resourceType":"Medication","id":"m1","code":{"text":"x","coding":[{"code":"abc"}]},"ingredient":[{"itemCodeableConcept":{"coding":[{"code":"1"}]}}]},
		{"resourceType":"Medication","id":"m2","code":{"coding":[{"code":"def"}]},"ingredient":[{"itemCodeableConcept":{"coding":[{"code":"1"}]}}]}]}`)
	s.do(StatusCreated, "PUT", "Medication/9", `{"resourceType":"Medication","id":"9","code":{"coding":[{"code":"abc"}]}}`)
	container, m1, m2, own := "/MedicationRequest/23", "/MedicationRequest/23#m1", "/MedicationRequest/23#m2", "/Medication/9"
	for target, want := range map[string][]string{
		"Medication?code=abc": {own},
		"Medication?code=abc&_contained=false&_containedType=contained":                  {own},
		"Medication?code=abc&_contained=true":                                            {container},
		"Medication?code=abc&_contained=true&_containedType=container":                   {container},
		"Medication?code=abc&_contained=true&_containedType=contained":                   {m1},
		"Medication?_contained=true&_containedType=contained":                            {m1, m2},
		"Medication?ingredient-code=1&_contained=true&_containedType=contained&_count=1": {m1, m2},
		"Medication?code=abc&_contained=both":                                            {container, own},
		"Medication?code=abc&_contained=both&_containedType=contained":                   {m1, own},
		"Medication?_id=m2&_contained=true&_containedType=contained":                     {m2},
		"Medication?code=def&ingredient-code=1&_contained=true&_containedType=contained": {m2},
		"Medication?code=abc&code=def&_contained=true":                                   {},
		"Patient?_contained=true":                                                        {},
		"?_type=Medication&code=abc&_contained=both":                                     {container, own},
		"MedicationRequest?medication.code=abc":                                          {container},
		"MedicationRequest?medication.ingredient-code=1&medication.code=def":             {},
		"MedicationRequest?medication:Medication.code=def":                               {},
		"MedicationRequest?medication:Medication.ingredient-code=1":                      {container},
	} {
		bundle := s.bundle("searchset", "GET", target+"&_total=accurate", "")
		got := []string{}
		for entry := range bundle.Get("entry").Children() {
			got = append(got, strings.TrimPrefix(entry.Get("fullUrl").Str(), base))
			if id := entry.Get("resource").Get("id").Str(); !strings.HasSuffix(entry.Get("fullUrl").Str(), id) || entry.Get("search").Get("mode").Str() != "match" {
				t.Errorf("%s: %s", target, entry.Raw())
			}
		}
		slices.Sort(got)
		slices.Sort(want)
		if !slices.Equal(got, want) || bundle.Get("total").Literal() != strconv.Itoa(len(want)) {
			t.Errorf("%s finds %s of %s, want %s", target, got, bundle.Get("total").Literal(), want)
		}
	}
	summary := s.bundle("searchset", "GET", "Medication?code=abc&_contained=true&_containedType=contained&_elements=code", "")
	resource := summary.Get("entry").At(0).Get("resource")
	if resource.Get("ingredient").Exists() || resource.Get("code").Get("text").Str() != "x" || !strings.Contains(string(resource.Get("meta").Raw()), "SUBSETTED") {
		t.Errorf("%s", resource.Raw())
	}
	count := s.bundle("searchset", "GET", "Medication?_contained=both&_containedType=contained&_count=0", "")
	if count.Get("total").Literal() != "3" || count.Get("entry").Exists() {
		t.Errorf("%s", count.Raw())
	}
	s.refuse(fhir.KindInvalid, fhir.IssueNotSupported, "GET", "Patient/1/Condition?_contained=true", "")
	s.refuse(fhir.KindInvalid, fhir.IssueNotSupported, "GET", "Medication?_contained=true&_sort=code", "")
	s.do(StatusOK, "PUT", "MedicationRequest/23", `{"resourceType":"MedicationRequest","id":"23","status":"active","intent":"order","subject":{"reference":"Patient/1"},"medicationCodeableConcept":{"text":"x"}}`)
	for _, target := range []string{"Medication?_contained=true", "MedicationRequest?medication.code=abc"} {
		if gone := s.bundle("searchset", "GET", target, ""); gone.Get("entry").Exists() {
			t.Errorf("%s", gone.Raw())
		}
	}
}
