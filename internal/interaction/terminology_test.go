package interaction

import (
	"slices"
	"strings"
	"testing"

	"starling/internal/fhir"
	"starling/internal/fhir/element"
)

const animals = `{"resourceType":"CodeSystem","id":"animals","url":"http://example.org/animals","version":"1","name":"Animals","status":"active",
	"content":"complete","caseSensitive":true,"property":[{"code":"legs","type":"integer"}],"concept":[
	{"code":"animal","display":"Animal","property":[{"code":"notSelectable","valueBoolean":true}],"concept":[
		{"code":"dog","display":"Dog","definition":"It barks.","designation":[{"language":"de","value":"Hund"}],"property":[{"code":"legs","valueInteger":4}],
			"concept":[{"code":"puppy","display":"Young dog","property":[{"code":"legs","valueInteger":4}]}]},
		{"code":"bird","display":"Bird","property":[{"code":"legs","valueInteger":2}]},
		{"code":"dodo","display":"Dodo","property":[{"code":"inactive","valueBoolean":true},{"code":"legs","valueInteger":2}]}]},
	{"code":"stone","display":"Stone"}]}`

func valueSetJSON(id, compose string) string {
	return `{"resourceType":"ValueSet","id":"` + id + `","url":"http://example.org/ValueSet/` + id + `","name":"V","status":"active","compose":` + compose + `}`
}

func include(more string) string {
	return `{"include":[{"system":"http://example.org/animals"` + more + `}]}`
}

// answers gives the values of a Parameters' parameter; of those with parts,
// the part named behind a dot.
func answers(root element.Node, name string) []string {
	name, part, _ := strings.Cut(name, ".")
	var all []string
	for p := range root.Get("parameter").Children() {
		if p.Get("name").Str() != name {
			continue
		}
		if part != "" {
			all = append(all, answersOf(p.Get("part"), part)...)
			continue
		}
		all = append(all, valueOf(p))
	}
	return all
}

func answersOf(parts element.Node, name string) []string {
	var all []string
	for p := range parts.Children() {
		if p.Get("name").Str() == name {
			all = append(all, valueOf(p))
		}
	}
	return all
}

func valueOf(p element.Node) string {
	for member := range p.Children() {
		if strings.HasPrefix(member.Name(), "value") {
			if member.Kind() == element.Object {
				return member.Get("code").Str()
			}
			return member.Literal()
		}
	}
	return ""
}

func outOf(root element.Node, name string) string { return strings.Join(answers(root, name), " ") }

// codesOf lists the codes of an expansion.
func codesOf(expanded element.Node) string {
	var all []string
	for c := range expanded.Get("expansion").Get("contains").Children() {
		all = append(all, c.Get("code").Str())
	}
	return strings.Join(all, " ")
}

func newZoo(t *testing.T) *server {
	s := newServer(t)
	s.do(StatusCreated, "PUT", "CodeSystem/animals", animals)
	s.do(StatusCreated, "PUT", "ValueSet/all", valueSetJSON("all", include("")))
	s.do(StatusCreated, "PUT", "ValueSet/dogs", valueSetJSON("dogs", include(`,"filter":[{"property":"concept","op":"is-a","value":"dog"}]`)))
	return s
}

func TestExpand(t *testing.T) {
	s := newZoo(t)
	const administrative = "http://hl7.org/fhir/ValueSet/administrative-gender"
	sent := valueSetJSON("sent", include(`,"filter":[{"property":"legs","op":"=","value":"2"}]`))
	for _, c := range []struct{ method, target, body, want string }{
		{"GET", "ValueSet/$expand?url=" + administrative, "", "male female other unknown"},
		{"GET", "ValueSet/$expand?url=" + administrative + "&count=2&offset=1", "", "female other"},
		{"GET", "ValueSet/$expand?url=" + administrative + "&filter=fem", "", "female"},
		{"GET", "ValueSet/$expand?url=" + administrative + "&count=0", "", ""},
		{"GET", "ValueSet/$expand?url=" + administrative + "&valueSetVersion=4.0.1", "", "male female other unknown"},
		{"GET", "ValueSet/all/$expand", "", "animal dog puppy bird dodo stone"},
		{"GET", "ValueSet/all/$expand?activeOnly=true", "", "animal dog puppy bird stone"},
		{"GET", "ValueSet/all/$expand?filter=young", "", "puppy"},
		{"GET", "ValueSet/$expand?url=http://example.org/ValueSet/dogs", "", "dog puppy"},
		{"POST", "ValueSet/$expand", sent, "bird dodo"},
		{"POST", "ValueSet/$expand", parameters(`{"name":"valueSet","resource":`+sent+`}`, `{"name":"filter","valueString":"Bi"}`), "bird"},
		{"POST", "ValueSet/$expand", parameters(`{"name":"url","valueUri":"`+administrative+`"}`, `{"name":"count","valueInteger":1}`), "male"},
	} {
		got := s.operation(c.method, c.target, c.body)
		if codes := codesOf(got); codes != c.want {
			t.Errorf("%s %s: %q, want %q", c.method, c.target, codes, c.want)
		}
	}
	page := s.operation("GET", "ValueSet/all/$expand?count=2&offset=1&includeDesignations=true&includeDefinition=true", "")
	expansion := page.Get("expansion")
	if expansion.Get("total").Literal() != "6" || expansion.Get("offset").Literal() != "1" || !page.Get("compose").Exists() {
		t.Errorf("%s", page.Raw())
	}
	if first := expansion.Get("contains").At(0); first.Get("designation").At(0).Get("value").Str() != "Hund" || first.Get("version").Str() != "1" {
		t.Errorf("%s", first.Raw())
	}
	german := s.operation("GET", "ValueSet/all/$expand?displayLanguage=de&filter=dog", "")
	if first := german.Get("expansion").Get("contains").At(0); first.Get("display").Str() != "Hund" {
		t.Errorf("%s", first.Raw())
	}
	whole := s.operation("GET", "ValueSet/all/$expand", "").Get("expansion")
	if first := whole.Get("contains").At(0); first.Get("abstract").Literal() != "true" || whole.Get("contains").At(4).Get("inactive").Literal() != "true" {
		t.Errorf("%s", whole.Raw())
	}
}

func TestExpandRefuses(t *testing.T) {
	s := newZoo(t)
	s.do(StatusCreated, "PUT", "ValueSet/self", valueSetJSON("self", `{"include":[{"valueSet":["http://example.org/ValueSet/self"]}]}`))
	s.refuse(fhir.KindUnprocessable, fhir.IssueInvalid, "GET", "ValueSet/self/$expand", "")
	for _, also := range []string{"", "|2"} { // one that is not stored
		sent := strings.Replace(valueSetJSON("sent", `{"include":[{"valueSet":["http://example.org/ValueSet/sent`+also+`"]}]}`), `"name"`, `"version":"2","name"`, 1)
		for operation, more := range map[string]string{"$expand": "", "$validate-code": `,{"name":"code","valueCode":"dog"},{"name":"system","valueUri":"http://example.org/animals"}`} {
			body := `{"resourceType":"Parameters","parameter":[{"name":"valueSet","resource":` + sent + `}` + more + `]}`
			failure := s.refuse(fhir.KindUnprocessable, fhir.IssueInvalid, "POST", "ValueSet/"+operation, body)
			if said := failure.Error(); !strings.Contains(said, `"http://example.org/ValueSet/sent" includes itself`) {
				t.Errorf("%s: %s", operation, said)
			}
		}
	}
	s.refuse(fhir.KindNotFound, fhir.IssueNotFound, "GET", "ValueSet/$expand?url=http://example.org/unheard", "")
	s.refuse(fhir.KindNotFound, fhir.IssueNotFound, "GET", "ValueSet/$expand?url=http://hl7.org/fhir/ValueSet/condition-code", "")
	s.refuse(fhir.KindNotFound, fhir.IssueNotFound, "GET", "ValueSet/never/$expand", "")
	s.refuse(fhir.KindNotFound, fhir.IssueNotSupported, "GET", "CodeSystem/$expand", "")
	s.refuse(fhir.KindInvalid, fhir.IssueRequired, "GET", "ValueSet/$expand", "")
	s.refuse(fhir.KindInvalid, fhir.IssueValue, "GET", "ValueSet/all/$expand?count=-1", "")
	s.refuse(fhir.KindInvalid, fhir.IssueValue, "GET", "ValueSet/all/$expand?activeOnly=maybe", "")
	s.refuse(fhir.KindInvalid, fhir.IssueInvalid, "POST", "ValueSet/$expand", `{"resourceType":"Patient"}`)
	s.refuse(fhir.KindUnprocessable, fhir.IssueNotSupported, "POST", "ValueSet/$expand",
		valueSetJSON("x", include(`,"filter":[{"property":"concept","op":"is-a","value":"unheard"}]`)))
	s.do(StatusNoContent, "DELETE", "ValueSet/dogs", "")
	s.refuse(fhir.KindGone, fhir.IssueDeleted, "GET", "ValueSet/dogs/$expand", "")
	s.refuse(fhir.KindNotFound, fhir.IssueNotFound, "GET", "ValueSet/$expand?url=http://example.org/ValueSet/dogs", "")
}

func TestValidateCode(t *testing.T) {
	s := newZoo(t)
	const gender, system = "ValueSet/$validate-code?url=http://hl7.org/fhir/ValueSet/administrative-gender", "&system=http://hl7.org/fhir/administrative-gender"
	coding := func(code string) string {
		return `{"system":"http://example.org/animals","code":"` + code + `"}`
	}
	for _, c := range []struct{ method, target, body, want string }{
		{"GET", gender + system + "&code=male", "", "true Male"},
		{"GET", gender + system + "&code=male&display=male", "", "true Male"},
		{"GET", gender + system + "&code=male&display=Female", "", "false Male"},
		{"GET", gender + system + "&code=MALE", "", "false"},
		{"GET", gender + "&code=male", "", "true Male"},
		{"GET", gender + "&system=http://example.org/other&code=male", "", "false"},
		{"GET", "ValueSet/dogs/$validate-code?system=http://example.org/animals&code=puppy", "", "true Young dog"},
		{"GET", "ValueSet/dogs/$validate-code?system=http://example.org/animals&code=bird", "", "false"},
		{"GET", "ValueSet/all/$validate-code?system=http://example.org/animals&code=animal", "", "false"},
		{"GET", "ValueSet/all/$validate-code?system=http://example.org/animals&code=animal&abstract=true", "", "true Animal"},
		{"POST", "ValueSet/dogs/$validate-code", parameters(`{"name":"coding","valueCoding":` + coding("dog") + `}`), "true Dog"},
		{"POST", "ValueSet/dogs/$validate-code", parameters(`{"name":"codeableConcept","valueCodeableConcept":{"coding":[` + coding("bird") + `,` + coding("dog") + `]}}`), "true Dog"},
		{"POST", "ValueSet/dogs/$validate-code", parameters(`{"name":"codeableConcept","valueCodeableConcept":{"text":"a dog"}}`), "false"},
		{"GET", "CodeSystem/$validate-code?url=http://example.org/animals&code=dog", "", "true Dog"},
		{"GET", "CodeSystem/$validate-code?url=http://example.org/animals&code=cat", "", "false"},
		{"GET", "CodeSystem/animals/$validate-code?code=dog", "", "true Dog"},
		{"GET", "CodeSystem/animals/$validate-code?code=dog&display=Hund", "", "true Dog"},
		{"GET", "CodeSystem/animals/$validate-code?code=dog&display=Cat", "", "false Dog"},
		{"POST", "CodeSystem/$validate-code", parameters(`{"name":"coding","valueCoding":` + coding("dog") + `}`), "true Dog"},
		{"POST", "CodeSystem/$validate-code", parameters(`{"name":"codeSystem","resource":`+animals+`}`, `{"name":"code","valueCode":"dog"}`), "true Dog"},
		{"GET", "CodeSystem/$validate-code?url=http://terminology.hl7.org/CodeSystem/v2-0203&code=mr", "", "true Medical record number"},
	} {
		got := s.operation(c.method, c.target, c.body)
		if text := strings.TrimSpace(outOf(got, "result") + " " + outOf(got, "display")); text != c.want {
			t.Errorf("%s %s %s: %s, want %s: %s", c.method, c.target, c.body, text, c.want, got.Raw())
		}
		if outOf(got, "result") == "false" && outOf(got, "message") == "" {
			t.Errorf("%s %s: no message", c.method, c.target)
		}
	}
	s.refuse(fhir.KindInvalid, fhir.IssueRequired, "GET", gender, "")
	s.refuse(fhir.KindInvalid, fhir.IssueRequired, "POST", gender+"&code=male", parameters(`{"name":"coding","valueCoding":`+coding("dog")+`}`))
	s.refuse(fhir.KindInvalid, fhir.IssueValue, "POST", gender, parameters(`{"name":"coding","valueString":"dog"}`))
	s.refuse(fhir.KindNotFound, fhir.IssueNotFound, "GET", "ValueSet/$validate-code?url=http://hl7.org/fhir/ValueSet/condition-code&system=http://snomed.info/sct&code=1", "")
	s.refuse(fhir.KindNotFound, fhir.IssueNotFound, "GET", "CodeSystem/$validate-code?url=http://snomed.info/sct&code=1", "")
	s.refuse(fhir.KindNotFound, fhir.IssueNotFound, "GET", "CodeSystem/$validate-code?url=http://example.org/animals&version=2&code=dog", "")
}

func TestLookup(t *testing.T) {
	s := newZoo(t)
	s.do(StatusCreated, "PUT", "CodeSystem/more", `{"resourceType":"CodeSystem","id":"more","url":"http://example.org/more","status":"active",
		"content":"supplement","supplements":"http://example.org/animals","concept":[{"code":"dog","designation":[{"language":"fr","value":"Chien"}]}]}`)
	got := s.operation("GET", "CodeSystem/$lookup?system=http://example.org/animals&code=dog", "")
	for name, want := range map[string]string{
		"name": "Animals", "version": "1", "display": "Dog", "designation.value": "Hund Chien", "designation.language": "de fr",
	} {
		if text := outOf(got, name); text != want {
			t.Errorf("%s: %q, want %q", name, text, want)
		}
	}
	codes, values := answers(got, "property.code"), answers(got, "property.value")
	for _, want := range []string{"definition It barks.", "legs 4", "parent animal", "child puppy", "inactive false"} {
		found := false
		for i := range codes {
			found = found || codes[i]+" "+values[i] == want
		}
		if !found {
			t.Errorf("no %s in %v %v", want, codes, values)
		}
	}
	one := s.operation("POST", "CodeSystem/$lookup?property=legs", parameters(`{"name":"coding","valueCoding":{"system":"http://example.org/animals","code":"dog"}}`))
	if codes := answers(one, "property.code"); !slices.Equal(codes, []string{"legs"}) || outOf(one, "designation.value") != "" {
		t.Errorf("%s", one.Raw())
	}
	if german := s.operation("GET", "CodeSystem/$lookup?system=http://example.org/animals&code=dog&displayLanguage=de", ""); outOf(german, "display") != "Hund" {
		t.Errorf("%s", german.Raw())
	}
	if role := s.operation("GET", "CodeSystem/$lookup?system=http://terminology.hl7.org/CodeSystem/v3-RoleCode&code=MTH", ""); outOf(role, "display") != "mother" {
		t.Errorf("%s", role.Raw())
	}
	s.refuse(fhir.KindNotFound, fhir.IssueNotFound, "GET", "CodeSystem/$lookup?system=http://example.org/animals&code=cat", "")
	s.refuse(fhir.KindNotFound, fhir.IssueNotFound, "GET", "CodeSystem/$lookup?system=http://loinc.org&code=1", "")
	s.refuse(fhir.KindInvalid, fhir.IssueRequired, "GET", "CodeSystem/$lookup?code=dog", "")
	s.refuse(fhir.KindNotFound, fhir.IssueNotSupported, "GET", "CodeSystem/animals/$lookup?code=dog", "")
}

func TestSubsumes(t *testing.T) {
	s := newZoo(t)
	const system = "CodeSystem/$subsumes?system=http://example.org/animals"
	for target, want := range map[string]string{
		system + "&codeA=animal&codeB=puppy":                 "subsumes",
		system + "&codeA=puppy&codeB=animal":                 "subsumed-by",
		system + "&codeA=dog&codeB=dog":                      "equivalent",
		system + "&codeA=dog&codeB=bird":                     "not-subsumed",
		"CodeSystem/animals/$subsumes?codeA=dog&codeB=puppy": "subsumes",
		"CodeSystem/$subsumes?system=http://terminology.hl7.org/CodeSystem/v3-RoleCode&codeA=FAMMEMB&codeB=NMTH": "subsumes",
	} {
		if got := s.operation("GET", target, ""); outOf(got, "outcome") != want {
			t.Errorf("%s: %s, want %s", target, got.Raw(), want)
		}
	}
	coded := func(name, code string) string {
		return `{"name":"` + name + `","valueCoding":{"system":"http://example.org/animals","code":"` + code + `"}}`
	}
	if got := s.operation("POST", "CodeSystem/$subsumes", parameters(coded("codingA", "dog"), coded("codingB", "puppy"))); outOf(got, "outcome") != "subsumes" {
		t.Errorf("%s", got.Raw())
	}
	s.refuse(fhir.KindNotFound, fhir.IssueNotFound, "GET", system+"&codeA=dog&codeB=cat", "")
	s.refuse(fhir.KindInvalid, fhir.IssueRequired, "GET", system+"&codeA=dog", "")
}

func TestTranslate(t *testing.T) {
	s := newZoo(t)
	s.do(StatusCreated, "PUT", "ConceptMap/m", `{"resourceType":"ConceptMap","id":"m","url":"http://example.org/m","status":"active",
		"sourceUri":"http://example.org/ValueSet/all","group":[{"source":"http://example.org/animals","target":"http://example.org/sounds",
		"element":[{"code":"dog","target":[{"code":"bark","display":"Bark","equivalence":"wider"}]},{"code":"stone","target":[{"equivalence":"unmatched"}]}],
		"unmapped":{"mode":"fixed","code":"any"}}]}`)
	for _, c := range []struct{ target, want string }{
		{"ConceptMap/m/$translate?system=http://example.org/animals&code=dog", "true wider bark"},
		{"ConceptMap/$translate?url=http://example.org/m&system=http://example.org/animals&code=dog", "true wider bark"},
		{"ConceptMap/$translate?system=http://example.org/animals&code=dog&targetsystem=http://example.org/sounds", "true wider bark"},
		{"ConceptMap/$translate?system=http://example.org/animals&code=dog&targetsystem=http://example.org/none", "false  "},
		{"ConceptMap/$translate?system=http://example.org/animals&code=dog&source=http://example.org/ValueSet/all", "true wider bark"},
		{"ConceptMap/m/$translate?system=http://example.org/animals&code=stone", "false unmatched "},
		{"ConceptMap/m/$translate?system=http://example.org/animals&code=bird", "true relatedto any"},
		{"ConceptMap/m/$translate?system=http://example.org/sounds&code=bark&reverse=true", "true narrower dog"},
		{"ConceptMap/$translate?url=http://hl7.org/fhir/ConceptMap/cm-address-use-v2&system=http://hl7.org/fhir/address-use&code=home", "true equivalent H"},
	} {
		got := s.operation("GET", c.target, "")
		if text := outOf(got, "result") + " " + outOf(got, "match.equivalence") + " " + outOf(got, "match.concept"); text != c.want {
			t.Errorf("%s: %q, want %q: %s", c.target, text, c.want, got.Raw())
		}
	}
	s.refuse(fhir.KindNotFound, fhir.IssueNotFound, "GET", "ConceptMap/$translate?url=http://example.org/none&system=http://example.org/animals&code=dog", "")
	s.refuse(fhir.KindInvalid, fhir.IssueRequired, "GET", "ConceptMap/$translate?code=dog", "")
}
