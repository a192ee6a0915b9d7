package validation_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"starling/internal/fhir"
	"starling/internal/fhir/definition"
	"starling/internal/fhir/element"
	"starling/internal/validation"
)

// define makes a stored StructureDefinition of a differential's elements.
func define(t testing.TB, url, typeName, base string, more string, elements ...string) *fhir.Resource {
	t.Helper()
	kind := "resource"
	if typeName == "Extension" {
		kind = "complex-type"
	}
	text := fmt.Sprintf(`{"resourceType":"StructureDefinition","url":%q,"name":"X","status":"active","kind":%q,"abstract":false,"type":%q,
		"baseDefinition":%q,"derivation":"constraint"%s,"differential":{"element":[%s]}}`, url, kind, typeName, base, more, strings.Join(elements, ","))
	tree, err := element.Parse([]byte(text), element.DefaultLimits)
	if err != nil {
		t.Fatal(err)
	}
	content, err := element.Content(tree.Root())
	if err != nil {
		t.Fatal(err)
	}
	return &fhir.Resource{Key: fhir.Key{Type: "StructureDefinition", ID: "x"}, Method: fhir.MethodPut, Content: content}
}

const (
	specification = "http://hl7.org/fhir/StructureDefinition/"
	profileURL    = "http://example.org/StructureDefinition/p"
)

// Each rule of a profile, with a resource that meets it and one that does not.
func TestProfiles(t *testing.T) {
	identifiers := func(systems ...string) string {
		list := make([]string, len(systems))
		for i, system := range systems {
			list[i] = fmt.Sprintf(`{"system":"http://%s","value":"1"}`, system)
		}
		return `{"resourceType":"Patient","identifier":[` + strings.Join(list, ",") + `]}`
	}
	sliced := func(rules string) []string {
		return []string{
			`{"id":"Patient.identifier","path":"Patient.identifier","slicing":{"discriminator":[{"type":"value","path":"system"}],` + rules + `}}`,
			`{"id":"Patient.identifier:a","path":"Patient.identifier","sliceName":"a","min":1,"max":"1"}`,
			`{"id":"Patient.identifier:a.system","path":"Patient.identifier.system","fixedUri":"http://a"}`,
			`{"id":"Patient.identifier:b","path":"Patient.identifier","sliceName":"b"}`,
			`{"id":"Patient.identifier:b.system","path":"Patient.identifier.system","patternUri":"http://b"}`,
		}
	}
	observation := func(more string) string {
		return `{"resourceType":"Observation","status":"final","code":{"coding":[{"system":"http://loinc.org","code":"1"}]}` + more + `}`
	}
	for _, test := range []struct {
		name, typeName string
		elements       []string
		good, bad      string
		contains       string
	}{
		{"minimum", "Patient", []string{`{"id":"Patient.name","path":"Patient.name","min":1}`}, `{"resourceType":"Patient","name":[{"text":"x"}]}`, `{"resourceType":"Patient"}`, "at least 1 expected"},
		{"maximum", "Patient", []string{`{"id":"Patient.name","path":"Patient.name","max":"1"}`}, `{"resourceType":"Patient","name":[{"text":"x"}]}`, `{"resourceType":"Patient","name":[{"text":"x"},{"text":"y"}]}`, "at most 1 allowed"},
		{"fixed", "Patient", []string{`{"id":"Patient.gender","path":"Patient.gender","fixedCode":"male"}`}, `{"resourceType":"Patient","gender":"male"}`, `{"resourceType":"Patient","gender":"female"}`, `must be "male"`},
		{"pattern", "Observation", []string{`{"id":"Observation.code","path":"Observation.code","patternCodeableConcept":{"coding":[{"code":"1"}]}}`}, observation(""), `{"resourceType":"Observation","status":"final","code":{"coding":[{"code":"2"}]}}`, "must have"},
		{"least value", "Observation", []string{`{"id":"Observation.value[x]","path":"Observation.value[x]","type":[{"code":"integer"}],"minValueInteger":3}`}, observation(`,"valueInteger":3`), observation(`,"valueInteger":2`), "at least 3"},
		{"length", "Patient", []string{`{"id":"Patient.name.family","path":"Patient.name.family","maxLength":3}`}, `{"resourceType":"Patient","name":[{"family":"äöü"}]}`, `{"resourceType":"Patient","name":[{"family":"abcd"}]}`, "more than 3 characters"},
		{"types", "Observation", []string{`{"id":"Observation.value[x]","path":"Observation.value[x]","type":[{"code":"Quantity"}]}`}, observation(`,"valueQuantity":{"value":1}`), observation(`,"valueString":"x"`), "must be of type Quantity, found string"},
		{"targets", "Observation", []string{`{"id":"Observation.subject","path":"Observation.subject","type":[{"code":"Reference","targetProfile":["` + specification + `Patient"]}]}`}, observation(`,"subject":{"reference":"Patient/1"}`), observation(`,"subject":{"reference":"Group/1"}`), "expected Patient"},
		{"binding", "Patient", []string{`{"id":"Patient.maritalStatus","path":"Patient.maritalStatus","binding":{"strength":"required","valueSet":"http://hl7.org/fhir/ValueSet/marital-status"}}`}, `{"resourceType":"Patient","maritalStatus":{"coding":[{"system":"http://terminology.hl7.org/CodeSystem/v3-MaritalStatus","code":"M"}]}}`, `{"resourceType":"Patient","maritalStatus":{"coding":[{"system":"http://terminology.hl7.org/CodeSystem/v3-MaritalStatus","code":"zz"}]}}`, "required value set"},
		{"invariant", "Patient", []string{`{"id":"Patient.name","path":"Patient.name","constraint":[{"key":"x-1","severity":"error","human":"No empty family","expression":"family.exists()"}]}`}, `{"resourceType":"Patient","name":[{"family":"x"}]}`, `{"resourceType":"Patient","name":[{"text":"x"}]}`, "x-1: No empty family"},
		{"slice cardinality", "Patient", sliced(`"rules":"open"`), identifiers("a", "c"), identifiers("a", "a"), ":a: at most 1"},
		{"slice missing", "Patient", sliced(`"rules":"open"`), identifiers("b", "a"), identifiers("b"), ":a: at least 1"},
		{"closed", "Patient", sliced(`"rules":"closed"`), identifiers("a", "b"), identifiers("a", "c"), "only the slices"},
		{"open at end", "Patient", sliced(`"rules":"openAtEnd"`), identifiers("a", "b", "c"), identifiers("c", "a"), "at the end"},
		{"ordered", "Patient", sliced(`"ordered":true,"rules":"open"`), identifiers("a", "b"), identifiers("b", "a"), "in the order"},
		{"type slices", "Observation", []string{`{"id":"Observation.value[x]:valueQuantity","path":"Observation.value[x]","sliceName":"valueQuantity","type":[{"code":"Quantity"}]}`, `{"id":"Observation.value[x]:valueQuantity.code","path":"Observation.value[x].code","min":1}`}, observation(`,"valueString":"x"`), observation(`,"valueQuantity":{"value":1}`), "code: at least 1"},
		{"choice by its type", "Observation", []string{`{"path":"Observation.valueQuantity.unit","min":1}`}, observation(`,"valueQuantity":{"value":1,"unit":"x"}`), observation(`,"valueQuantity":{"value":1}`), "unit: at least 1"},
		{"exists slices", "Patient", []string{
			`{"id":"Patient.name","path":"Patient.name","slicing":{"discriminator":[{"type":"exists","path":"period"}],"rules":"open"}}`,
			`{"id":"Patient.name:old","path":"Patient.name","sliceName":"old"}`,
			`{"id":"Patient.name:old.period","path":"Patient.name.period","min":1}`,
			`{"id":"Patient.name:old.use","path":"Patient.name.use","min":1,"fixedCode":"old"}`,
		}, `{"resourceType":"Patient","name":[{"text":"x"},{"use":"old","period":{"start":"2020"}}]}`, `{"resourceType":"Patient","name":[{"use":"usual","period":{"start":"2020"}}]}`, `must be "old"`},
		{"slices of slices", "Patient", append(sliced(`"rules":"open"`),
			`{"id":"Patient.identifier:b","path":"Patient.identifier","sliceName":"b","slicing":{"discriminator":[{"type":"value","path":"use"}],"rules":"open"}}`,
			`{"id":"Patient.identifier:b/o","path":"Patient.identifier","sliceName":"b/o","max":"0"}`,
			`{"id":"Patient.identifier:b/o.use","path":"Patient.identifier.use","fixedCode":"old"}`,
		), identifiers("a", "b"), `{"resourceType":"Patient","identifier":[{"system":"http://a"},{"system":"http://b","use":"old"}]}`, "at most 0"},
	} {
		t.Run(test.name, func(t *testing.T) {
			v := validator().With([]*fhir.Resource{define(t, profileURL, test.typeName, specification+test.typeName, "", test.elements...)})
			for _, issue := range onlyErrors(v.ValidateProfile(fhir.ResourceType(test.typeName), parse(t, test.good), []string{profileURL}, "")) {
				t.Errorf("good: %s: %s", issue.Expression, issue.Diagnostics)
			}
			issues := onlyErrors(v.ValidateProfile(fhir.ResourceType(test.typeName), parse(t, test.bad), []string{profileURL}, ""))
			if len(issues) != 1 || !strings.Contains(issues[0].Diagnostics, test.contains) || !strings.HasSuffix(issues[0].Diagnostics, "(profile "+profileURL+")") {
				t.Errorf("bad: %v; want one with %q", issues, test.contains)
			}
		})
	}
}

// A profile takes over what its base asks, and may name the base's slices.
func TestProfileOfProfile(t *testing.T) {
	base := define(t, profileURL, "Patient", specification+"Patient", "",
		`{"id":"Patient.identifier","path":"Patient.identifier","slicing":{"discriminator":[{"type":"value","path":"system"}],"rules":"open"}}`,
		`{"id":"Patient.identifier:a","path":"Patient.identifier","sliceName":"a"}`,
		`{"id":"Patient.identifier:a.system","path":"Patient.identifier.system","fixedUri":"http://a"}`)
	derived := define(t, profileURL+"2", "Patient", profileURL, "", `{"id":"Patient.identifier:a","path":"Patient.identifier","sliceName":"a","min":1}`)
	v := validator().With([]*fhir.Resource{derived, base})
	text := `{"resourceType":"Patient","meta":{"profile":["` + profileURL + `2"]},"identifier":[{"system":"http://%s"}]}`
	if issues := v.Validate("Patient", parse(t, fmt.Sprintf(text, "a"))); len(issues) != 0 {
		t.Error(issues)
	}
	if issues := v.Validate("Patient", parse(t, fmt.Sprintf(text, "b"))); len(issues) != 1 {
		t.Error(issues)
	}
	if issues := validator().Validate("Patient", parse(t, fmt.Sprintf(text, "b"))); len(issues) != 1 || issues[0].Severity != fhir.SeverityWarning {
		t.Error("an unknown profile is a warning:", issues)
	}
}

// Packages store versions side by side: each is found by its version, and the
// latest without one, in whatever order they come.
func TestVersionsOfProfile(t *testing.T) {
	version := func(version, path string) *fhir.Resource {
		return define(t, profileURL, "Patient", specification+"Patient", `,"version":"`+version+`"`, `{"id":"Patient.`+path+`","path":"Patient.`+path+`","min":1}`)
	}
	old, latest, ballot := version("6.9.0", "name"), version("6.10.0", "photo"), version("6.10.0-ballot", "contact")
	for _, stored := range [][]*fhir.Resource{{old, latest, ballot}, {latest, ballot, old}, {ballot, old, latest}} {
		v := validator().With(stored)
		for canonical, path := range map[string]string{
			profileURL: "Patient.photo", profileURL + "|6.9.0": "Patient.name", profileURL + "|6.10.0": "Patient.photo", profileURL + "|6.10.0-ballot": "Patient.contact",
		} {
			issues := onlyErrors(v.ValidateProfile("Patient", parse(t, `{"resourceType":"Patient"}`), []string{canonical}, ""))
			if len(issues) != 1 || !strings.Contains(fmt.Sprint(issues), path) {
				t.Errorf("%s: %v; want that %s is missing", canonical, issues, path)
			}
		}
		if issues := v.ValidateProfile("Patient", parse(t, `{"resourceType":"Patient"}`), []string{profileURL + "|6"}, ""); !strings.Contains(fmt.Sprint(issues), "not known") {
			t.Errorf("a version that is not there: %v", issues)
		}
	}
}

// Profiles that derive from or refer to themselves end.
func TestRecursiveProfiles(t *testing.T) {
	a := define(t, profileURL, "Patient", profileURL+"2", "")
	b := define(t, profileURL+"2", "Patient", profileURL, "")
	self := define(t, profileURL+"3", "Bundle", specification+"Bundle", "",
		`{"id":"Bundle.entry.resource","path":"Bundle.entry.resource","type":[{"code":"Bundle","profile":["`+profileURL+`3"]}]}`)
	v := validator().With([]*fhir.Resource{a, b, self})
	done := make(chan bool)
	go func() {
		v.ValidateProfile("Patient", parse(t, `{"resourceType":"Patient"}`), []string{profileURL}, "")
		nested := strings.Repeat(`{"resourceType":"Bundle","type":"collection","entry":[{"resource":`, 30) + `{"resourceType":"Bundle","type":"collection"}` + strings.Repeat("}]}", 30)
		v.ValidateProfile("Bundle", parse(t, nested), []string{profileURL + "3"}, "")
		close(done)
	}()
	select {
	case <-done:
	case <-time.After(20 * time.Second):
		t.Fatal("does not end")
	}
}

func TestKnownExtensions(t *testing.T) {
	stored := define(t, "http://example.org/ext", "Extension", specification+"Extension", `,"context":[{"type":"element","expression":"Patient.name"}]`,
		`{"id":"Extension.extension","path":"Extension.extension","max":"0"}`,
		`{"id":"Extension.url","path":"Extension.url","fixedUri":"http://example.org/ext"}`,
		`{"id":"Extension.value[x]","path":"Extension.value[x]","min":1,"type":[{"code":"string"}]}`)
	v := validator().With([]*fhir.Resource{stored})
	for text, want := range map[string]string{
		`"name":[{"extension":[{"url":"http://example.org/ext","valueString":"x"}]}]`:          "",
		`"name":[{"extension":[{"url":"http://example.org/ext","valueCode":"x"}]}]`:            "must be of type string",
		`"extension":[{"url":"http://example.org/ext","valueString":"x"}]`:                     "may not be used here",
		`"extension":[{"url":"http://example.org/other","valueString":"x"}]`:                   "",
		`"modifierExtension":[{"url":"http://example.org/other","valueString":"x"}]`:           "not known here",
		`"modifierExtension":[{"url":"` + specification + `iso21090-EN-use","valueCode":"x"}]`: "no modifier",
	} {
		issues := onlyErrors(v.Validate("Patient", parse(t, `{"resourceType":"Patient",`+text+`}`)))
		if want == "" && len(issues) > 0 || want != "" && (len(issues) == 0 || !strings.Contains(fmt.Sprint(issues), want)) {
			t.Errorf("%s: %v; want %q", text, issues, want)
		}
	}
}

// A hundred profiles compile in the time the server allows itself.
func TestHundredProfilesCompile(t *testing.T) {
	var resources []*fhir.Resource
	for i := range 100 {
		resources = append(resources, define(t, fmt.Sprintf("%s%d", profileURL, i), "Observation", specification+"vitalsigns", "",
			`{"id":"Observation.value[x]","path":"Observation.value[x]","type":[{"code":"Quantity"}]}`,
			`{"id":"Observation.subject","path":"Observation.subject","mustSupport":true}`))
	}
	start := time.Now()
	v := validation.New(definition.R4()).With(resources)
	for i := range 100 {
		v.ValidateProfile("Observation", parse(t, `{"resourceType":"Observation","status":"final","code":{"text":"x"}}`), []string{fmt.Sprintf("%s%d", profileURL, i)}, "")
	}
	if took := time.Since(start); took > 4*time.Second {
		t.Errorf("100 profiles took %v", took)
	} else {
		t.Logf("100 profiles took %v", took)
	}
}
