package validation_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"starling/internal/fhir"
)

// A profile says how references are to their targets.
func TestAggregation(t *testing.T) {
	resource := func(mode string) *fhir.Resource {
		return define(t, profileURL, "Observation", specification+"Observation", "",
			`{"id":"Observation.subject","path":"Observation.subject","type":[{"code":"Reference","targetProfile":["`+specification+`Patient"],"aggregation":[`+mode+`]}]}`)
	}
	const (
		head      = `{"resourceType":"Observation","meta":{"profile":["` + profileURL + `"]},"status":"final","code":{"text":"x"},`
		contained = head + `"contained":[{"resourceType":"Patient","id":"p"}],"subject":{"reference":"#p"}}`
		remote    = head + `"subject":{"reference":"Patient/1"}}`
		logical   = head + `"subject":{"identifier":{"value":"1"}}}`
		bundled   = `{"resourceType":"Bundle","type":"collection","entry":[{"fullUrl":"http://a/Observation/1","resource":` + head + `"id":"1","subject":{"reference":"Patient/1"}}},
			{"fullUrl":"http://a/Patient/1","resource":{"resourceType":"Patient","id":"1"}}]}`
	)
	for _, test := range []struct {
		mode, text string
		want       string
	}{
		{`"contained"`, contained, ""},
		{`"contained"`, remote, `the target of the reference "Patient/1" is referenced, but must be contained`},
		{`"contained"`, bundled, `is bundled, but must be contained`},
		{`"referenced"`, remote, ""},
		{`"referenced"`, bundled, ""},
		{`"referenced"`, contained, `the target of the reference "#p" is contained, but must be referenced`},
		{`"bundled"`, bundled, ""},
		{`"bundled"`, remote, "is referenced, but must be bundled"},
		{`"bundled","contained"`, contained, ""},
		{`"bundled","contained"`, remote, "must be bundled or contained"},
		{`"contained"`, logical, ""},
	} {
		root := parse(t, test.text)
		issues := validator().With([]*fhir.Resource{resource(test.mode)}).Validate(fhir.ResourceType(root.Get("resourceType").Str()), root)
		expectIssue(t, test.mode+" "+test.text, issues, test.want)
	}
}

// expectIssue wants one error with that text, none for "".
func expectIssue(t *testing.T, about string, issues []fhir.Issue, want string) {
	t.Helper()
	issues = onlyErrors(issues)
	switch {
	case want == "" && len(issues) > 0:
		t.Errorf("%s: %v; want no error", about, issues)
	case want != "" && (len(issues) != 1 || !strings.Contains(issues[0].Diagnostics, want)):
		t.Errorf("%s: %v; want one error with %q", about, issues, want)
	}
}

// A reference is of the type that it says.
func TestReferenceType(t *testing.T) {
	const observation = `{"resourceType":"Observation","status":"final","code":{"text":"x"},"subject":%s}`
	const bundle = `{"resourceType":"Bundle","type":"collection","entry":[{"fullUrl":"urn:uuid:4a2ba1a6-6b4e-4c5d-8d0e-0f6f9f6d3b01","resource":{"resourceType":"Patient"}},
		{"fullUrl":"http://a/Observation/1","resource":{"id":"1",%s}]}`
	for subject, want := range map[string]string{
		`{"reference":"Patient/1","type":"Patient"}`:                                   "",
		`{"reference":"Patient/1","type":"Group"}`:                                     "the reference is to the type Patient, but says that it is to Group",
		`{"reference":"http://a/fhir/Patient/1/_history/2","type":"Group"}`:            "but says that it is to Group",
		`{"reference":"http://a/elsewhere","type":"Group"}`:                            "",
		`{"reference":"Patient/1","type":"http://example.org/logical"}`:                "",
		`{"identifier":{"value":"1"},"type":"Group"}`:                                  "",
		`{"reference":"Patient/1","type":"Resource"}`:                                  "",
		`{"reference":"urn:uuid:4a2ba1a6-6b4e-4c5d-8d0e-0f6f9f6d3b01","type":"Group"}`: "",
	} {
		text := fmt.Sprintf(observation, subject)
		expectIssue(t, subject, validate(t, text), want)
		if strings.Contains(subject, "urn:uuid") {
			want = "the reference is to the type Patient, but says that it is to Group"
		}
		text = fmt.Sprintf(bundle, strings.TrimPrefix(text, "{"))
		expectIssue(t, "in a Bundle: "+subject, validator().Validate("Bundle", parse(t, text)), want)
	}
}

// Codes of value sets that cannot be listed have their form.
func TestGrammars(t *testing.T) {
	const (
		claim = `{"resourceType":"Claim","status":"active","type":{"text":"x"},"use":"claim","patient":{"display":"x"},"created":"2026",
			"provider":{"display":"x"},"priority":{"text":"x"},"insurance":[{"sequence":1,"focal":true,"coverage":{"display":"x"}}],%s}`
		patient   = `{"resourceType":"Patient",%s}`
		condition = `{"resourceType":"Condition","subject":{"display":"x"},%s}`
		mime      = `is not in the required value set http://hl7.org/fhir/ValueSet/mimetypes`
		language  = `in the largest possible value set http://hl7.org/fhir/ValueSet/all-languages`
	)
	photo := func(contentType string) string { return `"photo":[{"contentType":"` + contentType + `","title":"x"}]` }
	speaks := func(coding string) string { return `"communication":[{"language":{` + coding + `}}]` }
	age := func(code string) string {
		return `"onsetAge":{"value":3,"system":"http://unitsofmeasure.org","code":"` + code + `"}`
	}
	for _, test := range []struct{ form, inner, want string }{
		{patient, photo("image/png"), ""},
		{patient, photo("text/plain; charset=utf-8"), ""},
		{patient, photo("application/vnd.oasis.opendocument.text"), ""},
		{patient, photo("png"), mime},
		{patient, photo("image/"), mime},
		{patient, photo("im age/png"), mime},
		{patient, photo("image/png/x"), mime},
		{`{"resourceType":"Binary",%s}`, `"contentType":"PDF"`, mime},
		{`{"resourceType":"Binary",%s}`, `"contentType":"application/fhir+json"`, ""},
		{claim, `"total":{"value":1,"currency":"CHF"}`, ""},
		{claim, `"total":{"value":1,"currency":"chf"}`, "is not in the required value set http://hl7.org/fhir/ValueSet/currencies"},
		{claim, `"total":{"value":1,"currency":"2020"}`, "is not in the required value set http://hl7.org/fhir/ValueSet/currencies"},
		{patient, `"language":"de"`, ""},
		{patient, `"language":"zh-Hant-TW"`, ""},
		{patient, `"language":"x-klingon"`, ""},
		{patient, `"language":"de_CH"`, language},
		{patient, `"language":"x"`, language},
		{patient, `"language":"de-"`, language},
		{patient, `"language":"1de"`, language},
		{patient, speaks(`"coding":[{"system":"urn:ietf:bcp:47","code":"nl-NL"}]`), ""},
		{patient, speaks(`"coding":[{"system":"urn:ietf:bcp:47","code":"nl_NL"}]`), "no coding is " + language},
		{patient, speaks(`"text":"Dutch"`), ""},
		{condition, age("a"), ""},
		{condition, age("mo"), ""},
		{condition, age("kg"), `"http://unitsofmeasure.org|kg" is not in the largest possible value set http://hl7.org/fhir/ValueSet/all-time-units`},
		{condition, `"onsetAge":{"extension":[{"url":"http://example.org/e","valueCode":"x"}]}`, ""},
	} {
		root := parse(t, fmt.Sprintf(test.form, test.inner))
		of := fhir.ResourceType(root.Get("resourceType").Str())
		if !strings.Contains(test.want, "largest possible") {
			expectIssue(t, test.inner, validator().Validate(of, root), test.want)
			continue
		}
		expectIssue(t, test.inner, validator().Validate(of, root), "") // advice alone
		if issues := validator().ValidateProfile(of, root, nil, ""); !slices.ContainsFunc(issues, func(issue fhir.Issue) bool {
			return issue.Severity == fhir.SeverityWarning && issue.Code == fhir.IssueCodeInvalid && strings.Contains(issue.Diagnostics, test.want)
		}) {
			t.Errorf("%s: %v; want a warning with %q", test.inner, issues, test.want)
		}
	}
}

// No two elements of a resource have one id; those of other resources in it are
// others.
func TestElementIDs(t *testing.T) {
	for text, want := range map[string]string{
		`{"resourceType":"Patient","id":"a","name":[{"id":"a","family":"x"},{"id":"b","family":"x"}],"gender":"male","_gender":{"id":"c"}}`: "",
		`{"resourceType":"Patient","name":[{"id":"a","family":"x"},{"id":"a","family":"x"}]}`:                                               `another element of the resource has the id "a", too`,
		`{"resourceType":"Patient","name":[{"id":"a","family":"x"}],"gender":"male","_gender":{"id":"a"}}`:                                  `has the id "a", too`,
		`{"resourceType":"Patient","contact":[{"id":"a","name":{"id":"a","family":"x"}}]}`:                                                  `has the id "a", too`,
		`{"resourceType":"Patient","contained":[{"resourceType":"Organization","id":"a","name":"x","alias":["y"],"_alias":[{"id":"b"}]}],
			"managingOrganization":{"id":"b","reference":"#a"}}`: "",
		`{"resourceType":"Bundle","type":"collection","entry":[{"id":"e","resource":{"resourceType":"Patient","name":[{"id":"a","family":"x"}]}},
			{"id":"a","resource":{"resourceType":"Patient","name":[{"id":"a","family":"x"}]}}]}`: "",
		`{"resourceType":"Bundle","type":"collection","entry":[{"id":"e","resource":{"resourceType":"Patient"}},{"id":"e","resource":{"resourceType":"Patient"}}]}`: `has the id "e", too`,
	} {
		root := parse(t, text)
		expectIssue(t, text, validator().Validate(fhir.ResourceType(root.Get("resourceType").Str()), root), want)
	}
}

// An extension has conditions on what it is in.
func TestContextInvariants(t *testing.T) {
	const url = "http://example.org/ext"
	stored := define(t, url, "Extension", specification+"Extension",
		`,"context":[{"type":"element","expression":"Element"}],"contextInvariant":["use = 'official' or %extension.value = true"]`,
		`{"id":"Extension.url","path":"Extension.url","fixedUri":"`+url+`"}`)
	onGender := define(t, url+"2", "Extension", specification+"Extension",
		`,"context":[{"type":"element","expression":"Element"}],"contextInvariant":["$this = 'male'"]`)
	v := validator().With([]*fhir.Resource{stored, onGender})
	name := func(use string, value bool) string {
		return fmt.Sprintf(`{"resourceType":"Patient","name":[{"text":"x"},{"use":%q,"text":"x","extension":[{"url":%q,"valueBoolean":%t}]}]}`, use, url, value)
	}
	gender := `{"resourceType":"Patient","gender":"%s","_gender":{"extension":[{"url":"` + url + `2","valueBoolean":true}]}}`
	for _, test := range []struct{ text, want string }{
		{name("official", false), ""},
		{name("usual", true), ""},
		{name("usual", false), "may only be used where use = 'official'"},
		{fmt.Sprintf(gender, "male"), ""},
		{fmt.Sprintf(gender, "female"), "may only be used where $this = 'male'"},
	} {
		expectIssue(t, test.text, v.Validate("Patient", parse(t, test.text)), test.want)
	}
	// One of the specification.
	const item = `{"resourceType":"Questionnaire","status":"draft","item":[{"linkId":"1","text":"x","type":"%s",` +
		`"extension":[{"url":"http://hl7.org/fhir/StructureDefinition/questionnaire-unit","valueCoding":{"code":"kg"}}]}]}`
	for kind, want := range map[string]string{"integer": "", "decimal": "", "string": "may only be used where"} {
		expectIssue(t, kind, validate(t, fmt.Sprintf(item, kind)), want)
	}
}

// Advice is for those who ask: $validate.
func TestAdvice(t *testing.T) {
	root := parse(t, `{"resourceType":"Patient","contained":[{"resourceType":"Organization","id":"o","name":"x"}],"managingOrganization":{"reference":"#o"}}`)
	if issues := validator().Validate("Patient", root); len(issues) > 0 {
		t.Error(issues)
	}
	issues := validator().ValidateProfile("Patient", root, nil, "")
	if len(issues) != 1 || issues[0].Severity != fhir.SeverityWarning || issues[0].Constraint != "dom-6" || issues[0].Expression != "Patient" {
		t.Error("no narrative:", issues)
	}
	root = parse(t, `{"resourceType":"Bundle","type":"collection","entry":[`+strings.TrimSuffix(strings.Repeat(`{"resource":{"resourceType":"Patient"}},`, 60), ",")+`]}`)
	if issues := validator().ValidateProfile("Bundle", root, nil, ""); len(issues) != 10 {
		t.Errorf("%d issues of a Bundle without narrative", len(issues))
	}
}

// A meta.profile that is not known is a warning, or an error.
func TestUnknownProfiles(t *testing.T) {
	root := parse(t, `{"resourceType":"Patient","meta":{"profile":["`+profileURL+`"]}}`)
	for severity, issues := range map[fhir.Severity][]fhir.Issue{
		fhir.SeverityWarning: validator().Validate("Patient", root),
		fhir.SeverityError:   validator().RefusingUnknownProfiles().Validate("Patient", root),
	} {
		if len(issues) != 1 || issues[0].Severity != severity || issues[0].Code != fhir.IssueNotSupported {
			t.Errorf("%v; want one %s", issues, severity)
		}
	}
}

// A literal reference is one that leads somewhere.
func TestReferenceForm(t *testing.T) {
	const (
		observation = `{"resourceType":"Observation","status":"final","code":{"text":"x"},"subject":{"reference":"%s"}}`
		transaction = `{"resourceType":"Bundle","type":"transaction","entry":[{"resource":%s,"request":{"method":"POST","url":"Observation"}}]}`
		form        = "expected an absolute URL, or a type and an id, such as Patient/1"
		conditional = "is conditional, which it may be in a transaction only"
	)
	for reference, want := range map[string]string{
		"Patient/1":                     "",
		"Patient/1/_history/2":          "",
		"http://a/fhir/Patient/1":       "",
		"http://a/elsewhere?id=3":       "",
		"urn:uuid:1":                    "", // of an id of the sender's own
		"Foo/1":                         `to "Foo", which is no resource type`,
		"1":                             form,
		"Patient/":                      form,
		"Patient/a b":                   form,
		"Patient/1/2":                   form,
		"/Patient/1":                    form,
		"Patient/1/_history/":           form,
		"http://a/Patient/a b":          form,
		"Patient?identifier=1":          conditional,
		"Foo?identifier=1":              form,
		"Patient?identifier=http://a|1": conditional,
	} {
		text := fmt.Sprintf(observation, reference)
		expectIssue(t, reference, validate(t, text), want)
		if want == conditional {
			want = ""
		}
		expectIssue(t, "in a transaction: "+reference, validator().Validate("Bundle", parse(t, fmt.Sprintf(transaction, text))), want)
	}
}

// Extensions have absolute URLs, but for the parts of extensions.
func TestExtensionURL(t *testing.T) {
	for extension, want := range map[string]string{
		`{"url":"http://a/b","valueCode":"x"}`:                                                     "",
		`{"url":"urn:oid:1.2","valueCode":"x"}`:                                                    "",
		`{"url":"b","valueCode":"x"}`:                                                              `the URL of the extension is "b", expected an absolute URL`,
		`{"url":"a/b","valueCode":"x"}`:                                                            "expected an absolute URL",
		`{"url":"http://a/b","extension":[{"url":"b","valueCode":"x"}]}`:                           "",
		`{"url":"http://a/b","extension":[{"url":"b","extension":[{"url":"c","valueCode":"x"}]}]}`: "",
	} {
		expectIssue(t, extension, validate(t, `{"resourceType":"Patient","extension":[`+extension+`]}`), want)
		expectIssue(t, extension, validate(t, `{"resourceType":"Patient","birthDate":"2020","_birthDate":{"extension":[`+extension+`]}}`), want)
	}
}

// The URL of an entry is its resource's.
func TestFullURL(t *testing.T) {
	for url, want := range map[string]string{
		"http://a/fhir/Patient/1":                       "",
		"http://a/some/thing":                           "",
		"urn:uuid:C757873D-EC9A-4326-A141-556F43239520": "",
		"Patient/1":               "expected an absolute URL",
		"http://a/fhir/Patient/2": `fullUrl is "http://a/fhir/Patient/2", but the resource is Patient/1`,
		"http://a/fhir/Group/1":   `but the resource is Patient/1`,
		"urn:uuid:1":              "expected a UUID after urn:uuid:",
		"urn:oid:x":               "expected an OID after urn:oid:",
	} {
		text := `{"resourceType":"Bundle","type":"collection","entry":[{"fullUrl":"` + url + `","resource":{"resourceType":"Patient","id":"1"}}]}`
		expectIssue(t, url, validator().Validate("Bundle", parse(t, text)), want)
	}
}

// The parts of an extension are those of its definition, unless their URL is one of
// their own.
func TestPartsOfExtensions(t *testing.T) {
	const nationality = `{"resourceType":"Patient","extension":[{"url":"http://hl7.org/fhir/StructureDefinition/patient-nationality","extension":[
		{"url":"code","valueCodeableConcept":{"text":"x"}}%s]}]}`
	for part, want := range map[string]string{
		"": "",
		`,{"url":"period","valuePeriod":{"start":"2020"}}`:                          "",
		`,{"url":"http://example.org/e","valueString":"x"}`:                         "",
		`,{"url":"since","valuePeriod":{"start":"2020"}}`:                           `the extension has no part "since", but code, period`,
		`,{"url":"http://example.org/e","extension":[{"url":"x","valueCode":"y"}]}`: "",
	} {
		expectIssue(t, part, validate(t, fmt.Sprintf(nationality, part)), want)
	}
}

// What an item of a Questionnaire waits for is another item.
func TestEnableWhen(t *testing.T) {
	const questionnaire = `{"resourceType":"Questionnaire","status":"active","item":[{"linkId":"1","type":"group","item":[{"linkId":"1.1","type":"boolean"}]},
		{"linkId":"2","type":"group","item":[{"linkId":"2.1","type":"string","enableWhen":[{"question":"%s","operator":"=","answerBoolean":true}]}]}]}`
	for question, want := range map[string]string{
		"1.1": "",
		"2":   "",
		"2.1": "the item waits for itself",
		"3":   `no item has the linkId "3"`,
	} {
		expectIssue(t, question, validate(t, fmt.Sprintf(questionnaire, question)), want)
	}
}

// The places of an extension may be types that backbone elements have, and elements
// named with the definition they are of.
func TestExtensionPlaces(t *testing.T) {
	const observation = `{"resourceType":"Observation","status":"final","code":{"text":"x"}%s}`
	const inComponent = `,"component":[{"code":{"text":"x"},"valueString":"y","extension":[{"url":"http://example.org/placed","valueCode":"x"}]}]`
	const atRoot = `,"extension":[{"url":"http://example.org/placed","valueCode":"x"}]`
	for _, test := range []struct {
		place, inner string
		want         string
	}{
		{"Observation.component", inComponent, ""},
		{"BackboneElement", inComponent, ""},
		{"BackboneElement", atRoot, "may not be used here, but in BackboneElement"},
		{specification + "Observation#Observation.component", inComponent, ""},
		{specification + "Observation#Observation.component", atRoot, "may not be used here"},
		{"http://example.org/profile#Observation.component:systolic", inComponent, ""}, // of slices it is not told
	} {
		extension := define(t, "http://example.org/placed", "Extension", specification+"Extension", `,"context":[{"type":"element","expression":"`+test.place+`"}]`,
			`{"id":"Extension","path":"Extension"}`)
		root := parse(t, fmt.Sprintf(observation, test.inner))
		expectIssue(t, test.place, validator().With([]*fhir.Resource{extension}).Validate("Observation", root), test.want)
	}
}
