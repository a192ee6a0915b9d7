package search

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"starling/internal/fhir"
)

// lines writes an index as the tests state it, a value a line.
func lines(i *fhir.Index) []string {
	var out []string
	add := func(format string, args ...any) { out = append(out, strings.TrimSpace(fmt.Sprintf(format, args...))) }
	token := func(v fhir.TokenValue) string {
		fold := ""
		if v.FoldCase {
			fold = " fold"
		}
		return v.System + "|" + v.Code + fold
	}
	for _, v := range i.Tokens {
		add("%s = %s", v.Param, token(v))
	}
	for _, v := range i.References {
		identifier := ""
		if v.Identifier != nil {
			identifier = "by " + token(*v.Identifier)
		}
		add("%s -> %s", v.Param, strings.Join(strings.Fields(fmt.Sprintf("%s/%s %s %s %s", v.Type, v.ID, v.Version, v.URL, identifier)), " "))
	}
	for _, v := range i.Strings {
		add("%s ~ %s (%s)", v.Param, v.Folded, v.Exact)
	}
	end := func(t time.Time) string {
		if t.IsZero() {
			return "…"
		}
		return t.Format("2006-01-02T15:04:05.999999")
	}
	for _, v := range i.Dates {
		add("%s @ %s to %s", v.Param, end(v.Low), end(v.High))
	}
	for _, v := range i.Numbers {
		add("%s # %s", v.Param, amount(v.Value, v.Low, v.High))
	}
	for _, v := range i.Quantities {
		add("%s # %s %s|%s|%s", v.Param, amount(v.Value, v.Low, v.High), v.System, v.Code, v.Unit)
	}
	for _, v := range i.URIs {
		add("%s : %s", v.Param, v.URI)
	}
	slices.Sort(out)
	return out
}

func amount(value, low, high string) string {
	if value != "" {
		return value
	}
	return low + "…" + high
}

func indexed(t *testing.T, text string) []string {
	t.Helper()
	root := parse(t, text)
	index, err := r4.Index(resourceType(root), root, base)
	if err != nil {
		t.Fatal(err)
	}
	return lines(index)
}

// wantLines compares with lines in any order.
func wantLines(t *testing.T, got []string, want string) {
	t.Helper()
	expected := strings.Split(strings.TrimSpace(want), "\n")
	for i := range expected {
		expected[i] = strings.TrimSpace(expected[i])
	}
	for _, line := range expected {
		if !slices.Contains(got, line) && line != "" {
			t.Errorf("missing: %s", line)
		}
	}
	for _, line := range got {
		if !slices.Contains(expected, line) {
			t.Errorf("not wanted: %s", line)
		}
	}
	if unique := slices.Compact(slices.Clone(got)); len(unique) != len(got) {
		t.Errorf("duplicates in %q", got)
	}
}

func TestIndexPatient(t *testing.T) {
	wantLines(t, indexed(t, patient), `
		active = |true
		address-use = http://hl7.org/fhir/address-use|home
		deceased = |true
		email = |Jim@Example.org fold
		gender = http://hl7.org/fhir/administrative-gender|male
		identifier = urn:oid:1.2.36.146.595.217.0.1|12345Ab
		identifier = http://example.org/only-system|
		identifier = |only-value
		language = urn:ietf:bcp:47|nl
		phone = |(03) 5555 6473 fold
		telecom = |(03) 5555 6473 fold
		telecom = |Jim@Example.org fold
		general-practitioner -> Practitioner/gp1
		organization -> Organization/1
		link -> Patient/pat2
		name ~ van der berg smith (van der Bérg-Smith)
		name ~ der berg smith ()
		name ~ berg smith ()
		name ~ smith ()
		name ~ peter (Peter)
		name ~ james (James)
		name ~ jim (Jim)
		name ~ dr (Dr.)
		name ~ phd (PhD)
		name ~ peter windsor (Peter Windsor)
		name ~ windsor ()
		family ~ van der berg smith (van der Bérg-Smith)
		family ~ der berg smith ()
		family ~ berg smith ()
		family ~ smith ()
		given ~ peter (Peter)
		given ~ james (James)
		given ~ jim (Jim)
		address ~ 534 erewhon st (534 Erewhon St)
		address ~ apt 2 (Apt. 2)
		address ~ pleasantville (PleasantVille)
		address ~ rainbow (Rainbow)
		address ~ vic (Vic)
		address ~ 3999 (3999)
		address ~ au (AU)
		address-city ~ pleasantville (PleasantVille)
		address-country ~ au (AU)
		address-postalcode ~ 3999 (3999)
		address-state ~ vic (Vic)
		birthdate @ 1974-12-25T00:00:00 to 1974-12-25T23:59:59.999999
		death-date @ 2015-02-14T03:42:00 to 2015-02-14T03:42:00.999999`)
}

func TestIndexObservation(t *testing.T) {
	wantLines(t, indexed(t, observation), `
		_tag = http://example.org/tags|T1
		_profile : http://hl7.org/fhir/StructureDefinition/vitalsigns
		_profile : http://hl7.org/fhir/StructureDefinition/vitalsigns|4.0.1
		_source : http://example.org/feed
		identifier = urn:ietf:rfc:3986|urn:uuid:187e0c12-8dd2-67e2-99b2-bf273c878281
		status = http://hl7.org/fhir/observation-status|final
		category = http://terminology.hl7.org/CodeSystem/observation-category|vital-signs
		code = http://loinc.org|85354-9
		code = |bp
		combo-code = http://loinc.org|85354-9
		combo-code = |bp
		combo-code = http://loinc.org|8480-6
		combo-code = http://snomed.info/sct|271649006 fold
		combo-code = http://loinc.org|8462-4
		component-code = http://loinc.org|8480-6
		component-code = http://snomed.info/sct|271649006 fold
		component-code = http://loinc.org|8462-4
		based-on -> ServiceRequest/req 3
		subject -> Patient/example
		patient -> Patient/example
		encounter -> Encounter/ 2 http://elsewhere.example.org/r4/Encounter/e1
		performer -> Practitioner/ #p1
		performer -> Practitioner/ by http://example.org/npi|123
		date @ 2012-09-17T08:00:00 to …
		value-quantity # 185.50 http://unitsofmeasure.org|[lb_av]|lbs
		combo-value-quantity # 185.50 http://unitsofmeasure.org|[lb_av]|lbs
		combo-value-quantity # 107 http://unitsofmeasure.org|mm[Hg]|mmHg
		combo-value-quantity # …60 http://unitsofmeasure.org|mm[Hg]|mmHg
		component-value-quantity # 107 http://unitsofmeasure.org|mm[Hg]|mmHg
		component-value-quantity # …60 http://unitsofmeasure.org|mm[Hg]|mmHg`)
}

func TestIndexExplanationOfBenefit(t *testing.T) {
	wantLines(t, indexed(t, explanationOfBenefit), `
		identifier = http://www.BenefitsInc.com/fhir/explanationofbenefit|987654321
		status = http://hl7.org/fhir/explanationofbenefit-status|active
		care-team -> Practitioner/example
		claim -> Claim/100150
		coverage -> Coverage/9876B1
		encounter -> Encounter/e1
		enterer -> Practitioner/1
		facility -> Location/1
		patient -> Patient/pat1
		provider -> Practitioner/1
		disposition ~ claim settled as per contract (Claim settled as per contract.)
		created @ 2014-08-16T00:00:00 to 2014-08-16T23:59:59.999999`)
}

// One resource for each kind of value the three above do not have.
func TestIndexValues(t *testing.T) {
	for name, r := range map[string]struct{ resource, want string }{
		"an empty resource": {`{"resourceType":"Patient"}`, `deceased = |false`},
		"values that cannot be indexed": {
			`{"resourceType":"Patient","birthDate":"1974-13-01","identifier":[{"use":"usual"},7,null,"x"],"name":"Peter",
			"gender":3,"active":"yes","managingOrganization":{"reference":7},"generalPractitioner":[{"display":"me"}],"telecom":{"value":4},"address":[[{"city":"x"}]]}`,
			`active = |yes
			 deceased = |false
			 address ~ x (x)
			 address-city ~ x (x)`,
		},
		"nulls beside extensions": {
			`{"resourceType":"Patient","name":[{"given":[null,"Jim"],"_given":[{"id":"a"},null]}],"_birthDate":{"id":"x"}}`,
			`deceased = |false
			 given ~ jim (Jim)
			 name ~ jim (Jim)`,
		},
		"escapes": {
			`{"resourceType":"Patient","name":[{"text":"J\u00f6rg \"B\""}]}`,
			`deceased = |false
			 name ~ jorg b (Jörg "B")
			 name ~ b ()`,
		},
		"deceased false": {`{"resourceType":"Patient","deceasedBoolean":false}`, `deceased = |false`},
		"a timing": {
			`{"resourceType":"ServiceRequest","occurrenceTiming":{"event":["2012-02","2011-05-01","2012-01-01"]}}`,
			`occurrence @ 2011-05-01T00:00:00 to 2012-02-29T23:59:59.999999`,
		},
		"a timing with bounds": {
			`{"resourceType":"ServiceRequest","occurrenceTiming":{"event":["2012-02"],"repeat":{"boundsPeriod":{"start":"2012-03-01"}}}}`,
			`occurrence @ 2012-02-01T00:00:00 to …`,
		},
		"a timing without dates":   {`{"resourceType":"ServiceRequest","occurrenceTiming":{"code":{"text":"BID"}}}`, ``},
		"a period without a start": {`{"resourceType":"Encounter","period":{"end":"2012"}}`, `date @ … to 2012-12-31T23:59:59.999999`},
		"a period with its ends exchanged": {
			`{"resourceType":"Encounter","period":{"start":"2012-02-29T23:00:00-05:00","end":"2012-02-29"}}`,
			`date @ 2012-02-29T23:59:59.999999 to 2012-03-01T04:00:00`,
		},
		"a range with its ends exchanged": {`{"resourceType":"Condition","onsetRange":{"low":{"value":50},"high":{"value":5e0,"unit":"a"}}}`, `onset-age # 5…50 ||a`},
		"an empty period":                 {`{"resourceType":"Encounter","period":{}}`, ``},
		"a decimal": {
			`{"resourceType":"RiskAssessment","prediction":[{"probabilityDecimal":1e-2},{"probabilityDecimal":0.50}]}`,
			`probability # 0.01
			 probability # 0.50`,
		},
		"a range for a number": {`{"resourceType":"RiskAssessment","prediction":[{"probabilityRange":{"low":{"value":0.2}}}]}`, `probability # 0.2…`},
		"an integer": {
			`{"resourceType":"MolecularSequence","variant":[{"start":22125503,"end":22125510}]}`,
			`variant-start # 22125503
			 variant-end # 22125510`,
		},
		"money": {`{"resourceType":"Invoice","totalGross":{"value":48.0,"currency":"EUR"}}`, `totalgross # 48.0 urn:iso:std:iso:4217|EUR|`},
		"an age": {
			`{"resourceType":"Condition","onsetAge":{"value":52,"unit":"years","system":"http://unitsofmeasure.org","code":"a"}}`,
			`onset-age # 52 http://unitsofmeasure.org|a|years`,
		},
		"a range of ages": {`{"resourceType":"Condition","onsetRange":{"low":{"value":40,"unit":"a"},"high":{"value":50,"unit":"a"}}}`, `onset-age # 40…50 ||a`},
		"a canonical": {
			`{"resourceType":"CarePlan","instantiatesCanonical":["http://example.org/PlanDefinition/p|2"]}`,
			`instantiates-canonical -> / 2 http://example.org/PlanDefinition/p`,
		},
		"a uri": {`{"resourceType":"ValueSet","url":"http://example.org/v"}`, `url : http://example.org/v`},
		"related artifacts": {
			`{"resourceType":"Library","relatedArtifact":[{"type":"depends-on","resource":"http://a"},{"type":"successor","resource":"http://b"},{"type":"citation","resource":"http://c"}]}`,
			`depends-on -> / http://a
			 successor -> / http://b`,
		},
		"an extension": {`{"resourceType":"Patient","extension":[{"url":"http://hl7.org/fhir/StructureDefinition/patient-mothersMaidenName","valueString":"Smith"}]}`, `deceased = |false`},
		"references decided by their text": {
			`{"resourceType":"Basic","subject":{"reference":"#c"},"contained":[{"resourceType":"Patient","id":"c"}]}`,
			`subject -> Patient/ #c
			 patient -> Patient/ #c`,
		},
		"a reference to another entry": {
			`{"resourceType":"Basic","subject":{"reference":"urn:uuid:c757873d-ec9a-4326-a141-556f43239520","type":"Patient"}}`,
			`subject -> Patient/ urn:uuid:c757873d-ec9a-4326-a141-556f43239520
			 patient -> Patient/ urn:uuid:c757873d-ec9a-4326-a141-556f43239520`,
		},
		"a document": {
			`{"resourceType":"Bundle","type":"document","identifier":{"value":"d"},"timestamp":"2012-01-01T00:00:00Z","entry":[{"resource":{"resourceType":"Composition","id":"c"}},
			{"resource":{"resourceType":"Patient","id":"p"}}]}`,
			`identifier = |d
			 type = http://hl7.org/fhir/bundle-type|document
			 composition -> Composition/c
			 timestamp @ 2012-01-01T00:00:00 to 2012-01-01T00:00:00.999999`,
		},
	} {
		t.Run(name, func(t *testing.T) { wantLines(t, indexed(t, r.resource), r.want) })
	}
}

func TestIndexHoldsNoReferenceOfOthers(t *testing.T) {
	// An extraction is used again: nothing of one resource may show in the next.
	big := `{"resourceType":"Patient","identifier":[` + strings.Repeat(`{"value":"a"},`, 10)
	for i := range 100 {
		big += fmt.Sprintf(`{"value":"v%d"},{"value":"v%d"},`, i, i)
	}
	big += `{"value":"end"}]}`
	if got := indexed(t, big); len(got) != 103 {
		t.Errorf("%d values, want 103", len(got))
	}
	if got := indexed(t, `{"resourceType":"Basic"}`); len(got) != 0 {
		t.Errorf("%q", got)
	}
}

// A date that does not repeat has one value, also in a resource that was not
// checked; others have all of theirs.
func TestIndexOfRepeatedDates(t *testing.T) {
	for text, want := range map[string]int{
		`{"resourceType":"Observation","effectiveDateTime":"2012","effectivePeriod":{"start":"2013"}}`:                                             1,
		`{"resourceType":"Observation","effectiveDateTime":["2012","2013"],"valueDateTime":"2014"}`:                                                2,
		`{"resourceType":"Patient","birthDate":["2012","2013"]}`:                                                                                   1,
		`{"resourceType":"CarePlan","activity":[{"detail":{"scheduledPeriod":{"start":"2012"}}},{"detail":{"scheduledPeriod":{"start":"2013"}}}]}`: 2,
	} {
		root := parse(t, text)
		index, err := r4.Index(resourceType(root), root, base)
		if err != nil || len(index.Dates) != want {
			t.Errorf("%s: %+v, want %d", text, index.Dates, want)
		}
	}
}
