package main

import (
	"encoding/json"
	"net/url"
	"strings"
	"testing"
	"time"

	"starling/internal/postgres/postgrestest"
)

// terminologyOfTest is what the calls below are about.
var terminologyOfTest = map[string]string{
	"CodeSystem/zoo": `{"resourceType":"CodeSystem","id":"zoo","url":"http://x/zoo","version":"2","name":"Zoo","status":"active","content":"complete","caseSensitive":true,
		"property":[{"code":"legs","type":"integer"}],"concept":[{"code":"animal","display":"Animal","property":[{"code":"notSelectable","valueBoolean":true}],"concept":[
		{"code":"dog","display":"Dog","designation":[{"language":"de","value":"Hund"}],"property":[{"code":"legs","valueInteger":4}],"concept":[{"code":"puppy","display":"Puppy"}]},
		{"code":"dodo","display":"Dodo","property":[{"code":"inactive","valueBoolean":true}]}]},{"code":"stone","display":"Stone"}]}`,
	"ValueSet/all":   `{"resourceType":"ValueSet","id":"all","url":"http://x/all","version":"1","status":"active","compose":{"include":[{"system":"http://x/zoo"}]}}`,
	"ValueSet/all2":  `{"resourceType":"ValueSet","id":"all2","url":"http://x/all","version":"2","status":"active","compose":{"include":[{"system":"http://x/zoo","concept":[{"code":"stone"}]}]}}`,
	"ValueSet/self":  `{"resourceType":"ValueSet","id":"self","url":"http://x/self","status":"active","compose":{"include":[{"valueSet":["http://x/self"]}]}}`,
	"ValueSet/ring":  `{"resourceType":"ValueSet","id":"ring","url":"http://x/ring","status":"active","compose":{"include":[{"valueSet":["http://x/ring2"]}]}}`,
	"ValueSet/ring2": `{"resourceType":"ValueSet","id":"ring2","url":"http://x/ring2","status":"active","compose":{"include":[{"system":"http://x/zoo","concept":[{"code":"dog"}]},{"valueSet":["http://x/ring"]}]}}`,
	"ConceptMap/m": `{"resourceType":"ConceptMap","id":"m","url":"http://x/m","version":"1","status":"active","sourceUri":"http://x/all","targetUri":"http://x/things","group":[{"source":"http://x/zoo","target":"http://x/thing",
		"element":[{"code":"dog","target":[{"code":"pet","equivalence":"wider","dependsOn":[{"property":"http://x/home","system":"http://x/where","value":"house"}]},{"code":"beast","equivalence":"wider"}]},{"code":"stone","target":[{"equivalence":"unmatched"}]}]}]}`,
}

// TestTerminologyOperations calls each operation of terminology with each
// parameter of its definition in R4 that has an effect, as GET and as POST of
// Parameters where all are primitive, and what is wrong as wrong.
func TestTerminologyOperations(t *testing.T) {
	r := serve(t, postgrestest.New(t), "--validation=off")
	for target, body := range terminologyOfTest {
		if a := r.put(target, body); a.StatusCode != 201 {
			t.Fatalf("%s: %d %s", target, a.StatusCode, a.body)
		}
	}
	const zoo = "system=http://x/zoo"
	for _, c := range []struct {
		call    string // path?parameters; types beyond string are written name:type=value
		status  int
		with    string // parts of the answer, apart by spaces
		without string
	}{
		{"ValueSet/$expand?url:uri=http://x/all", 200, `"stone" "total":1`, `"dog"`},
		{"ValueSet/$expand?url:uri=http://x/all|1", 200, `"dog" "stone" "total":5`, ""},
		{"ValueSet/$expand?url:uri=http://x/all&valueSetVersion=1", 200, `"dog" "total":5`, ""},
		{"ValueSet/$expand?url:uri=http://x/all&valueSetVersion=9", 404, `not-found`, ""},
		{"ValueSet/all/$expand", 200, `"total":5 "timestamp" "identifier"`, ""},
		{"ValueSet/all/$expand", 200, `"total":5`, `valueset-unclosed`},
		{"ValueSet/$expand?url:uri=http://hl7.org/fhir/ValueSet/program", 200, `valueset-unclosed "total":45`, ``},
		{"ValueSet/$expand?url:uri=http://hl7.org/fhir/ValueSet/program&filter=x", 200, `valueset-unclosed`, ``},
		{"ValueSet/all/$expand?filter=pup", 200, `"puppy" "total":1`, `"dog"`},
		{"ValueSet/all/$expand?offset:integer=1&count:integer=2", 200, `"offset":1 "total":5`, `"stone"`},
		{"ValueSet/all/$expand?count:integer=0", 200, `"total":5`, `"contains"`},
		{"ValueSet/all/$expand?activeOnly:boolean=true", 200, `"dog"`, `"dodo"`},
		{"ValueSet/all/$expand?activeOnly:boolean=false", 200, `"dodo" "inactive":true "abstract":true`, ``},
		{"ValueSet/all/$expand?includeDesignations:boolean=true", 200, `"Hund"`, ``},
		{"ValueSet/all/$expand?displayLanguage:code=de", 200, `"display":"Hund"`, `"display":"Dog"`},
		{"ValueSet/all/$expand?includeDefinition:boolean=true", 200, `"compose"`, ``},
		{"ValueSet/all/$expand?includeDefinition:boolean=false", 200, `"dog"`, `"compose"`},
		{"ValueSet/all/$expand?excludeNested:boolean=true", 200, `"total":5`, ``},
		{"ValueSet/all/$expand?excludeNotForUI:boolean=true", 200, `"dog"`, `"code":"animal"`},
		{"ValueSet/all/$expand?exclude-system:canonical=http://x/zoo|1", 200, `"total":5`, ``},
		{"ValueSet/all/$expand?exclude-system:canonical=http://x/zoo|2", 200, `"total":0`, `"dog"`},
		{"ValueSet/all/$expand?exclude-system:canonical=http://x/zoo", 200, `"total":0`, `"dog"`},
		{"ValueSet/all/$expand?count:integer=x", 400, `count`, ``},
		{"ValueSet/all/$expand?count:integer=-1", 400, `count`, ``},
		{"ValueSet/all/$expand?offset:integer=-1", 400, `offset`, ``},
		{"ValueSet/all/$expand?activeOnly:boolean=yes", 400, `activeOnly`, ``},
		{"ValueSet/$expand", 400, `required`, ``},
		{"ValueSet/$expand?url:uri=http://x/none", 404, `not-found`, ``},
		{"ValueSet/none/$expand", 404, `not-found`, ``},
		{"ValueSet/self/$expand", 422, `itself`, ``},
		{"ValueSet/ring/$expand", 422, `itself`, ``},
		{"ValueSet/$expand?url:uri=http://x/ring2", 422, `itself`, ``},

		{"ValueSet/$validate-code?url:uri=http://x/all&valueSetVersion=1&code:code=dog&system:uri=http://x/zoo", 200, `true "Dog"`, ``},
		{"ValueSet/$validate-code?url:uri=http://x/all&code:code=dog&system:uri=http://x/zoo", 200, `false message`, ``},
		{"ValueSet/all/$validate-code?code:code=dog&system:uri=http://x/zoo&systemVersion=2", 200, `true`, ``},
		{"ValueSet/all/$validate-code?code:code=dog&system:uri=http://x/zoo&display=Dog", 200, `true`, ``},
		{"ValueSet/all/$validate-code?code:code=dog&system:uri=http://x/zoo&display=Cat", 200, `false Cat`, ``},
		{"ValueSet/all/$validate-code?code:code=animal&system:uri=http://x/zoo", 200, `false`, ``},
		{"ValueSet/all/$validate-code?code:code=animal&system:uri=http://x/zoo&abstract:boolean=true", 200, `true`, ``},
		{"ValueSet/all/$validate-code?code:code=dog&system:uri=http://x/other", 200, `false`, ``},
		{"ValueSet/all/$validate-code?coding:Coding={\"system\":\"http://x/zoo\",\"code\":\"dog\"}", 200, `true`, ``},
		{"ValueSet/all/$validate-code?codeableConcept:CodeableConcept={\"coding\":[{\"system\":\"http://x/zoo\",\"code\":\"cat\"},{\"system\":\"http://x/zoo\",\"code\":\"dog\"}]}", 200, `true`, ``},
		{"ValueSet/all/$validate-code?code:code=dog&" + zoo + "&coding:Coding={\"code\":\"dog\"}", 400, `required`, ``},
		{"ValueSet/all/$validate-code?system:uri=http://x/zoo", 400, `required`, ``},
		{"ValueSet/$validate-code?code:code=dog&system:uri=http://x/zoo", 400, `required`, ``},
		{"ValueSet/$validate-code?url:uri=http://x/none&code:code=dog&system:uri=http://x/zoo", 404, `not-found`, ``},
		{"ValueSet/self/$validate-code?code:code=dog&system:uri=http://x/zoo", 422, `itself`, ``},

		{"CodeSystem/$validate-code?url:uri=http://x/zoo&code:code=dog", 200, `true "Dog"`, ``},
		{"CodeSystem/$validate-code?url:uri=http://x/zoo&version=2&code:code=dog&display=Hund", 200, `true`, ``},
		{"CodeSystem/$validate-code?url:uri=http://x/zoo&version=9&code:code=dog", 404, `not-found`, ``},
		{"CodeSystem/$validate-code?url:uri=http://x/zoo&code:code=cat", 200, `false message`, ``},
		{"CodeSystem/$validate-code?url:uri=http://x/zoo&code:code=DOG", 200, `false`, ``},
		{"CodeSystem/zoo/$validate-code?code:code=dog&display=Cat", 200, `false`, ``},
		{"CodeSystem/zoo/$validate-code?code:code=animal&abstract:boolean=true", 200, `true`, ``},
		{"CodeSystem/zoo/$validate-code?coding:Coding={\"system\":\"http://x/other\",\"code\":\"dog\"}", 200, `false`, ``},
		{"CodeSystem/zoo/$validate-code?codeableConcept:CodeableConcept={\"coding\":[{\"system\":\"http://x/zoo\",\"code\":\"dog\"}]}", 200, `true`, ``},
		{"CodeSystem/zoo/$validate-code", 400, `required`, ``},
		{"CodeSystem/$validate-code?code:code=dog", 400, `required`, ``},

		{"CodeSystem/$lookup?code:code=dog&system:uri=http://x/zoo", 200, `"Zoo" "version" "Dog" "Hund" "legs" "parent" "puppy"`, ``},
		{"CodeSystem/$lookup?code:code=dog&system:uri=http://x/zoo&version=2", 200, `"Dog"`, ``},
		{"CodeSystem/$lookup?code:code=dog&system:uri=http://x/zoo&version=1", 404, `not-found`, ``},
		{"CodeSystem/$lookup?coding:Coding={\"system\":\"http://x/zoo\",\"code\":\"dog\"}", 200, `"Dog"`, ``},
		{"CodeSystem/$lookup?code:code=dog&system:uri=http://x/zoo&property:code=legs", 200, `"legs"`, `"parent"`},
		{"CodeSystem/$lookup?code:code=dog&system:uri=http://x/zoo&property:code=legs&property:code=child", 200, `"legs" "puppy"`, `"parent"`},
		{"CodeSystem/$lookup?code:code=dog&system:uri=http://x/zoo&displayLanguage:code=de", 200, `"valueString":"Hund"`, ``},
		{"CodeSystem/$lookup?code:code=cat&system:uri=http://x/zoo", 404, `not-found`, ``},
		{"CodeSystem/$lookup?code:code=dog&system:uri=http://x/none", 404, `not-found`, ``},
		{"CodeSystem/$lookup?code:code=dog", 400, `required`, ``},
		{"CodeSystem/$lookup?system:uri=http://x/zoo", 400, `required`, ``},
		{"CodeSystem/zoo/$lookup?code:code=dog", 404, `single`, ``},

		{"CodeSystem/$subsumes?codeA:code=animal&codeB:code=puppy&system:uri=http://x/zoo", 200, `"subsumes"`, ``},
		{"CodeSystem/$subsumes?codeA:code=puppy&codeB:code=animal&system:uri=http://x/zoo&version=2", 200, `"subsumed-by"`, ``},
		{"CodeSystem/zoo/$subsumes?codeA:code=dog&codeB:code=dog", 200, `"equivalent"`, ``},
		{"CodeSystem/zoo/$subsumes?codeA:code=dog&codeB:code=stone", 200, `"not-subsumed"`, ``},
		{"CodeSystem/$subsumes?codingA:Coding={\"system\":\"http://x/zoo\",\"code\":\"dog\"}&codingB:Coding={\"system\":\"http://x/zoo\",\"code\":\"puppy\"}", 200, `"subsumes"`, ``},
		{"CodeSystem/$subsumes?codingA:Coding={\"system\":\"http://x/zoo\",\"code\":\"dog\"}&codingB:Coding={\"system\":\"http://x/other\",\"code\":\"puppy\"}", 400, `different`, ``},
		{"CodeSystem/zoo/$subsumes?codeA:code=dog", 400, `codeB`, ``},
		{"CodeSystem/$subsumes?codeA:code=dog&codeB:code=dog", 400, `required`, ``},
		{"CodeSystem/$subsumes?codeA:code=dog&codeB:code=dog&system:uri=http://x/none", 404, `not-found`, ``},
		{"CodeSystem/zoo/$subsumes?codeA:code=dog&codeB:code=cat", 404, `not-found`, ``},

		{"ConceptMap/m/$translate?code:code=dog&system:uri=http://x/zoo", 200, `true "beast" "wider" http://x/m`, ``},
		{"ConceptMap/$translate?url:uri=http://x/m&conceptMapVersion=1&code:code=dog&system:uri=http://x/zoo", 200, `"beast"`, ``},
		{"ConceptMap/$translate?url:uri=http://x/m&conceptMapVersion=2&code:code=dog&system:uri=http://x/zoo", 404, `not-found`, ``},
		{"ConceptMap/$translate?code:code=dog&system:uri=http://x/zoo&targetsystem:uri=http://x/thing", 200, `"beast"`, ``},
		{"ConceptMap/$translate?code:code=dog&system:uri=http://x/zoo&targetsystem:uri=http://x/none", 200, `false`, `"beast"`},
		{"ConceptMap/$translate?code:code=dog&system:uri=http://x/zoo&source:uri=http://x/all&target:uri=http://x/things", 200, `"beast"`, ``},
		{"ConceptMap/$translate?code:code=dog&system:uri=http://x/zoo&target:uri=http://x/none", 200, `false`, `"beast"`},
		{"ConceptMap/m/$translate?code:code=beast&system:uri=http://x/thing&reverse:boolean=true", 200, `true "dog"`, ``},
		{"ConceptMap/m/$translate?code:code=stone&system:uri=http://x/zoo", 200, `false`, ``},
		{"ConceptMap/m/$translate?coding:Coding={\"system\":\"http://x/zoo\",\"code\":\"dog\"}", 200, `"beast"`, ``},
		{"ConceptMap/m/$translate?codeableConcept:CodeableConcept={\"coding\":[{\"system\":\"http://x/zoo\",\"code\":\"dog\"}]}", 200, `"beast"`, ``},
		{"ConceptMap/m/$translate", 400, `required`, ``},
		{"ConceptMap/$translate?code:code=dog", 400, `required`, ``},
		{"ConceptMap/$translate?url:uri=http://x/none&code:code=dog&system:uri=http://x/zoo", 404, `not-found`, ``},
	} {
		path, query, _ := strings.Cut(c.call, "?")
		body, get := parametersOf(query)
		before := time.Now()
		answers := map[string]answer{"POST " + path: r.do("POST", path, body)}
		if get != "" || query == "" {
			answers["GET "+path] = r.do("GET", path+get, "")
		}
		if took := time.Since(before); took > 10*time.Second {
			t.Errorf("%s took %v", c.call, took)
		}
		for how, a := range answers {
			text := string(a.body)
			good := a.StatusCode == c.status && (c.without == "" || !strings.Contains(text, c.without)) && json.Valid(a.body)
			for part := range strings.FieldsSeq(c.with) {
				good = good && strings.Contains(text, part)
			}
			if good && c.status != 200 {
				good = strings.Contains(text, `"OperationOutcome"`)
			}
			if !good {
				t.Errorf("%s of %s: %d %s; want %d with %s, without %s", how, c.call, a.StatusCode, text, c.status, c.with, c.without)
			}
		}
	}
}

// TestTerminologyOfSentResources sends the resource that a call is about, by
// itself or among the parameters.
func TestTerminologyOfSentResources(t *testing.T) {
	r := serve(t, postgrestest.New(t), "--validation=off")
	among := func(name, resource, more string) string {
		return `{"resourceType":"Parameters","parameter":[{"name":"` + name + `","resource":` + resource + `},` + more + `]}`
	}
	const (
		gender    = `{"resourceType":"ValueSet","status":"active","compose":{"include":[{"system":"http://hl7.org/fhir/administrative-gender"}]}}`
		dog       = `{"name":"code","valueCode":"dog"}`
		dogOfZoo  = dog + `,{"name":"system","valueUri":"http://x/zoo"}`
		male      = `{"name":"code","valueCode":"male"},{"name":"system","valueUri":"http://hl7.org/fhir/administrative-gender"}`
		athome    = dogOfZoo + `,{"name":"dependency","part":[{"name":"element","valueUri":"http://x/home"},{"name":"concept","valueCodeableConcept":{"coding":[{"system":"http://x/where","code":"house"}]}}]}`
		elsewhere = dogOfZoo + `,{"name":"dependency","part":[{"name":"element","valueUri":"http://x/home"},{"name":"concept","valueCodeableConcept":{"coding":[{"system":"http://x/where","code":"field"}]}}]}`
	)
	many := strings.Repeat(`{"name":"exclude-system","valueCanonical":"http://x"},`, 51)
	for _, c := range []struct {
		target, body string
		status       int
		contains     string
	}{
		{"ValueSet/$expand", gender, 200, `"female"`},
		{"ValueSet/$expand", among("valueSet", gender, `{"name":"filter","valueString":"fem"}`), 200, `"total":1`},
		{"ValueSet/$expand", among("valueSet", gender, many+`{"name":"filter","valueString":"fem"}`), 400, `too-costly`},
		{"ValueSet/$validate-code", among("valueSet", gender, male), 200, `true`},
		{"CodeSystem/$validate-code", among("codeSystem", terminologyOfTest["CodeSystem/zoo"], dog), 200, `"Dog"`},
		{"ConceptMap/$translate", among("conceptMap", terminologyOfTest["ConceptMap/m"], dogOfZoo), 200, `"beast"`},
		{"ConceptMap/$translate", among("conceptMap", terminologyOfTest["ConceptMap/m"], athome), 200, `"pet"`},
		{"ConceptMap/$translate", among("conceptMap", terminologyOfTest["ConceptMap/m"], elsewhere), 200, `"beast"`},
		{"ValueSet/$expand", terminologyOfTest["CodeSystem/zoo"], 400, `OperationOutcome`},
		{"ValueSet/$expand", `{"resourceType":"ValueSet","compose":{"include":[{"system":7}]}}`, 422, `OperationOutcome`},
		{"ValueSet/$expand", `{`, 400, `OperationOutcome`},
		{"CodeSystem/$lookup", terminologyOfTest["CodeSystem/zoo"], 400, `OperationOutcome`},
	} {
		if a := r.do("POST", c.target, c.body); a.StatusCode != c.status || !strings.Contains(string(a.body), c.contains) {
			t.Errorf("%s %.200s: %d %s; want %d with %s", c.target, c.body, a.StatusCode, a.body, c.status, c.contains)
		}
	}
}

// parametersOf gives the parameters as a Parameters resource and, if all are
// primitive, as a query.
func parametersOf(query string) (body, get string) {
	list, values := []any{}, url.Values{}
	primitive := true
	for p := range strings.SplitSeq(query, "&") {
		if p == "" {
			continue
		}
		name, value, _ := strings.Cut(p, "=")
		name, kind, typed := strings.Cut(name, ":")
		if !typed {
			kind = "string"
		}
		var element any = value
		switch kind {
		case "integer", "boolean", "Coding", "CodeableConcept":
			if json.Valid([]byte(value)) {
				element = json.RawMessage(value)
			}
		}
		primitive = primitive && kind[0] >= 'a'
		list = append(list, map[string]any{"name": name, "value" + strings.ToUpper(kind[:1]) + kind[1:]: element})
		values.Add(name, value)
	}
	text, err := json.Marshal(map[string]any{"resourceType": "Parameters", "parameter": list})
	if err != nil {
		panic(err)
	}
	if primitive && len(values) > 0 {
		get = "?" + values.Encode()
	}
	return string(text), get
}
