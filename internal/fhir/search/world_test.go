package search

import (
	"fmt"
	"hash/fnv"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"starling/internal/fhir"
)

// places of the world test's resources, that refer to each other at random. %t
// stands for one of few words, %n for one of few ids, %d for a digit.
var worldTemplates = map[fhir.ResourceType][]string{
	"Patient": {
		`"name":[{"family":"%t"}],"gender":"male","birthDate":"200%d","managingOrganization":{"reference":"Organization/%n"},"generalPractitioner":[{"reference":"Practitioner/%n"}]`,
		`"name":[{"given":["%t"]}],"managingOrganization":{"reference":"Organization/%n"}`,
		`"name":[{"given":["%t"]}],"birthDate":"200%d","link":[{"other":{"reference":"Patient/%n"},"type":"seealso"}]`,
	},
	"Practitioner": {`"name":[{"text":"%t"}]`},
	"Organization": {`"name":"%t","partOf":{"reference":"Organization/%n"}`, `"name":"%t","partOf":{"reference":"Organization/%n"},"type":[{"coding":[{"code":"%t"}]}]`},
	"Group":        {`"type":"person","actual":true,"member":[{"entity":{"reference":"Patient/%n"}},{"entity":{"reference":"Patient/%n"}}]`},
	"Encounter":    {`"subject":{"reference":"Patient/%n"},"serviceProvider":{"reference":"Organization/%n"},"class":{"code":"%t"}`},
	"Observation": {
		`"subject":{"reference":"Patient/%n"},"code":{"coding":[{"system":"http://s","code":"%t"}]},"encounter":{"reference":"Encounter/%n"},"valueQuantity":{"value":%d}`,
		`"subject":{"reference":"Group/%n"},"code":{"coding":[{"code":"%t"}]},"performer":[{"reference":"Practitioner/%n"}],"encounter":{"reference":"Encounter/%n"}`,
		`"subject":{"reference":"Patient/%n"},"valueString":"%t %t","component":[{"code":{"coding":[{"system":"http://s","code":"%t"},{"system":"http://o","code":"%t"}]},"valueQuantity":{"value":%d}},{"code":{"coding":[{"code":"%t"}]},"valueCodeableConcept":{"coding":[{"code":"%t"}]}},{"code":{"coding":[{"code":"%t"}]},"valueQuantity":{"value":%d.5}}],"code":{"coding":[{"code":"%t"}]},"performer":[{"reference":"Practitioner/%n"},{"reference":"Patient/%n/_history/1"}]`,
	},
	"ValueSet": {
		`"status":"draft","useContext":[{"code":{"system":"http://s","code":"%t"},"valueQuantity":{"value":%d,"code":"kg","system":"http://unitsofmeasure.org"}},{"code":{"code":"%t"},"valueRange":{"low":{"value":1},"high":{"value":%d}}}]`,
		`"status":"draft","useContext":[{"code":{"system":"http://s","code":"%t"},"valueCodeableConcept":{"coding":[{"code":"%t"},{"system":"http://s","code":"%t"}]}},{"code":{"code":"%t"},"valueCodeableConcept":{"text":"none"}}]`,
	},
	"DocumentReference": {`"status":"current","relatesTo":[{"code":"replaces","target":{"reference":"DocumentReference/%n"}},{"code":"appends","target":{"reference":"DocumentReference/%n"}}]`},
	"MolecularSequence": {`"coordinateSystem":0,"referenceSeq":{"chromosome":{"coding":[{"code":"%t"}]},"windowStart":1%d,"windowEnd":1%d},"variant":[{"start":1%d,"end":1%d},{"start":1%d,"end":2%d},{"start":3}]`},
	"Location":          {`"name":"%t","position":{"latitude":1%d.5,"longitude":2%d}`, `"name":"%t","position":{"latitude":1%d,"longitude":-179.%d}`, `"name":"%t","position":{"latitude":1%d.5,"longitude":21}`},
	"Measure":           {`"url":"http://example.org/%t/m%d","library":["http://example.org/l|%d"],"status":"draft"`, `"url":"http://example.org/%tm","library":["http://example.org/l"],"status":"draft"`},
	"Library":           {`"url":"http://example.org/l","version":"%d","status":"draft","name":"%t","type":{"coding":[{"code":"%t"}]},"relatedArtifact":[{"type":"depends-on","resource":"http://example.org/%t"}]`, `"url":"http://example.org/%t","status":"draft","name":"%t","relatedArtifact":[{"type":"depends-on","resource":"http://example.org/l|%d"},{"type":"depends-on","resource":"http://example.org/%t"}]`},
	"Condition":         {`"subject":{"identifier":{"system":"http://s","value":"%t"}},"asserter":{"identifier":{"value":"%t"}},"encounter":{"reference":"Encounter/%n/_history/%d"}`},
	"Account":           {`"identifier":[{"type":{"coding":[{"system":"http://s","code":"%t"},{"system":"http://t","code":"MR"}]},"system":"http://i","value":"%t"},{"type":{"coding":[{"system":"http://s","code":"%t"}]},"value":"%t"}]`, `"subject":[{"reference":"https://other.example.org/r4/Patient/%n/_history/%d"}]`},
	"Procedure": {
		`"code":{"coding":[{"system":"http://s","code":"%t"},{"system":"http://o","code":"%t","display":"Being %t"}]},"status":"completed","meta":{"profile":["http://p/%t","http://p/%t/%d|1"],"source":"http://x/%d/%d"}`,
		`"text":{"status":"generated","div":"<div>By <b>%t</b> &amp; B&#233;th<!-- none --> <i title='no'>x%d</i></div>"},"code":{"text":"In Bed, %t!"},"subject":{"reference":"Patient/%n"}`, `"code":{"text":"%t","coding":[{"code":"%t","display":"be a %t"}]}`,
	},
	"List": {`"status":"current","mode":"working","entry":[{"item":{"reference":"Patient/%n"}},{"item":{"reference":"Observation/%n"}}]`},
}

// worldQueries are asked of it, with all words.
var worldQueries = []string{
	"Observation?subject=Patient/%n",
	"Observation?subject=%n",
	"Observation?subject:Patient.name=%t",
	"Observation?subject.name=%t",
	"Observation?patient.name=%t&code=%t",
	"Observation?patient.gender=male&code=%t",
	"Observation?patient.birthdate=gt2004",
	"Observation?patient.birthdate:missing=true&code=%t",
	"Observation?patient.gender:not=male",
	"Observation?subject.organization.name=%t",
	"Observation?encounter.service-provider.name=%t",
	"Observation?encounter.service-provider.partof.name=%t",
	"Observation?encounter.service-provider:Organization.partof.type=%t",
	"Observation?encounter:Encounter.patient._id=%n",
	"Observation?performer:Practitioner.name=%t",
	"Observation?performer.name=%t,%t",
	"Observation?subject:Patient._has:Group:member:_id=%n",
	"Observation?subject._has:Encounter:patient:class=%t",
	"Observation?patient._list=%n",
	"Observation?patient.link:Patient.name=%t",
	"Observation?code-value-quantity=%t$%d",
	"Observation?code-value-quantity=http://s|%t$ge%d,%t$lt%d",
	"Observation?code-value-string=%t$%t",
	"Observation?code-value-string:missing=false&code=%t",
	"Observation?component-code-value-quantity=http://s|%t$ge%d",
	"Observation?component-code-value-quantity=%t$gt%d",
	"Observation?component-code-value-concept=%t$%t",
	"Observation?component-code-value-concept:missing=false&code=%t",
	"Observation?component-code-value-quantity:missing=true&code=%t",
	"Observation?combo-code-value-quantity=%t$lt%d",
	"ValueSet?context-type-quantity=%t$%d",
	"ValueSet?context-type-quantity=http://s|%t$lt%d|http://unitsofmeasure.org|kg",
	"ValueSet?context-type-value=http://s|%t$%t",
	"ValueSet?context-type-value=%t$http://s|%t",
	"ValueSet?context-type-value=http://s|%t$http://s|%t",
	"DocumentReference?relationship=DocumentReference/%n$http://hl7.org/fhir/document-relationship-type|replaces",
	"DocumentReference?relationship=%n$appends",
	"MolecularSequence?chromosome-variant-coordinate=%t$lt1%d$gt1%d",
	"MolecularSequence?chromosome-window-coordinate=%t$ge1%d$le1%d",
	"Patient?_has:Observation:patient:component-code-value-quantity=%t$gt%d",
	"Location?near=1%d|2%d|200|km",
	"Location?near=1%d.2|2%d|50000|m",
	"Location?near=1%d|179.8|300",
	"Location?near=1%d.4|21",
	"Measure?url:below=http://example.org/%t",
	"Measure?url:below=http://example.org/",
	"Measure?url:above=http://example.org/%t/m%d/x/y",
	"Measure?depends-on=http://example.org/l|%d",
	"Measure?depends-on=http://example.org/l",
	"Measure?depends-on:Library.name=%t",
	"Measure?depends-on.version=%d",
	"Measure?depends-on:Library.name=%t&url:below=http://example.org/%t",
	"Measure?depends-on:Library.type:not=%t",
	"Measure?depends-on:Library.depends-on:Library.name=%t",
	"Library?depends-on:Library.depends-on:Library.version=%d",
	"Library?_has:Measure:depends-on:url:below=http://example.org/%t",
	"Library?_has:Library:depends-on:name=%t&type:not=%t",
	"Library?_has:Measure:depends-on:status=draft&version=%d",
	"Library?_has:Measure:depends-on:title:missing=true",
	"Library?depends-on:Library._has:Measure:depends-on:url:below=http://example.org/%t",
	"Library?_filter=depends-on[name sw %t].version eq %d",
	"Condition?subject:identifier=http://s|%t",
	"Condition?subject:identifier=%t",
	"Condition?asserter:identifier=|%t",
	"Condition?encounter=Encounter/%n/_history/%d",
	"Condition?encounter=%n",
	"Account?identifier:of-type=http://s|%t|%t",
	"Account?subject=https://other.example.org/r4/Patient/%n/_history/%d",
	"Procedure?_text=be",
	"Procedure?_text=%t",
	"Procedure?_text=(%t OR \"by %t\") and not x%d",
	"Procedure?_content=%t AND r%d",
	"Procedure?_content=\"in bed %t\"",
	"Procedure?_content=be&_text=%t&code:text=%t",
	"Patient?_content=%t 200%d",
	"Patient,Procedure?_content=%t x%d",
	"Observation?patient._content=%t",
	"Patient?_has:Procedure:patient:_text=%t",
	"Procedure?code:text=%t",
	"Procedure?code:text=bed, %t",
	"Procedure?code:text=be&code=%t",
	"Observation?patient._has:Procedure:patient:code:text=%t",
	"Procedure?_profile:below=http://p/%t",
	"Procedure?_profile:below=http://p/",
	"Procedure?_source:below=http://x/%d&code:text=%t",
	"Procedure?_profile:above=http://p/%t/7|1",
	"Procedure?code:in=http://vs/%t",
	"Procedure?code:not-in=http://vs/%t",
	"Procedure?code:below=http://s|%t",
	"Procedure?code:above=http://s|%t",
	"ValueSet?context-type-quantity=%t$lt%d|http://unitsofmeasure.org|kg",
	"ValueSet?context-quantity=%d000|http://unitsofmeasure.org|g",
	"ValueSet?context-quantity=ne%d000|http://unitsofmeasure.org|g",
	"ValueSet?context-quantity=ap%d.01|http://unitsofmeasure.org|kg",
	"ValueSet?context-quantity=gt%d000000|http://unitsofmeasure.org|mg",
	"ValueSet?context-type-quantity=%t$ge%d000|http://unitsofmeasure.org|g",
	"Patient?organization:below=Organization/%n",
	"Patient?organization:below=%n&gender=male",
	"Patient?organization:above=Organization/%n",
	"Organization?partof:below=%n",
	"Organization?partof:above=%n",
	"Encounter?service-provider:below=%n&patient.name=%t",
	"Measure?depends-on:below=http://example.org/l",
	"Patient?_filter=name ew %t",
	"Observation?_filter=patient.name ew am or patient.birthdate po 200%d-03-07",
	"Patient?_filter=birthdate po 200%d-03-07T10:00Z",
	"Observation?_filter=patient[name sw %t].organization.name eq %t",
	"Observation?_filter=subject[name sw %t]._id eq %n or code eq %t",
	"Encounter?_filter=patient[name sw %t or birthdate gt 200%d].organization[name sw %t].partof pr true and class eq %t",
	"Patient?_filter=name sw %t or not(organization.name eq %t)",
	"Observation?_filter=(code eq %t or code eq %t) and patient.birthdate gt 200%d",
	"Patient?_has:Observation:patient:code=%t",
	"Patient?_has:Observation:patient:code=http://s|%t&gender=male",
	"Patient?_has:Observation:patient:value-quantity=gt%d",
	"Patient?_has:Encounter:patient:service-provider.name=%t",
	"Patient?_has:Encounter:patient:_has:Observation:encounter:code=%t",
	"Patient?_has:Group:member:_id=%n&_has:Encounter:patient:class=%t",
	"Patient?_has:Observation:patient:code:not=%t",
	"Patient?organization.partof=Organization/%n",
	"Patient?_list=%n",
	"Patient?_list=List/%n,%n&name=%t",
	"Organization?_has:Patient:organization:general-practitioner.name=%t",
	"Encounter?patient.general-practitioner:Practitioner.name=%t",
	"Encounter?_has:Observation:encounter:performer:Practitioner.name=%t",
}

// worldSize is how many resources of a type there are; the first few are
// referred to.
func worldSize(t fhir.ResourceType) int {
	switch t {
	case "Observation", "Encounter", "Group", "List", "ValueSet", "MolecularSequence", "Location", "Measure", "Library", "Condition", "Account", "Procedure":
		return 50
	}
	return 10
}

// words is a terminology of three words, each of which is below those before it;
// a value set has those that do not begin as its name does.
type words struct{}

var vocabulary = []string{"adam", "beth", "cyril"}

func (words) Members(valueSet string) ([]Coding, error) {
	var out []Coding
	for _, word := range vocabulary {
		if !strings.HasSuffix(valueSet, word) {
			out = append(out, Coding{"http://s", word})
		}
	}
	return out, nil
}

func (words) Subsumed(system, code string, above bool) ([]Coding, error) {
	var out []Coding
	for _, word := range vocabulary {
		if word == code || (word < code) == above {
			out = append(out, Coding{system, word})
		}
	}
	return out, nil
}

func fill(random *rand.Rand, template string) string {
	var out strings.Builder
	for i := 0; i < len(template); i++ {
		if template[i] != '%' {
			out.WriteByte(template[i])
			continue
		}
		i++
		switch template[i] {
		case 't':
			out.WriteString(vocabulary[random.IntN(3)])
		case 'n':
			fmt.Fprintf(&out, "r%d", random.IntN(9))
		case 'd':
			fmt.Fprint(&out, random.IntN(10))
		default:
			out.WriteString(template[i-1 : i+1])
		}
	}
	return out.String()
}

// TestStoreJoinsAsTheMatcher asks a store about resources that refer to each
// other and wants what the matcher finds.
func TestStoreJoinsAsTheMatcher(t *testing.T) {
	r4.UseTerminology(words{})
	t.Cleanup(func() { r4.UseTerminology(nil) })
	store := openStore(t)
	// Each type and each query has numbers of its own, so that one more changes
	// nothing for the others.
	seeded := func(name string) *rand.Rand {
		h := fnv.New64()
		_, _ = h.Write([]byte(name))
		return rand.New(rand.NewPCG(3, h.Sum64()))
	}
	var random *rand.Rand
	w := world{}
	write := func(op fhir.WriteOp, key fhir.Key) {
		templates := worldTemplates[key.Type]
		text := `{"resourceType":"` + string(key.Type) + `","id":"` + key.ID + `",` + fill(random, templates[random.IntN(len(templates))]) + `}`
		index, err := r4.Index(key.Type, parse(t, text), base)
		if err != nil {
			t.Fatal(err)
		}
		if op == fhir.OpDelete {
			index = nil
			delete(w, key)
		} else {
			w[key] = index
		}
		if _, err := store.Write(t.Context(), &fhir.Write{Op: op, Method: fhir.MethodPut, Key: key, Index: index}); err != nil {
			t.Fatal(err)
		}
	}
	for _, typ := range slices.Sorted(maps.Keys(worldTemplates)) {
		random = seeded(string(typ))
		for n := range worldSize(typ) {
			write(fhir.OpUpdate, fhir.Key{Type: typ, ID: fmt.Sprintf("r%d", n)})
		}
		write(fhir.OpUpdate, fhir.Key{Type: typ, ID: "r3"})
		write(fhir.OpDelete, fhir.Key{Type: typ, ID: "r4"})
	}
	for _, template := range worldQueries {
		random = seeded(template)
		found := 0
		for range 20 {
			query := fill(random, template)
			p, err := plan(strings.ReplaceAll(query, "|", "%7C"), true)
			if err != nil {
				t.Fatalf("%s: %v", query, err)
			}
			found += compareWorld(t, store, p, query, w)
		}
		if found == 0 {
			t.Errorf("%s never finds anything", template)
		}
	}
}

func compareWorld(t *testing.T, store fhir.Store, plan *fhir.SearchQuery, query string, w world) int {
	t.Helper()
	plan.Count, plan.Total = len(w), fhir.TotalAccurate
	page, err := store.Search(t.Context(), plan)
	if err != nil {
		t.Errorf("%s (%s): %v", query, show(plan.Criteria), err)
		return 0
	}
	var got, want []string
	for _, match := range page.Matches {
		got = append(got, match.Key.String())
	}
	for key, index := range w {
		if slices.Contains(plan.Types, key.Type) && w.meets(plan.Criteria, key, index) {
			want = append(want, key.String())
		}
	}
	slices.Sort(got)
	slices.Sort(want)
	if !slices.Equal(got, want) || page.Total != int64(len(want)) {
		t.Errorf("%s (%s): %s in all %d, want %s", query, show(plan.Criteria), got, page.Total, want)
	}
	return len(got)
}
