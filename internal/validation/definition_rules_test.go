package validation_test

import (
	"fmt"
	"regexp"
	"strings"
	"testing"

	"starling/internal/fhir"
	"starling/internal/fhir/definition"
	"starling/internal/validation"
)

var withoutID = regexp.MustCompile(`\{"path":"([^"]+)"(,"sliceName":"([^"]+)")?`)

// definitionOf is a StructureDefinition of a profile of Observation. Elements
// without an id get one.
func definitionOf(base, elements string) string {
	elements = withoutID.ReplaceAllStringFunc(elements, func(s string) string {
		m := withoutID.FindStringSubmatch(s)
		if m[3] != "" {
			m[3] = ":" + m[3]
		}
		return `{"id":"` + m[1] + m[3] + `",` + s[1:]
	})
	return fmt.Sprintf(`{"resourceType":"StructureDefinition","url":"http://example.org/derived","name":"Derived","status":"active","kind":"resource",
		"abstract":false,"type":"Observation","baseDefinition":%q,"derivation":"constraint","differential":{"element":[%s]}}`, base, elements)
}

// TestDefinitionRules holds definitions of profiles to what makes them usable.
func TestDefinitionRules(t *testing.T) {
	const observation = "http://hl7.org/fhir/StructureDefinition/Observation"
	const own = "http://example.org/base"
	v := validation.New(definition.R4()).With([]*fhir.Resource{define(
		t, own, "Observation", observation, "",
		`{"id":"Observation.category","path":"Observation.category","min":1,"max":"2"}`,
		`{"id":"Observation.language","path":"Observation.language","fixedCode":"de"}`,
		`{"id":"Observation.method","path":"Observation.method","binding":{"strength":"required","valueSet":"http://example.org/v"}}`,
		`{"id":"Observation.value[x]","path":"Observation.value[x]","type":[{"code":"Quantity"},{"code":"string"}]}`,
	)})
	for _, c := range []struct{ name, base, elements, at string }{
		{"nothing wrong", observation, `{"path":"Observation.code","min":1},{"path":"Observation.note","max":"0"}`, ""},
		{"stricter than the base", own, `{"path":"Observation.category","min":2},{"path":"Observation.value[x]","type":[{"code":"string"}]},{"path":"Observation.language","fixedCode":"de"}`, ""},
		{"a choice by its type", observation, `{"id":"Observation.valueQuantity","path":"Observation.valueQuantity"},{"path":"Observation.valueQuantity.code","min":1}`, ""},
		{"below a choice of many types", observation, `{"path":"Observation.value[x]"},{"path":"Observation.value[x].extension","max":"0"}`, ""},
		{"an extension of a primitive", observation, `{"path":"Observation.status.extension","min":1}`, ""},
		{"in a data type", observation, `{"path":"Observation.code.coding.display","min":1}`, ""},
		{"by contentReference", observation, `{"path":"Observation.component.referenceRange.low","min":1}`, ""},
		{"slices by values", observation, `{"path":"Observation.category","slicing":{"discriminator":[{"type":"value","path":"coding.code"},{"type":"value","path":"$this"}],"rules":"open"}}`, ""},
		{"slices by what resolve() gives", observation, `{"path":"Observation.hasMember","slicing":{"discriminator":[{"type":"profile","path":"resolve()"},{"type":"value","path":"resolve().code"}],"rules":"open"}}`, ""},
		{"slices by an extension", observation, `{"path":"Observation.category","slicing":{"discriminator":[{"type":"value","path":"extension('http://example.org/e').value"}],"rules":"open"}}`, ""},
		{"contained resources of a type", observation, `{"path":"Observation.contained","slicing":{"discriminator":[{"type":"type","path":"$this"}],"rules":"open"}},{"path":"Observation.contained","sliceName":"p","type":[{"code":"Patient"}]}`, ""},
		{"the id as R4 publishes it", observation, `{"path":"Observation.id","type":[{"code":"string"}]}`, ""},
		{"in a contained resource", observation, `{"path":"Observation.contained","slicing":{"discriminator":[{"type":"type","path":"$this"},{"type":"value","path":"code.coding"}],"rules":"open"}},
			{"path":"Observation.contained","sliceName":"p","type":[{"code":"Patient"}]},{"id":"Observation.contained:p.name","path":"Observation.contained.name","min":1}`, ""},

		{"a binding as it was", observation, `{"path":"Observation.status","binding":{"strength":"required","valueSet":"http://example.org/v"}}`, ""},
		{"a binding that was not required", observation, `{"path":"Observation.category","binding":{"strength":"example","valueSet":"http://example.org/v"}},{"path":"Observation.interpretation","binding":{"strength":"required","valueSet":"http://example.org/v"}}`, ""},
		{"values of the type", observation, `{"path":"Observation.status","fixedCode":"final"},{"path":"Observation.code","patternCodeableConcept":{"text":"x"}},{"path":"Observation.id","fixedString":"x"},
			{"path":"Observation.implicitRules","fixedUri":"http://example.org"},{"path":"Observation.value[x]","patternQuantity":{"unit":"mg"}},{"path":"Observation.subject","patternReference":{"type":"Patient"}},
			{"path":"Observation.code.coding.system","fixedUri":"http://loinc.org"},{"path":"Observation.referenceRange.low","patternQuantity":{"unit":"mg"}},{"path":"Observation.meta.profile","fixedCanonical":"http://example.org/p"}`, ""},
		{"a value of the type of a choice", observation, `{"id":"Observation.value[x]:valueCodeableConcept","path":"Observation.value[x]","sliceName":"valueCodeableConcept","type":[{"code":"CodeableConcept"}],"patternCodeableConcept":{"text":"x"}},
			{"path":"Observation.component.valueQuantity","patternQuantity":{"unit":"mg"}}`, ""},
		{"a value below a slice", observation, `{"path":"Observation.category","slicing":{"discriminator":[{"type":"value","path":"coding.code"}],"rules":"open"}},{"path":"Observation.category","sliceName":"a"},
			{"id":"Observation.category:a.coding.code","path":"Observation.category.coding.code","fixedCode":"x"}`, ""},

		{"a binding looser than the type's", observation, `{"path":"Observation.status","binding":{"strength":"preferred","valueSet":"http://example.org/v"}}`, "element[0].binding.strength"},
		{"a binding looser than the base's", own, `{"path":"Observation.method","binding":{"strength":"extensible","valueSet":"http://example.org/v"}}`, "element[0].binding.strength"},
		{"a fixed value of another type", observation, `{"path":"Observation.status","fixedString":"final"}`, "element[0].fixed.ofType(string)"},
		{"a pattern of another type", observation, `{"path":"Observation.code","patternCoding":{"code":"x"}}`, "element[0].pattern.ofType(Coding)"},
		{"a value of a type that the choice has not", observation, `{"path":"Observation.value[x]","fixedUri":"http://x"}`, "element[0].fixed.ofType(uri)"},
		{"a value of a type that the base has not", own, `{"path":"Observation.value[x]","patternCodeableConcept":{"text":"x"}}`, "element[0].pattern.ofType(CodeableConcept)"},
		{"a value of another type than the slice's", observation, `{"id":"Observation.value[x]:valueQuantity","path":"Observation.value[x]","sliceName":"valueQuantity","type":[{"code":"Quantity"}],"patternString":"x"}`, "element[0].pattern.ofType(string)"},
		{"no such element", observation, `{"path":"Observation.code"},{"path":"Observation.colour","min":1}`, "element[1]"},
		{"no such type of a choice", observation, `{"id":"Observation.valueQuantity","path":"Observation.valueBla"}`, "element[0]"},
		{"no such element of a data type", observation, `{"path":"Observation.code.colour","min":1}`, "element[0]"},
		{"fewer than the type", observation, `{"path":"Observation.code","min":0}`, "element[0]"},
		{"no number of values", observation, `{"path":"Observation.note","max":"many"}`, "element[0].max"},
		{"more than the type", observation, `{"path":"Observation.code","max":"2"}`, "element[0]"},
		{"more than the type, without end", observation, `{"path":"Observation.code","max":"*"}`, "element[0]"},
		{"fewer than the base", own, `{"path":"Observation.category","min":0}`, "element[0]"},
		{"more than the base", own, `{"path":"Observation.category","max":"3"}`, "element[0]"},
		{"another fixed value", own, `{"path":"Observation.language","fixedCode":"fr"}`, "element[0]"},
		{"a type that the type has not", observation, `{"path":"Observation.value[x]","type":[{"code":"Address"}]}`, "element[0]"},
		{"a type that the base has not", own, `{"path":"Observation.value[x]","type":[{"code":"boolean"}]}`, "element[0]"},
		{"slices by what is not there", observation, `{"path":"Observation.category","slicing":{"discriminator":[{"type":"value","path":"coding.colour"}],"rules":"open"}}`, "element[0].slicing.discriminator[0]"},
		{"no FHIRPath", observation, `{"path":"Observation","constraint":[{"key":"c-1","severity":"error","human":"h","expression":"code.exists("}]}`, "element[0].constraint[0].expression"},
		{"no function", observation, `{"path":"Observation","constraint":[{"key":"c-1","severity":"error","human":"h","expression":"code.frobnicate()"}]}`, "element[0].constraint[0].expression"},
	} {
		var found []fhir.Issue
		for _, issue := range v.Validate("StructureDefinition", parse(t, definitionOf(c.base, c.elements))) {
			if issue.Severity == fhir.SeverityError && issue.Code == fhir.IssueBusinessRule {
				found = append(found, issue)
			} else if issue.Severity == fhir.SeverityError {
				t.Errorf("%s: %v", c.name, issue)
			}
		}
		switch {
		case c.at == "" && found != nil:
			t.Errorf("%s: %v", c.name, found)
		case c.at != "" && (len(found) != 1 || found[0].Expression != "StructureDefinition.differential."+c.at):
			t.Errorf("%s: %v, want one at %s", c.name, found, c.at)
		}
	}
	for _, issue := range v.Validate("StructureDefinition", parse(t, definitionOf(observation, `{"path":"Observation.value[x]","type":[{"code":"Address"}]}`))) {
		if !strings.HasPrefix(issue.Diagnostics, "Observation.value[x] may be") {
			t.Errorf("the element is not named as in its definition: %v", issue)
		}
	}
	// What derives from a profile that comes later is stored, with a warning.
	issues := v.Validate("StructureDefinition", parse(t, definitionOf("http://example.org/never-heard-of", `{"path":"Observation.code"}`)))
	if len(issues) != 1 || issues[0].Severity != fhir.SeverityWarning || issues[0].Expression != "StructureDefinition.baseDefinition" {
		t.Errorf("a base that is not known: %v", issues)
	}
}

// TestVitalSigns: $validate holds Observations of the codes of vital signs to their
// profiles, what is written is held to none that it does not claim.
func TestVitalSigns(t *testing.T) {
	const bare = `{"resourceType":"Observation","status":"final","code":{"coding":[{"system":"http://loinc.org","code":"8867-4"}]},
		"subject":{"reference":"Patient/1"},"valueQuantity":{"value":72,"unit":"bpm"}}`
	v := validator()
	if issues := v.Validate("Observation", parse(t, bare)); issues != nil {
		t.Errorf("on a write: %v", issues)
	}
	for mode, asked := range map[string]bool{"": true, "profile": true, "create": false, "update": false} {
		errors := onlyErrors(v.ValidateProfile("Observation", parse(t, bare), nil, mode))
		if (len(errors) > 0) != asked {
			t.Errorf("mode %q: %v", mode, errors)
		}
	}
	const whole = `{"resourceType":"Observation","status":"final","category":[{"coding":[{"system":"http://terminology.hl7.org/CodeSystem/observation-category","code":"vital-signs"}]}],
		"code":{"coding":[{"system":"http://loinc.org","code":"8867-4"}]},"subject":{"reference":"Patient/1"},"effectiveDateTime":"2026-01-01",
		"valueQuantity":{"value":72,"unit":"beats/minute","system":"http://unitsofmeasure.org","code":"/min"}}`
	if errors := onlyErrors(v.ValidateProfile("Observation", parse(t, whole), nil, "")); len(errors) > 0 {
		t.Errorf("one that conforms: %v", errors)
	}
	if errors := onlyErrors(v.ValidateProfile("Observation", parse(t, strings.Replace(bare, "8867-4", "718-7", 1)), nil, "")); len(errors) > 0 {
		t.Errorf("another code: %v", errors)
	}
}
