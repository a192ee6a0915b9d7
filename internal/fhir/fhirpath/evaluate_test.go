package fhirpath

import (
	"strings"
	"testing"

	"starling/internal/fhir"
	"starling/internal/fhir/definition"
	"starling/internal/fhir/element"
)

const testPatient = `{
 "resourceType":"Patient","id":"p1",
 "contained":[{"resourceType":"Organization","id":"o1","name":"Acme"}],
 "extension":[{"url":"http://example.org/a","valueString":"x"},{"url":"http://example.org/b","valueBoolean":true}],
 "active":true,
 "name":[
  {"use":"official","family":"van der Berg","given":["Peter",null,"James"],"_given":[null,{"extension":[{"url":"http://example.org/g","valueCode":"none"}]}]},
  {"use":"usual","given":["Jim"]}],
 "gender":"male",
 "birthDate":"1974-12-25","_birthDate":{"id":"b","extension":[{"url":"http://hl7.org/fhir/StructureDefinition/patient-birthTime","valueDateTime":"1974-12-25T14:35:45-05:00"}]},
 "_deceasedBoolean":{"extension":[{"url":"http://example.org/d","valueCode":"unknown"}]},
 "multipleBirthInteger":2,
 "contact":[{"name":{"family":"Du"},"telecom":[{"system":"phone","value":"1"}]}],
 "managingOrganization":{"reference":"#o1"},
 "generalPractitioner":[{"reference":"Practitioner/1"},{"reference":"https://example.org/fhir/Organization/2/_history/3"},{"reference":"urn:uuid:1","type":"PractitionerRole"},{"display":"nobody"}]}`

const testObservation = `{
 "resourceType":"Observation","id":"ob","status":"final",
 "code":{"coding":[{"system":"http://loinc.org","code":"29463-7"}],"text":"Weight"},
 "subject":{"reference":"Patient/p1"},
 "effectiveDateTime":"2020-03",
 "valueQuantity":{"value":185.0,"unit":"lbs","system":"http://unitsofmeasure.org","code":"[lb_av]"},
 "component":[
  {"code":{"text":"a"},"valueQuantity":{"value":1.50}},
  {"code":{"text":"b"},"valueString":"high"},
  {"code":{"text":"c"},"valueCodeableConcept":{"text":"d"}},
  {"code":{"text":"e"},"valueDateTime":"2020-01-02"}]}`

func testItem(t testing.TB, text string) Item {
	t.Helper()
	tree, err := element.Parse([]byte(text), element.DefaultLimits)
	if err != nil {
		t.Fatal(err)
	}
	return Root(definition.R4(), fhir.ResourceType(tree.Root().Get("resourceType").Str()), tree.Root())
}

// show writes a result as "Type text, …"; an element that is no primitive
// shows its type alone.
func show(result Collection) string {
	parts := make([]string, len(result))
	for i, item := range result {
		parts[i] = strings.TrimSpace(item.Type() + " " + item.Text())
	}
	return strings.Join(parts, ", ")
}

func check(t *testing.T, focus Item, cases [][2]string) {
	t.Helper()
	for _, c := range cases {
		e, err := Compile(definition.R4(), c[0])
		if err != nil {
			t.Errorf("%s: %v", c[0], err)
			continue
		}
		result, err := e.Evaluate(nil, focus)
		if err != nil {
			if !strings.HasPrefix(c[1], "error") || !strings.Contains(err.Error(), strings.TrimPrefix(c[1], "error ")) {
				t.Errorf("%s: %v, want %s", c[0], err, c[1])
			}
			continue
		}
		if got := show(result); got != c[1] {
			t.Errorf("%s: got %q, want %q", c[0], got, c[1])
		}
	}
}

func TestNavigation(t *testing.T) {
	check(t, testItem(t, testPatient), [][2]string{
		{"Patient.name.family", "string van der Berg"},
		{"Observation.name.family", ""},
		{"Resource.id", "id p1"},
		{"DomainResource.contained.name", "string Acme"},
		{"contained", "Organization"},
		{"name.given", "string Peter, string, string James, string Jim"},
		{"name.given[1].extension.value", "code none"},
		{"name.given.extension('http://example.org/g').value", "code none"},
		{"birthDate.extension('http://hl7.org/fhir/StructureDefinition/patient-birthTime').value", "dateTime 1974-12-25T14:35:45-05:00"},
		{"birthDate.id", "string b"},
		{"deceased", "boolean"},
		{"deceased.hasValue()", "System.Boolean false"},
		{"deceased.exists()", "System.Boolean true"},
		{"multipleBirth", "integer 2"},
		{"multipleBirthInteger", ""},
		{"contact", "BackboneElement"},
		{"contact.telecom.where(system = 'phone').value", "string 1"},
		{"birthDate.children()", "string b, Extension"},
		{"Patient.descendants().where($this is Organization)", "Organization"},
		{"extension.value", "string x, boolean true"},
		{"name.where(use = 'usual').given", "string Jim"},
		{"name.select($index)", "System.Integer 0, System.Integer 1"},
		{"%resource.gender = 'male' and %context.active", "System.Boolean true"},
	})
}

func TestContentReference(t *testing.T) {
	check(t, testItem(t, `{"resourceType":"Questionnaire","status":"draft","item":[
		{"linkId":"1","type":"group","item":[{"linkId":"1.1","type":"group","item":[{"linkId":"1.1.1","type":"string"}]}]}]}`), [][2]string{
		{"item.item.item.linkId", "string 1.1.1"},
		{"repeat(item).linkId", "string 1, string 1.1, string 1.1.1"},
	})
}

func TestResolve(t *testing.T) {
	check(t, testItem(t, testPatient), [][2]string{
		{"managingOrganization.resolve().name", "string Acme"},
		{"generalPractitioner.where(resolve() is Practitioner).reference", "string Practitioner/1"},
		{"generalPractitioner.where(resolve().is(Organization)).reference", "string https://example.org/fhir/Organization/2/_history/3"},
		{"generalPractitioner.where(resolve() is PractitionerRole).reference", "string urn:uuid:1"},
		{"generalPractitioner.where(resolve() is Patient)", ""},
		{"generalPractitioner.resolve().count()", "System.Integer 3"},
		{"generalPractitioner.resolve().name", ""},
		{"'Patient/1'.resolve() is Patient", "System.Boolean true"},
		{"'#o1'.resolve().name", "string Acme"},
		{"'#'.resolve().gender", "code male"},
		{"'#o2'.resolve() | 5.resolve() | active.resolve() | name.resolve()", ""},
	})
}

func TestResolver(t *testing.T) {
	target := testItem(t, testObservation)
	env := &Environment{Resolve: func(reference string) (Item, bool) { return target, reference == "Practitioner/1" }}
	e, err := Compile(definition.R4(), "generalPractitioner.resolve().status")
	if err != nil {
		t.Fatal(err)
	}
	result, err := e.Evaluate(env, testItem(t, testPatient))
	if err != nil || show(result) != "code final" {
		t.Errorf("got %s, %v", show(result), err)
	}
}

func TestTypes(t *testing.T) {
	check(t, testItem(t, testObservation), [][2]string{
		{"(Observation.value as Quantity).value", "decimal 185.0"},
		{"Observation.component.value as string", "string high"},
		{"Observation.component.value.as(Quantity)", "Quantity"},
		{"Observation.component.value.ofType(CodeableConcept).text", "string d"},
		{"Observation.component.value.as(DateTime)", "dateTime 2020-01-02"},
		{"(Observation.value as Quantity) | (Observation.component.value as Quantity)", "Quantity, Quantity"},
		{"value is Quantity", "System.Boolean true"},
		{"value is Element", "System.Boolean true"},
		{"component.value is Quantity", "error one value is needed"},
		{"status is string", "System.Boolean true"},
		{"status.as(string)", ""},
		{"status.type().name", "System.String code"},
	})
	if _, err := Compile(definition.R4(), "value.as(Nothing)"); err == nil || !strings.Contains(err.Error(), "column 10: unknown type Nothing") {
		t.Errorf("got %v", err)
	}
}

func TestQuestionnaireResponseSubject(t *testing.T) {
	check(t, testItem(t, `{"resourceType":"QuestionnaireResponse","status":"completed","item":[
		{"extension":[{"url":"http://hl7.org/fhir/StructureDefinition/questionnaireresponse-isSubject","valueBoolean":true}],
		 "linkId":"1","answer":[{"valueReference":{"reference":"Patient/1"}}]},
		{"linkId":"2","answer":[{"valueReference":{"reference":"Patient/2"}}]}]}`), [][2]string{
		{"QuestionnaireResponse.item.where(hasExtension('http://hl7.org/fhir/StructureDefinition/questionnaireresponse-isSubject')).answer.value.ofType(Reference).reference", "string Patient/1"},
	})
}

func TestSyntaxErrors(t *testing.T) {
	for expr, want := range map[string]string{
		"":                        "column 1: expected a name, found the end",
		"name.":                   "column 6",
		"name.given(":             "column 12",
		"name.unknown()":          "column 6: unknown function unknown()",
		"name.where()":            "column 6: where() takes 1 argument, not 0",
		"'open":                   "column 1",
		"name ? given":            "column 6: unexpected character '?'",
		"a = @2020-13":            "column 5",
		"'x'.matches('(')":        "column 13",
		"$that":                   "column 1",
		"99999999999":             "column 1",
		"'\\q'":                   "column 2",
		"/* a":                    "column 1",
		strings.Repeat("(", 1000): "nested too deeply",
		strings.Repeat("-", 1000): "nested too deeply",
	} {
		if _, err := Compile(definition.R4(), expr); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%.20q: got %v, want %s", expr, err, want)
		}
	}
}
