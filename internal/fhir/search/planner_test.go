package search

import (
	"errors"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	"starling/internal/fhir"
	"starling/internal/fhir/definition"
)

const base = "http://localhost/fhir"

// r4 indexes all texts.
var r4 = func() *Search {
	s := New(definition.R4())
	s.UseTextSearch(TextAll)
	return s
}()

func TestPlan(t *testing.T) {
	for query, want := range map[string]string{
		"Patient?":                       "all",
		"Patient?identifier=":            "all",
		"Patient?_id=a":                  "id in a",
		"Patient?_id=a,b":                "id in a b",
		"Patient?_lastUpdated=ge2012-05": "updated ge 2012-05-01T00:00:00Z..2012-06-01T00:00:00Z",
		"Patient?_lastUpdated=2012-05-01T10:00:00%2B02:00":                      "updated eq 2012-05-01T08:00:00Z..2012-05-01T08:00:01Z",
		"Patient?identifier=http://acme.org/mrn%7C123":                          "identifier=http://acme.org/mrn|123",
		"Patient?identifier=123Ab":                                              "identifier=*|123Ab",
		"Patient?identifier=%7C123":                                             "identifier=|123",
		"Patient?identifier=http://acme.org/mrn|":                               "identifier=http://acme.org/mrn|*",
		`Patient?identifier=a\,b,c\|d\$e\\f`:                                    `or(identifier=*|a,b, identifier=*|c|d$e\f)`,
		"Patient?identifier=a%252Cb":                                            "identifier=*|a%2Cb",
		"Patient?identifier=a&identifier=b":                                     "and(identifier=*|a, identifier=*|b)",
		"Patient?gender=male":                                                   "gender=*|male",
		"Patient?gender:not=male":                                               "not(gender=*|male)",
		"Patient?gender:not=male,female":                                        "not(or(gender=*|male, gender=*|female))",
		"Patient?gender:missing=true":                                           "gender missing true",
		"Patient?active=true":                                                   "active=*|true",
		"Patient?email=Jim@example.org":                                         "email=*|Jim@example.org fold",
		"Patient?deceased=true":                                                 "deceased=*|true",
		"Observation?code=http://loinc.org|1234-5":                              "code=http://loinc.org|1234-5",
		"Observation?code=1234-5":                                               "or(code=*|1234-5, code=*|1234-5 fold)",
		"Observation?code=http://terminology.hl7.org/CodeSystem/v3-ActCode|amb": "code=http://terminology.hl7.org/CodeSystem/v3-ActCode|amb",
		"Observation?subject=Patient/1":                                         "subject -> Patient/1",
		"Observation?subject=http://localhost/fhir/Patient/1":                   "subject -> Patient/1",
		"Observation?subject=http://localhost/fhirs/Patient/1":                  "subject -> / http://localhost/fhirs/Patient/1",
		"Observation?subject=urn:uuid:c757873d-ec9a-4326-a141-556f43239520":     "subject -> / urn:uuid:c757873d-ec9a-4326-a141-556f43239520",
		"Observation?subject=1":                                                 "subject -> /1",
		"Observation?subject:Patient=1":                                         "subject -> Patient/1",
		"Observation?subject:Patient=Patient/1":                                 "subject -> Patient/1",
		"Observation?patient=1":                                                 "patient -> Patient/1",
		"Observation?patient:missing=false":                                     "patient missing false",
		"Observation?_tag=http://example.org|a":                                 "_tag=http://example.org|a",
		"Measure?depends-on=http://example.org/Library/l":                       "depends-on -> / http://example.org/Library/l",
		"Patient?name=O'Brien":                                                  "name starts obrien",
		"Patient?name:exact=O'Brien":                                            "name exactly O'Brien",
		"Patient?name:contains=Peter%20%20J":                                    "name contains peter j",
		"Patient?family=Mu%CC%88ller,Weiß":                                      "or(family starts muller, family starts weiss)",
		"Patient?birthdate=ge1974-12":                                           "birthdate ge 1974-12-01T00:00:00Z..1975-01-01T00:00:00Z",
		"Patient?birthdate=ne1974":                                              "birthdate ne 1974-01-01T00:00:00Z..1975-01-01T00:00:00Z",
		"Observation?date=sa2012-05-01T10:00":                                   "date sa 2012-05-01T10:00:00Z..2012-05-01T10:01:00Z",
		"RiskAssessment?probability=gt0.8":                                      "probability gt 0.8 [0.75 0.85]",
		"RiskAssessment?probability=1e2":                                        "probability eq 100 [95 105]",
		"MolecularSequence?variant-start=100":                                   "variant-start eq 100 [100 100]",
		"MolecularSequence?variant-start=1e2":                                   "variant-start eq 100 [95 105]",
		"MolecularSequence?variant-start=ap100":                                 "variant-start ap 100 [90.0 110.0]",
		"MolecularSequence?variant-start=ap0":                                   "variant-start ap 0 [-0.5 0.5]",
		"Observation?value-quantity=5.40|http://unitsofmeasure.org|mg":          "value-quantity eq 5.40 [5.395 5.405] http://unitsofmeasure.org|mg",
		"Observation?value-quantity=le5.4||mg":                                  "value-quantity le 5.4 [5.35 5.45] |mg",
		"Observation?value-quantity=-5":                                         "value-quantity eq -5 [-5.5 -4.5] |",
		"ValueSet?url=http://acme.org/fhir/ValueSet/123":                        "url : http://acme.org/fhir/ValueSet/123",
		"Observation?subject:Patient.name=a":                                    "subject -> Patient(name starts a)",
		"Observation?patient.organization.name=a":                               "patient -> Patient(organization -> Organization(name starts a))",
		"Patient?_has:Observation:patient:code=|a":                              "Observation(code=|a) -> by patient",
		"Observation?code-value-quantity=http://s|a$gt5":                        "and(code=http://s|a, value-quantity gt 5 [4.5 5.5] |)",
		"Observation?code-value-string=http://s|a$b":                            "code-value-string(=http://s|a,  starts b)",
		"Observation?combo-code-value-quantity=http://s|a$5":                    "or(and(code=http://s|a, value-quantity eq 5 [4.5 5.5] |), combo-code-value-quantity(=http://s|a,  eq 5 [4.5 5.5] |))",
		"Observation?component-code-value-concept:missing=true":                 "not(or(component-code-value-concept missing false))",
		"DocumentReference?relationship=DocumentReference/1$http://hl7.org/fhir/document-relationship-type|replaces": "relationship(-> DocumentReference/1, =http://hl7.org/fhir/document-relationship-type|replaces)",
		`Patient?_filter=name co "O'B\"r" and (birthdate ge 2014 or not(gender eq male))`:                            "and(name contains ob r, or(birthdate ge 2014-01-01T00:00:00Z..2015-01-01T00:00:00Z, not(gender=*|male)))",
		`Patient?_filter=name ew a and birthdate po 2012`:                                                            "and(name ends a, birthdate ap 2012-01-01T00:00:00Z..2013-01-01T00:00:00Z)",
		`Observation?_filter=patient[name sw a and active eq true].organization.name sw b`:                           "patient -> Patient(and(and(name starts a, active=*|true), organization -> Organization(name starts b)))",
		"QuestionnaireResponse?questionnaire.title=a":                                                                "questionnaire -> canonical Questionnaire(title starts a)",
		"Questionnaire?_has:QuestionnaireResponse:questionnaire:status=a":                                            "QuestionnaireResponse(status=*|a) -> by canonical questionnaire",
		`Patient?_text=(Bone OR liver) and metastases`:                                                               "and(or(narrative bone.., narrative liver..), narrative metastases..)",
		`Patient?_content=Müller "van der, Berg" not (x OR y-z)`:                                                     "and(text muller.., text van der berg, not(or(text x.., text y z..)))",
		"Observation?code:text=Body%20Weight,x":                                                                      "or(code is called body weight, code is called x)",
		`Patient?_filter=organization.name sw a or identifier eq http://s|1,2`:                                       "or(organization -> Organization(name starts a), identifier=http://s|1,2)",
		`Observation?_filter=patient.name eq "A, b" and value-quantity gt 5.4 and code pr false`:                     "and(and(patient -> Patient(name exactly A, b), value-quantity gt 5.4 [5.35 5.45] |), code missing true)",
		`Patient?_filter=name ne a and _lastUpdated ge 2014 and _id eq 7`:                                            "and(and(not(name exactly a), updated ge 2014-01-01T00:00:00Z..2015-01-01T00:00:00Z), id in 7)",
		"Patient?_list=7":                                  "List(id in 7) -> by item",
		"Observation?subject:Patient.name=":                "all",
		"Patient?_profile=http://acme.org/p":               "_profile : http://acme.org/p",
		"Patient?_format=json&_pretty=true&_elements=name": "all",
	} {
		got, err := plan(query, true)
		if err != nil {
			t.Errorf("%s: %v", query, err)
			continue
		}
		if got := show(got.Criteria); got != want {
			t.Errorf("%s: %s, want %s", query, got, want)
		}
	}
}

func plan(query string, strict bool) (*fhir.SearchQuery, error) {
	types, raw, _ := strings.Cut(query, "?")
	var list []fhir.ResourceType
	for _, t := range strings.Split(types, ",") {
		list = append(list, fhir.ResourceType(t))
	}
	q, _, err := r4.Plan(list, raw, strict, base)
	return q, err
}

// Each of these is refused as invalid, whatever the handling, and the
// parameter is named.
func TestPlanRefuses(t *testing.T) {
	for query, code := range map[string]fhir.IssueType{
		"Patient?identifier:above=a":                                 fhir.IssueNotSupported,
		"Patient?identifier:exact=a":                                 fhir.IssueNotSupported,
		"Patient?identifier:missing=maybe":                           fhir.IssueValue,
		"Patient?identifier=|":                                       fhir.IssueValue,
		"Patient?identifier=a|b|c":                                   fhir.IssueValue,
		"Patient?active=maybe":                                       fhir.IssueValue,
		"Patient?active=http://x|true":                               fhir.IssueValue,
		"Patient?_id:not=a":                                          fhir.IssueNotSupported,
		"Patient?_lastUpdated=yesterday":                             fhir.IssueValue,
		"Patient?_count=-1":                                          fhir.IssueValue,
		"Patient?_count=ten":                                         fhir.IssueValue,
		"Patient?_count=1&_count=2":                                  fhir.IssueInvalid,
		"Patient?_total=some":                                        fhir.IssueValue,
		"Patient?_summary=some":                                      fhir.IssueValue,
		"Patient?_sort=-colour":                                      fhir.IssueValue,
		"Patient?_sort=_count":                                       fhir.IssueValue,
		"Patient?_sort=_has":                                         fhir.IssueValue,
		"Patient?_sort=_list":                                        fhir.IssueValue,
		"Observation?_sort=code-value-quantity":                      fhir.IssueNotSupported,
		"Patient?_sort:asc=name":                                     fhir.IssueNotSupported,
		"Patient?_sort=name&_sort=-_id":                              fhir.IssueInvalid,
		"Patient?_include=Patient":                                   fhir.IssueValue,
		"Patient?_include=Nobody:link":                               fhir.IssueValue,
		"Patient?_include=Patient:name":                              fhir.IssueValue,
		"Patient?_include=Patient:organization:Patient":              fhir.IssueValue,
		"Patient?_include=Patient:link:Nobody":                       fhir.IssueValue,
		"Patient?_include:all=Patient:link":                          fhir.IssueNotSupported,
		"Patient?_revinclude=Observation:subject:a:b":                fhir.IssueValue,
		"Patient?_containedType=both":                                fhir.IssueValue,
		"Patient?_has:Observation:subject=a":                         fhir.IssueNotSupported,
		"Patient?_has:Observation:code:code=a":                       fhir.IssueNotSupported,
		"Patient?_has:Nobody:patient:code=a":                         fhir.IssueNotSupported,
		"Patient?_has:Observation:encounter:code=a":                  fhir.IssueNotSupported,
		"Patient?_has:Observation:patient:nothing=a":                 fhir.IssueNotSupported,
		"Observation?code.name=a":                                    fhir.IssueNotSupported,
		"Observation?subject:Practitioner.name=a":                    fhir.IssueNotSupported,
		"Observation?subject.nothing=a":                              fhir.IssueNotSupported,
		"Observation?subject:Patient.birthdate=a":                    fhir.IssueValue,
		"Provenance?target.target.target.target.target.identifier=a": fhir.IssueTooCostly,
		"Measure?depends-on:Patient.name=a":                          fhir.IssueNotSupported,
		"Patient?link:Patient.link:Patient.link:Patient.link:Patient.link:Patient.link:Patient.link:Patient.link:Patient.link:Patient._id=a": fhir.IssueTooCostly,
		"Patient?_text:exact=a":                   fhir.IssueNotSupported,
		"Patient?_text=--":                        fhir.IssueValue,
		"Patient?_text=(a":                        fhir.IssueValue,
		"Patient?_text=a)":                        fhir.IssueValue,
		"Patient?_text=a%20or":                    fhir.IssueValue,
		"Patient?_text=not":                       fhir.IssueValue,
		`Patient?_content="a`:                     fhir.IssueValue,
		"Patient?_contained=yes":                  fhir.IssueValue,
		"Patient?_contained=true&_contained=both": fhir.IssueInvalid,
		"Patient?_contained=true&_containedType=contained&_sort=name":                      fhir.IssueNotSupported,
		"Patient?_contained=true&_containedType=contained&_revinclude=Observation:patient": fhir.IssueNotSupported,
		"Patient?_contained=both&_text=a":                                                  fhir.IssueNotSupported,
		"Patient?_contained=true&_has:Observation:patient:code=a":                          fhir.IssueNotSupported,
		"Patient,Group?_contained=true&_containedType=contained&_id=a":                     fhir.IssueNotSupported,
		"Patient?phonetic=a":                             fhir.IssueNotSupported,
		"Patient?organization.size=a":                    fhir.IssueNotSupported,
		"Observation?subject:Nobody=1":                   fhir.IssueNotSupported,
		"Observation?subject:Patient=Group/1":            fhir.IssueValue,
		"Patient?identifier:of-type=a|b":                 fhir.IssueValue,
		"Patient?gender:of-type=a|b|c":                   fhir.IssueNotSupported,
		"Observation?subject:identifier=a|b|c":           fhir.IssueValue,
		"ValueSet?url:below=urn:a":                       fhir.IssueValue,
		"Patient?_profile:below=urn:x":                   fhir.IssueValue,
		"Patient?gender:text=male":                       fhir.IssueNotSupported,
		"Observation?code:text=--":                       fhir.IssueValue,
		"Patient?link:below=1":                           fhir.IssueNotSupported,
		"Patient?organization:below=http://x/Patient/1":  fhir.IssueValue,
		"Patient?organization:below=Patient/1":           fhir.IssueValue,
		"Measure?depends-on:above=http://x":              fhir.IssueNotSupported,
		"Measure?depends-on:below=http://x|1":            fhir.IssueNotSupported,
		"Location?near=91|0":                             fhir.IssueValue,
		"Location?near=1|2|3|kg":                         fhir.IssueValue,
		"Observation?subject=Nobody/1":                   fhir.IssueValue,
		"Observation?subject=%23p":                       fhir.IssueValue,
		"Observation?code-value-quantity=a$b":            fhir.IssueValue,
		"Observation?code-value-quantity=a":              fhir.IssueValue,
		"Observation?code-value-quantity=a$1$2":          fhir.IssueValue,
		"Observation?code-value-quantity=a$":             fhir.IssueValue,
		"Observation?code-value-quantity=http://s%7C$1":  fhir.IssueValue,
		"Observation?code-value-quantity:not=a$1":        fhir.IssueNotSupported,
		"Observation?component-code-value-quantity=a$x1": fhir.IssueValue,
		"Location?near=1":                                fhir.IssueValue,

		"Patient,Observation?code=a":              fhir.IssueNotSupported,
		"Patient?name=--":                         fhir.IssueValue,
		"Patient?name:above=a":                    fhir.IssueNotSupported,
		"Patient?birthdate=1974-13":               fhir.IssueValue,
		"Patient?birthdate=xx1974":                fhir.IssueValue,
		"Patient?birthdate=ge":                    fhir.IssueValue,
		"Patient?birthdate:exact=1974":            fhir.IssueNotSupported,
		"RiskAssessment?probability=many":         fhir.IssueValue,
		"RiskAssessment?probability=gt":           fhir.IssueValue,
		"Observation?value-quantity=5|mg":         fhir.IssueValue,
		"Observation?value-quantity=5|http://x|":  fhir.IssueValue,
		"Observation?value-quantity=|http://x|mg": fhir.IssueValue,

		"Patient?_filter=name":                       fhir.IssueValue,
		"Patient?_filter=name eq":                    fhir.IssueValue,
		"Patient?_filter=(name eq a":                 fhir.IssueValue,
		"Patient?_filter=name eq a b":                fhir.IssueValue,
		`Patient?_filter=name eq "a`:                 fhir.IssueValue,
		"Patient?_filter=name gt a":                  fhir.IssueValue,
		"Patient?_filter=colour eq a":                fhir.IssueValue,
		"Patient?_filter=name:exact eq a":            fhir.IssueValue,
		"Patient?_filter=link[name eq a].other eq b": fhir.IssueValue,
		"Patient?_filter=name[name eq a].other eq b": fhir.IssueValue,
		"Patient?_filter=link[name eq a] eq b":       fhir.IssueValue,
		"Patient?_filter=link[name eq a.name eq b":   fhir.IssueValue,
		"Patient?_filter=link[].name eq b":           fhir.IssueValue,
		"Patient?_filter=birthdate ew 2012":          fhir.IssueValue,
		"Patient?_filter=name po 2012":               fhir.IssueValue,
		"Patient?_filter=birthdate ge x":             fhir.IssueValue,
		"Patient?identifier=%zz":                     fhir.IssueInvalid,
		"Patient?identifier=%00":                     fhir.IssueInvalid,
		"Patient?identifier=%ff":                     fhir.IssueInvalid,
	} {
		_, err := plan(query, false)
		var refused *fhir.Error
		if !errors.As(err, &refused) || refused.Kind != fhir.KindInvalid || refused.Issues[0].Code != code {
			t.Errorf("%s: %v, want %s", query, err, code)
			continue
		}
		_, raw, _ := strings.Cut(query, "?")
		name, _, _ := strings.Cut(raw, "=")
		if !strings.Contains(refused.Issues[0].Diagnostics, "'"+name) {
			t.Errorf("%s: %q does not name the parameter", query, refused.Issues[0].Diagnostics)
		}
	}
}

func TestPlanUnknownParameter(t *testing.T) {
	_, unknown, err := r4.Plan([]fhir.ResourceType{"Patient"}, "colour=red&active=true&shape:exact=round", false, base)
	if err != nil || !slices.Equal(unknown, []string{"colour", "shape:exact"}) {
		t.Errorf("lenient: %q, %v", unknown, err)
	}
	if _, err := plan("Patient?colour=red", true); err == nil || !strings.Contains(err.Error(), "'colour'") {
		t.Errorf("strict: %v", err)
	}
}

func TestPlanResult(t *testing.T) {
	for query, want := range map[string]fhir.SearchQuery{
		"":                         {Count: 50},
		"_count=":                  {Count: 50},
		"_count=7":                 {Count: 7},
		"_count=5000":              {Count: 1000},
		"_count=0":                 {Count: 0, Total: fhir.TotalAccurate},
		"_count=0&_total=none":     {Count: 0, Total: fhir.TotalAccurate},
		"_summary=count":           {Count: 0, Total: fhir.TotalAccurate},
		"_summary=count&_count=10": {Count: 0, Total: fhir.TotalAccurate},
		"_count=10&_summary=count": {Count: 0, Total: fhir.TotalAccurate},
		"_summary=true":            {Count: 50},
		"_total=estimate":          {Count: 50, Total: fhir.TotalEstimate},
		"_total=accurate&_count=1": {Count: 1, Total: fhir.TotalAccurate},
	} {
		got, err := plan("Patient?"+query, true)
		if err != nil || got.Count != want.Count || got.Total != want.Total || got.Criteria != nil || !slices.Equal(got.Types, []fhir.ResourceType{"Patient"}) {
			t.Errorf("%s: %+v, %v, want %+v", query, got, err, want)
		}
	}
}

func TestPlanApproximateDate(t *testing.T) {
	s := New(definition.R4())
	s.now = func() time.Time { return time.Date(2012, 1, 11, 0, 0, 0, 0, time.UTC) }
	q, _, err := s.Plan([]fhir.ResourceType{"Patient"}, "birthdate=ap2012-01-01", true, base)
	if want := "birthdate ap 2011-12-31T00:00:00Z..2012-01-03T00:00:00Z"; err != nil || show(q.Criteria) != want {
		t.Errorf("%s, %v, want %s", show(q.Criteria), err, want)
	}
	q, _, err = s.Plan([]fhir.ResourceType{"Patient"}, "_lastUpdated=ap2012-01-01", true, base)
	if want := "updated eq 2011-12-31T00:00:00Z..2012-01-03T00:00:00Z"; err != nil || show(q.Criteria) != want {
		t.Errorf("%s, %v, want %s", show(q.Criteria), err, want)
	}
}

func TestPlanConditional(t *testing.T) {
	for query, want := range map[string]string{
		"identifier=http://acme.org|1":                    "identifier=http://acme.org|1",
		"?identifier=http://acme.org|1&_format=json":      "identifier=http://acme.org|1",
		"active=true&general-practitioner=Practitioner/1": "and(active=*|true, general-practitioner -> Practitioner/1)",
	} {
		got, err := r4.PlanConditional("Patient", query, base)
		if err != nil || show(got) != want {
			t.Errorf("%s: %s, %v, want %s", query, show(got), err, want)
		}
	}
	for _, query := range []string{
		"", "?", "&&", "identifier=", "identifier=,", "identifier=a&active=", "identifier=a&colour=red", "_count=1", "_format=json",
		"identifier=a&_sort=name", "identifier=a&_summary=count", "identifier:above=a", "name=a%zz",
	} {
		got, err := r4.PlanConditional("Patient", query, base)
		var refused *fhir.Error
		if !errors.As(err, &refused) || refused.Kind != fhir.KindInvalid {
			t.Errorf("%q: %s, %v", query, show(got), err)
		}
	}
}

// Every parameter of every type is either served, and then Plan takes it, or
// refused.
func TestEveryParameterIsServedOrRefused(t *testing.T) {
	values := map[string]string{"token": "true", "reference": "http://example.org/x", "string": "a", "date": "2012", "number": "1", "quantity": "1", "uri": "http://a", "special": "1|2"}
	served, refused := 0, 0
	for _, typ := range definition.R4().ResourceTypes() {
		list := r4.Served(typ)
		for _, d := range definition.R4().SearchParameters(typ) {
			value := values[d.Type]
			if value == "" {
				value = "a"
			}
			if d.Code == "_filter" {
				value = "_id eq a"
			}
			if d.Type == "composite" {
				var parts []string
				for _, component := range d.Components {
					for _, part := range definition.R4().SearchParameters(typ) {
						if part.URL == component.Definition {
							parts = append(parts, values[part.Type])
						}
					}
				}
				value = strings.Join(parts, "$")
			}
			_, unknown, err := r4.Plan([]fhir.ResourceType{typ}, d.Code+"="+url.QueryEscape(value), false, base)
			if len(unknown) > 0 {
				t.Errorf("%s.%s is unknown", typ, d.Code)
			}
			if slices.Contains(list, d) {
				served++
				if err != nil {
					t.Errorf("%s.%s: %v", typ, d.Code, err)
				}
			} else {
				refused++
				if err == nil {
					t.Errorf("%s.%s is served and not listed", typ, d.Code)
				}
			}
		}
	}
	t.Logf("%d served, %d refused", served, refused)
}

func FuzzPlan(f *testing.F) {
	for _, query := range []string{
		"identifier=a|b,c&active:not=true", "subject:Patient=1&_lastUpdated=ge2012-01-01T00:00Z", `code=a\,b\|c\\&_count=0`, "%3a=%2c&_has:A:b:c=d&x.y:z=1",
		`_filter=name co "a\"" and (birthdate ge 2014 or not(gender eq male))`, "subject:Patient._has:Group:member:_id=1&component-code-value-quantity=a$5,b|c$d",
		"_has:Observation:patient:_has:AuditEvent:entity:agent.name=a&identifier:of-type=a|b|c&url:below=http://a/b&near=1|2|3|km",
		`_text=(bone OR "a b") and not x&_content=a\,b or (c (d))`, `code:text=a,b c&_filter=subject[name ew a or birthdate po 2012].organization.name co "]"&subject:below=Location/1&_profile:below=http://a/b`,
		"value-quantity=ap5.4|http://unitsofmeasure.org|mg&date=sa2012&value-string:exact=a&probability=1e2",
	} {
		f.Add(query, true)
	}
	f.Fuzz(func(t *testing.T, query string, strict bool) {
		for _, typ := range []fhir.ResourceType{"Patient", "Observation"} {
			q, _, err := r4.Plan([]fhir.ResourceType{typ}, query, strict, base)
			var refused *fhir.Error
			if err != nil && (!errors.As(err, &refused) || refused.Kind != fhir.KindInvalid) {
				t.Fatalf("%q: %v", query, err)
			}
			if err == nil && (q.Count < 0 || q.Count > maxCount) {
				t.Fatalf("%q: count %d", query, q.Count)
			}
			c, err := r4.PlanConditional(typ, query, base)
			if (c == nil) == (err == nil) {
				t.Fatalf("%q: %v, %v", query, c, err)
			}
		}
	})
}
