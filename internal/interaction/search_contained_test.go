package interaction

import (
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

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
	s.refuse(fhir.KindInvalid, fhir.IssueNotSupported, "GET", "Medication?_contained=true&_containedType=contained&_sort=code", "")
	s.refuse(fhir.KindInvalid, fhir.IssueNotSupported, "GET", "Medication?_contained=true&_containedType=contained&_revinclude=Observation:subject", "")
	s.refuse(fhir.KindInvalid, fhir.IssueNotSupported, "GET", "?_type=Medication,Patient&_contained=true&_containedType=contained", "")
	s.refuse(fhir.KindInvalid, fhir.IssueNotSupported, "GET", "Medication?_contained=true&_has:MedicationRequest:medication:_id=1", "")
	s.refuse(fhir.KindInvalid, fhir.IssueNotSupported, "GET", "Medication?_contained=true&_text=x", "")
	s.do(StatusOK, "PUT", "MedicationRequest/23", `{"resourceType":"MedicationRequest","id":"23","status":"active","intent":"order","subject":{"reference":"Patient/1"},"medicationCodeableConcept":{"text":"x"}}`)
	for _, target := range []string{"Medication?_contained=true", "MedicationRequest?medication.code=abc"} {
		if gone := s.bundle("searchset", "GET", target, ""); gone.Get("entry").Exists() {
			t.Errorf("%s", gone.Raw())
		}
	}
}

// Containers are sorted by what they contain, bring what their contained resources
// refer to, and lend these their time; several types are searched at once.
func TestSearchContainedInOrder(t *testing.T) {
	s := newServer(t)
	s.do(StatusCreated, "PUT", "Organization/o1", `{"resourceType":"Organization","id":"o1","name":"x"}`)
	s.do(StatusCreated, "PUT", "Organization/o2", `{"resourceType":"Organization","id":"o2","name":"x"}`)
	inside := func(id, patient, rest string) {
		time.Sleep(2 * time.Millisecond) // to differ in lastUpdated, which has milliseconds
		s.do(StatusCreated, "PUT", "Observation/"+id, `{"resourceType":"Observation","id":"`+id+`","status":"final","code":{"text":"x"},"subject":{"reference":"#p"},
			`+map[bool]string{true: `"performer":[{"reference":"#o"}],`}[strings.Contains(rest, `"o"`)]+map[bool]string{true: `"hasMember":[{"reference":"#q"}],`}[strings.Contains(rest, `"q"`)]+`
			"contained":[{"resourceType":"Patient","id":"p",`+patient+`}`+rest+`]}`)
	}
	inside("1", `"name":[{"family":"Bond"}],"birthDate":"1990-01-01","managingOrganization":{"reference":"Organization/o1"}`, "")
	inside("2", `"name":[{"family":"Adams"}],"birthDate":"1970"`, `,{"resourceType":"Organization","id":"o","name":"Adams"}`)
	inside("3", `"name":[{"family":"Clark"}]`, `,{"resourceType":"Observation","id":"q","status":"final","code":{"text":"x"},"valueQuantity":{"value":-3}}`)
	inside("4", `"name":[{"family":"Dunn"},{"family":"Abbot"}],"birthDate":"1980-05","managingOrganization":{"reference":"Organization/o2"}`, `,{"resourceType":"Observation","id":"q","status":"final","code":{"text":"x"},"valueQuantity":{"value":20}}`)
	inside("5", `"gender":"male"`, `,{"resourceType":"Observation","id":"q","status":"final","code":{"text":"x"},"valueQuantity":{"value":3.5}}`)
	s.do(StatusCreated, "PUT", "Patient/6", `{"resourceType":"Patient","id":"6","name":[{"family":"Clark"}],"birthDate":"1975"}`)
	for id, period := range map[string]string{"7": `"start":"2020","end":"9999-12-31"`, "8": `"start":"2021"`, "9": `"start":"2022","end":"9999-12-31T23:30:00-01:00"`} {
		s.do(StatusCreated, "PUT", "Observation/"+id, `{"resourceType":"Observation","id":"`+id+`","status":"final","code":{"text":"x"},"encounter":{"reference":"#e"},
			"contained":[{"resourceType":"Encounter","id":"e","status":"finished","class":{"code":"AMB"},"period":{`+period+`}}]}`)
	}
	for _, c := range []struct{ target, want string }{
		{"Encounter?_contained=true&_sort=-date", "8 9 7"}, // what has no end ends after all
		{"Encounter?_contained=true&_sort=date", "7 8 9"},
		{"Patient?_contained=true&_sort=family", "4 2 1 3 5"},
		{"Patient?_contained=true&_sort=-family", "4 3 1 2 5"},
		{"Patient?_contained=both&_sort=birthdate", "2 6 4 1 3 5"},
		{"Patient?_contained=true&_sort=-birthdate", "1 4 2 3 5"},
		{"Patient?_contained=both&_sort=-family,birthdate", "4 6 3 1 2 5"},
		{"Patient?_contained=true&_sort=-_lastUpdated", "5 4 3 2 1"},
		{"Patient?_contained=true&_sort=-_id", "5 4 3 2 1"},
		{"Patient?_contained=true&_sort=organization", "1 4 2 3 5"},
		{"Observation?_contained=true&_sort=value-quantity", "3 5 4"},
		{"Observation?_contained=true&_sort=-value-quantity", "4 5 3"},
		{"Patient?_contained=true&_lastUpdated=gt2000&name=bond", "1"},
		{"Patient?_contained=true&_lastUpdated=lt2000", ""},
		{"Patient?_contained=true&name=bond&_include=Patient:organization", "1 o1"},
		{"Patient?_contained=true&name=adams&_include=Patient:organization", "2"},
		{"Patient?_contained=true&birthdate=ge1980&_containedType=contained&_include=Patient:organization", "1#p 4#p o1 o2"},
		{"Patient?_contained=both&name=bond&_include=*", "1 o1"},
		{"?_type=Patient,Organization&name=adams&_contained=true", "2"},
		{"?_type=Patient,Organization&_contained=both&_id=o,o2,6", "o2 2 6"},
	} {
		// Page by page, forwards.
		var got []string
		for at, pages := c.target+"&_count=2", 0; at != "" && pages < 9; pages++ {
			bundle := s.bundle("searchset", "GET", at, "")
			for entry := range bundle.Get("entry").Children() {
				full := entry.Get("fullUrl").Str()
				got = append(got, full[strings.LastIndexByte(full, '/')+1:])
			}
			at = ""
			for link := range bundle.Get("link").Children() {
				if link.Get("relation").Str() == "next" {
					at = strings.TrimPrefix(strings.TrimPrefix(link.Get("url").Str(), base), "/")
				}
			}
		}
		if !strings.Contains(c.target, "_sort") {
			slices.Sort(got)
			want := strings.Fields(c.want)
			slices.Sort(want)
			c.want = strings.Join(want, " ")
		}
		if strings.Join(got, " ") != c.want {
			t.Errorf("%s: %s, want %s", c.target, got, c.want)
		}
	}
}
