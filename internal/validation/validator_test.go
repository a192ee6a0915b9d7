package validation_test

import (
	"strings"
	"sync"
	"testing"
	"time"
	"unicode/utf8"

	"starling/internal/fhir"
	"starling/internal/fhir/definition"
	"starling/internal/fhir/element"
	"starling/internal/validation"
)

// validator is shared, as it is in the server.
var validator = sync.OnceValue(func() *validation.Validator { return validation.New(definition.R4()) })

func parse(t testing.TB, text string) element.Node {
	t.Helper()
	tree, err := element.Parse([]byte(text), element.DefaultLimits)
	if err != nil {
		t.Fatalf("%.200s: %v", text, err)
	}
	return tree.Root()
}

func validate(t testing.TB, text string) []fhir.Issue {
	t.Helper()
	root := parse(t, text)
	return validator().Validate(fhir.ResourceType(root.Get("resourceType").Str()), root)
}

func TestAccepts(t *testing.T) {
	for _, text := range []string{
		`{"resourceType":"Patient"}`,
		`{"resourceType":"Patient","id":"a.B-1","active":false,"birthDate":"1970"}`,
		`{"resourceType":"Patient","name":[{"family":" padded ","given":["A",null,"B"],"_given":[null,{"extension":[{"url":"http://a","valueCode":"x"}]},null]}]}`,
		`{"resourceType":"Patient","name":[{"_given":[{"id":"a","extension":[{"url":"http://a","valueCode":"x"}]}]}]}`,
		`{"resourceType":"Patient","_birthDate":{"extension":[{"url":"http://hl7.org/fhir/StructureDefinition/data-absent-reason","valueCode":"unknown"}]}}`,
		`{"resourceType":"Patient","multipleBirthInteger":2,"_multipleBirthInteger":{"id":"x"}}`,
		`{"resourceType":"Patient","gender":"female","communication":[{"language":{"text":"x"}}],"link":[{"other":{"reference":"Patient/1"},"type":"seealso"}]}`,
		`{"resourceType":"Patient","contained":[{"resourceType":"Organization","id":"o","name":"x"}],"managingOrganization":{"reference":"#o"}}`,
		`{"resourceType":"Patient","extension":[{"url":"http://a","extension":[{"url":"b","valueDecimal":1.10}]}]}`,
		`{"resourceType":"Observation","_status":{"extension":[{"url":"http://a","valueCode":"x"}]},"code":{"text":"x"},"valueQuantity":{"value":1.50}}`,
		`{"resourceType":"Observation","status":"final","code":{"coding":[{"system":"http://loinc.org","code":"anything"}]},"valueSampledData":{"origin":{"value":0},"period":10,"dimensions":1,"data":"1 2 E"}}`,
		`{"resourceType":"Bundle","type":"collection","entry":[{"fullUrl":"urn:uuid:c757873d-ec9a-4326-a141-556f43239520","resource":{"resourceType":"Patient"}}]}`,
		`{"resourceType":"Patient","extension":[{"url":"http://a","valueReference":{"reference":"#o"}}],"contained":[{"resourceType":"Bundle","id":"o","type":"collection","entry":[{"resource":{"resourceType":"Patient","extension":[{"url":"http://a","valueReference":{"reference":"#o"}}],"contained":[{"resourceType":"Basic","id":"o","code":{"text":"x"}}]}}]}]}`,
		`{"resourceType":"Parameters","parameter":[{"name":"a","resource":{"resourceType":"Patient"}},{"name":"b","valueString":"x"}]}`,
		`{"resourceType":"Questionnaire","status":"draft","item":[{"linkId":"1","type":"group","item":[{"linkId":"1.1","type":"group","item":[{"linkId":"1.1.1","type":"display"}]}]}]}`,
		`{"resourceType":"Condition","clinicalStatus":{"coding":[{"system":"http://terminology.hl7.org/CodeSystem/condition-clinical","code":"active"}]},"subject":{"display":"x"}}`,
		`{"resourceType":"Condition","clinicalStatus":{"coding":[{"system":"http://example.org","code":"own"},{"system":"http://terminology.hl7.org/CodeSystem/condition-clinical","code":"active"}]},"subject":{"identifier":{"value":"x"}}}`,
		`{"resourceType":"Condition","clinicalStatus":{"extension":[{"url":"http://hl7.org/fhir/StructureDefinition/data-absent-reason","valueCode":"unknown"}]},"subject":{"display":"x"}}`,
		`{"resourceType":"Binary","contentType":"text/plain","data":"YQ=="}`,
	} {
		for _, issue := range validate(t, text) {
			t.Errorf("%s: %s %s", text, issue.Expression, issue.Diagnostics)
		}
	}
}

func TestRefuses(t *testing.T) {
	const patient = `{"resourceType":"Patient",`
	const observation = `{"resourceType":"Observation","status":"final","code":{"text":"x"},`
	for _, test := range []struct {
		name, text string
		code       fhir.IssueType
		expression string
		contains   string // of the diagnostics
	}{
		{"unknown element", patient + `"surname":"x"}`, fhir.IssueStructure, "Patient.surname", `Patient has no element "surname"`},
		{"misspelt element", patient + `"brithDate":"1970"}`, fhir.IssueStructure, "Patient.brithDate", `did you mean "birthDate"?`},
		{"unknown nested element", patient + `"contact":[{"namee":{}}]}`, fhir.IssueStructure, "Patient.contact[0].namee", `Patient.contact has no element "namee"; did you mean "name"?`},
		{"unknown element of a data type", patient + `"name":[{"first":"x"}]}`, fhir.IssueStructure, "Patient.name[0].first", `HumanName has no element "first"`},
		{"choice without its type", observation + `"value":1}`, fhir.IssueStructure, "Observation.value", `no element "value"`},
		{"choice of a type that is none of them", observation + `"valueDecimal":1}`, fhir.IssueStructure, "Observation.valueDecimal", `no element "valueDecimal"`},
		{"resourceType of what is no resource", patient + `"maritalStatus":{"resourceType":"CodeableConcept"}}`, fhir.IssueStructure, "Patient.maritalStatus.resourceType", `no element`},
		{"extension of an id", patient + `"_id":{"id":"x"}}`, fhir.IssueStructure, "Patient.id", `no element "_id"`},
		{"`_name` of what is no primitive", patient + `"_name":[{"id":"x"}]}`, fhir.IssueStructure, "Patient.name", `no element "_name"`},

		{"array for a single element", patient + `"birthDate":["1970"]}`, fhir.IssueStructure, "Patient.birthDate", "does not repeat: expected a JSON string, found an array"},
		{"single value for a list", patient + `"name":{"family":"x"}}`, fhir.IssueStructure, "Patient.name", "may repeat: expected an array, found an object"},
		{"single primitive for a list", patient + `"name":[{"given":"x"}]}`, fhir.IssueStructure, "Patient.name[0].given", `expected an array, found "x"`},
		{"array in an array", patient + `"name":[[{"family":"x"}]]}`, fhir.IssueStructure, "Patient.name[0]", "must be a JSON object, found an array"},
		{"primitive for an object", patient + `"maritalStatus":"M"}`, fhir.IssueStructure, "Patient.maritalStatus", `must be a JSON object, found "M"`},
		{"object for a primitive", patient + `"birthDate":{"value":"1970"}}`, fhir.IssueStructure, "Patient.birthDate", "must be a JSON string, found an object"},
		{"string for a boolean", patient + `"active":"true"}`, fhir.IssueStructure, "Patient.active", `must be a JSON boolean, found "true"`},
		{"string for a number", observation + `"valueInteger":"1"}`, fhir.IssueStructure, "Observation.value.ofType(integer)", `must be a JSON number, found "1"`},
		{"number for a string", patient + `"birthDate":1970}`, fhir.IssueStructure, "Patient.birthDate", "must be a JSON string, found 1970"},
		{"number for a boolean", patient + `"active":1}`, fhir.IssueStructure, "Patient.active", "must be a JSON boolean, found 1"},
		{"primitive for `_name`", patient + `"_birthDate":"x"}`, fhir.IssueStructure, "Patient.birthDate", "must be a JSON object"},

		{"null", patient + `"active":null}`, fhir.IssueStructure, "Patient.active", "is null"},
		{"null for an object", patient + `"maritalStatus":null}`, fhir.IssueStructure, "Patient.maritalStatus", "is null"},
		{"null for a list", patient + `"name":null}`, fhir.IssueStructure, "Patient.name", "expected an array, found null"},
		{"null in a list of objects", patient + `"name":[null]}`, fhir.IssueStructure, "Patient.name[0]", "null in Patient.name"},
		{"null without `_name`", patient + `"name":[{"given":["A",null]}]}`, fhir.IssueStructure, "Patient.name[0].given[1]", "null in HumanName.given"},
		{"null beside null", patient + `"name":[{"given":["A",null],"_given":[{"id":"x"},null]}]}`, fhir.IssueStructure, "Patient.name[0].given[1]", "null in"},
		{"null beyond the other array", patient + `"name":[{"given":["A"],"_given":[null,null,{"id":"x"}]}]}`, fhir.IssueStructure, "Patient.name[0].given[1]", "null in"},
		{"empty object", patient + `"maritalStatus":{}}`, fhir.IssueStructure, "Patient.maritalStatus", "is an empty object"},
		{"empty array", patient + `"name":[]}`, fhir.IssueStructure, "Patient.name", "is an empty array"},
		{"empty object in an array", patient + `"name":[{}]}`, fhir.IssueStructure, "Patient.name[0]", "is an empty object"},
		{"object with an id alone", patient + `"name":[{"id":"x"}]}`, fhir.IssueInvariant, "Patient.name[0]", "ele-1"},
		{"empty string", patient + `"birthDate":""}`, fhir.IssueValue, "Patient.birthDate", "is an empty string"},
		{"empty reference", patient + `"managingOrganization":{}}`, fhir.IssueStructure, "Patient.managingOrganization", "is an empty object"},

		{"two types of a choice", observation + `"valueString":"x","valueInteger":1}`, fhir.IssueStructure, "Observation.value.ofType(integer)", "valueString and valueInteger are both present"},
		{"two types of a choice, one by its extension", observation + `"valueString":"x","_valueInteger":{"extension":[{"url":"http://a","valueCode":"b"}]}}`, fhir.IssueStructure, "Observation.value.ofType(integer)", "valueString and _valueInteger are both present"},
		{"required element", `{"resourceType":"Observation","status":"final"}`, fhir.IssueRequired, "Observation.code", "Observation.code is required, but missing"},
		{"required nested element", patient + `"link":[{"other":{"display":"x"}}]}`, fhir.IssueRequired, "Patient.link[0].type", "Patient.link.type is required"},
		{"required choice", `{"resourceType":"MedicationRequest","status":"active","intent":"order","subject":{"display":"x"}}`, fhir.IssueRequired, "MedicationRequest.medication", "MedicationRequest.medication[x] is required"},
		{"required element of recursive content", `{"resourceType":"Questionnaire","status":"draft","item":[{"linkId":"1","type":"group","item":[{"type":"display"}]}]}`, fhir.IssueRequired, "Questionnaire.item[0].item[0].linkId", "Questionnaire.item.linkId is required"},
		{"required element of a data type", patient + `"contact":[{"extension":[{"valueString":"x"}]}]}`, fhir.IssueRequired, "Patient.contact[0].extension[0].url", "Extension.url is required"},

		{"date", patient + `"birthDate":"2023-02-29"}`, fhir.IssueInvalid, "Patient.birthDate", `Patient.birthDate is "2023-02-29": expected a date of the calendar`},
		{"dateTime", observation + `"effectiveDateTime":"2026-01-01T10:00"}`, fhir.IssueInvalid, "Observation.effective.ofType(dateTime)", "with a time zone"},
		{"id", patient + `"id":"a_b"}`, fhir.IssueInvalid, "Patient.id", `Patient.id is "a_b": expected 1 to 64 characters`},
		{"integer", observation + `"valueInteger":1.0}`, fhir.IssueInvalid, "Observation.value.ofType(integer)", "is 1.0: expected a whole number"},
		{"code with a space", patient + `"gender":"male "}`, fhir.IssueInvalid, "Patient.gender", "expected a code"},
		{"control character", patient + `"name":[{"family":"a\u0007"}]}`, fhir.IssueInvalid, "Patient.name[0].family", "control characters"},
		{"second item of a list", patient + `"name":[{"given":["a","\u0007"]}]}`, fhir.IssueInvalid, "Patient.name[0].given[1]", "control characters"},
		{"narrative", patient + `"text":{"status":"generated","div":"<p>x</p>"}}`, fhir.IssueValue, "Patient.text.div", "a narrative must be one <div"},
		{"too long", patient + `"name":[{"family":"` + strings.Repeat("x", 1<<20+1) + `"}]}`, fhir.IssueTooLong, "Patient.name[0].family", "xxx…"},

		{"code outside a required binding", patient + `"gender":"f"}`, fhir.IssueCodeInvalid, "Patient.gender", `the code "f" is not in the required value set http://hl7.org/fhir/ValueSet/administrative-gender`},
		{"concept outside a required binding", `{"resourceType":"Condition","clinicalStatus":{"coding":[{"system":"http://terminology.hl7.org/CodeSystem/condition-clinical","code":"x"}]},"subject":{"display":"x"}}`, fhir.IssueCodeInvalid, "Condition.clinicalStatus", "the first is http://terminology.hl7.org/CodeSystem/condition-clinical|x"},
		{"concept of the wrong system", `{"resourceType":"Condition","clinicalStatus":{"coding":[{"system":"http://example.org","code":"active"}]},"subject":{"display":"x"}}`, fhir.IssueCodeInvalid, "Condition.clinicalStatus", "no coding is in the required value set"},
		{"text alone for a required binding", `{"resourceType":"Condition","clinicalStatus":{"text":"active"},"subject":{"display":"x"}}`, fhir.IssueCodeInvalid, "Condition.clinicalStatus", "there is no coding"},

		{"extension with both", patient + `"extension":[{"url":"http://a","valueString":"x","extension":[{"url":"b","valueString":"x"}]}]}`, fhir.IssueExtension, "Patient.extension[0]", "both a value and extensions"},
		{"extension with neither", patient + `"extension":[{"url":"http://a"}]}`, fhir.IssueExtension, "Patient.extension[0]", "neither a value nor extensions"},
		{"extension of a primitive", patient + `"_birthDate":{"extension":[{"url":"http://a"}]}}`, fhir.IssueExtension, "Patient.birthDate.extension[0]", "neither"},
		{"element that `_name` has not", patient + `"_birthDate":{"value":"x"}}`, fhir.IssueStructure, "Patient.birthDate.value", `Element has no element "value"`},

		{"a primitive that has an id alone", patient + `"_birthDate":{"id":"x"}}`, fhir.IssueInvariant, "Patient.birthDate", "ele-1"},
		{"a code of few", patient + `"gender":"man"}`, fhir.IssueCodeInvalid, "Patient.gender", "which has female, male, other, unknown"},
		{"an element of a narrative", patient + `"text":{"status":"generated","div":"<div xmlns=\"http://www.w3.org/1999/xhtml\"><script>x</script></div>"}}`, fhir.IssueInvariant, "Patient.text.div", "txt-1: the narrative has an element that is not allowed: script"},
		{"contained without an id", patient + `"contained":[{"resourceType":"Organization","name":"x"}]}`, fhir.IssueInvalid, "Patient.contained[0]", "must have an id"},
		{"contained resource", patient + `"extension":[{"url":"http://a","valueReference":{"reference":"#o"}}],"contained":[{"id":"o","resourceType":"Organization","name":"x","nam":"x"}]}`, fhir.IssueStructure, "Patient.contained[0].nam", "Organization has no element"},
		{"contained in a contained", patient + `"managingOrganization":{"reference":"#o"},"contained":[{"resourceType":"Organization","id":"o","name":"x","contained":[{"resourceType":"Basic","code":{"text":"x"}}]}]}`, fhir.IssueInvariant, "Patient.contained[0].contained[0]", "dom-2"},
		{"contained without a type", patient + `"extension":[{"url":"http://a","valueReference":{"reference":"#o"}}],"contained":[{"id":"o","active":true}]}`, fhir.IssueRequired, "Patient.contained[0]", "has no resourceType"},
		{"contained of an unknown type", patient + `"extension":[{"url":"http://a","valueReference":{"reference":"#o"}}],"contained":[{"id":"o","resourceType":"Person2"}]}`, fhir.IssueStructure, "Patient.contained[0]", `no resource type "Person2"`},
		{"contained of an abstract type", patient + `"extension":[{"url":"http://a","valueReference":{"reference":"#o"}}],"contained":[{"id":"o","resourceType":"DomainResource"}]}`, fhir.IssueStructure, "Patient.contained[0]", "no resource type"},
		{"contained that is no object", patient + `"contained":["x"]}`, fhir.IssueStructure, "Patient.contained[0]", "must be a JSON object"},
		{"resource of an entry", `{"resourceType":"Bundle","type":"batch","entry":[{"request":{"method":"POST","url":"Patient"}},{"request":{"method":"POST","url":"Patient"},"resource":{"resourceType":"Patient","name":[{"given":[1]}]}}]}`, fhir.IssueStructure, "Bundle.entry[1].resource.name[0].given[0]", "must be a JSON string, found 1"},
		{"long unknown name", patient + `"` + strings.Repeat("x", 200) + `":1}`, fhir.IssueStructure, "Patient." + strings.Repeat("x", 80) + "…", "…"},
	} {
		t.Run(test.name, func(t *testing.T) {
			issues := validate(t, test.text)
			if len(issues) != 1 {
				t.Fatalf("%d issues; want one: %v", len(issues), issues)
			}
			issue := issues[0]
			if issue.Severity != fhir.SeverityError || issue.Code != test.code || issue.Expression != test.expression {
				t.Errorf("%s %s at %s; want %s at %s", issue.Severity, issue.Code, issue.Expression, test.code, test.expression)
			}
			if !strings.Contains(issue.Diagnostics, test.contains) || utf8.RuneCountInString(issue.Diagnostics) > 400 {
				t.Errorf("diagnostics %q; want %q in it", issue.Diagnostics, test.contains)
			}
		})
	}
}

func TestRefusesRoots(t *testing.T) {
	for _, test := range []struct {
		text       string
		code       fhir.IssueType
		expression string
	}{
		{`[]`, fhir.IssueStructure, "Patient"},
		{`null`, fhir.IssueStructure, "Patient"},
		{`"x"`, fhir.IssueStructure, "Patient"},
		{`{}`, fhir.IssueRequired, "Patient"},
		{`{"resourceType":1}`, fhir.IssueStructure, "Patient"},
		{`{"resourceType":"Observation"}`, fhir.IssueInvalid, "Observation"},
		{`{"resourceType":"patient"}`, fhir.IssueInvalid, "patient"},
	} {
		issues := validator().Validate("Patient", parse(t, test.text))
		if len(issues) != 1 || issues[0].Code != test.code {
			t.Errorf("%s: %v", test.text, issues)
		}
	}
}

func TestReportsAtMostMaxIssues(t *testing.T) {
	text := `{"resourceType":"Patient","name":[` + strings.Repeat(`{"x":[],"given":[1,2]},`, 1000) + `{"family":"x"}]}`
	if got := len(validate(t, text)); got != validation.MaxIssues {
		t.Errorf("%d issues; want %d", got, validation.MaxIssues)
	}
}

func TestHostileResourcesTakeBoundedTime(t *testing.T) {
	extension := strings.Repeat(`{"url":"u","extension":[`, 48) + `{"url":"u","valueCode":"x"}` + strings.Repeat("]}", 48)
	for name, text := range map[string]string{
		"a megabyte of one string":   `{"resourceType":"Patient","name":[{"family":"` + strings.Repeat("x", 1<<20) + `"}]}`,
		"a million nulls":            `{"resourceType":"Patient","name":[{"given":[null` + strings.Repeat(",null", 1_000_000) + `]}]}`,
		"nulls on both sides":        `{"resourceType":"Patient","name":[{"given":["a"` + strings.Repeat(",null", 50_000) + `],"_given":[null` + strings.Repeat(`,{"id":"x"}`, 50_000) + `]}]}`,
		"a hundred levels":           `{"resourceType":"Patient","extension":[` + extension + `]}`,
		"100,000 unknown names":      `{"resourceType":"Patient"` + unknownNames(100_000) + `}`,
		"a narrative of a megabyte":  `{"resourceType":"Patient","text":{"status":"generated","div":"<div xmlns=\"http://www.w3.org/1999/xhtml\">` + strings.Repeat("<p>x</p>", 1<<17) + `</div>"}}`,
		"a narrative of attributes":  `{"resourceType":"Patient","text":{"status":"generated","div":"<div ` + strings.Repeat("x", 1<<20) + `"}}`,
		"a megabyte of base64":       `{"resourceType":"Binary","contentType":"a/b","data":"` + strings.Repeat("YWJj", 1<<18) + `"}`,
		"200,000 codings of a value": `{"resourceType":"Condition","subject":{"display":"x"},"clinicalStatus":{"coding":[{"code":"x"}` + strings.Repeat(`,{"code":"active"}`, 200_000) + `]}}`,
	} {
		root := parse(t, text)
		start := time.Now()
		validator().Validate(fhir.ResourceType(root.Get("resourceType").Str()), root)
		if took := time.Since(start); took > 20*time.Second {
			t.Errorf("%s: %v", name, took)
		}
	}
}

func unknownNames(n int) string {
	var b strings.Builder
	for i := range n {
		b.WriteString(`,"name`)
		for ; i > 0; i /= 26 {
			b.WriteByte(byte('a' + i%26))
		}
		b.WriteString(`z":1`)
	}
	return b.String()
}
