package search

import (
	"testing"
	"unicode"

	"starling/internal/fhir/element"
)

var europe = &unicode.RangeTable{R16: []unicode.Range16{{Lo: 0, Hi: 0xff, Stride: 1}, {Lo: 0x100, Hi: endOfLatin - 1, Stride: 1}}, LatinOffset: 1}

func parse(tb testing.TB, text string) element.Node {
	tb.Helper()
	tree, err := element.Parse([]byte(text), element.DefaultLimits)
	if err != nil {
		tb.Fatal(err)
	}
	return tree.Root()
}

const observation = `{
  "resourceType": "Observation", "id": "bp",
  "meta": {"profile": ["http://hl7.org/fhir/StructureDefinition/vitalsigns|4.0.1"], "source": "http://example.org/feed",
    "tag": [{"system": "http://example.org/tags", "code": "T1"}]},
  "identifier": [{"system": "urn:ietf:rfc:3986", "value": "urn:uuid:187e0c12-8dd2-67e2-99b2-bf273c878281"}],
  "basedOn": [{"reference": "ServiceRequest/req/_history/3"}],
  "status": "final",
  "category": [{"coding": [{"system": "http://terminology.hl7.org/CodeSystem/observation-category", "code": "vital-signs", "display": "Vital Signs"}]}],
  "code": {"coding": [
    {"system": "http://loinc.org", "code": "85354-9", "display": "Blood pressure panel with all children optional"},
    {"code": "bp"}], "text": "Blood pressure systolic & diastolic"},
  "subject": {"reference": "http://localhost/fhir/Patient/example"},
  "encounter": {"reference": "http://elsewhere.example.org/r4/Encounter/e1/_history/2"},
  "effectivePeriod": {"start": "2012-09-17T10:00:00+02:00"},
  "issued": "2012-09-17T10:05:00.5Z",
  "performer": [{"reference": "#p1"}, {"type": "Practitioner", "identifier": {"system": "http://example.org/npi", "value": "123"}}, {"display": "Somebody"}],
  "contained": [{"resourceType": "Practitioner", "id": "p1"}],
  "valueQuantity": {"value": 185.50, "unit": "lbs", "system": "http://unitsofmeasure.org", "code": "[lb_av]"},
  "bodySite": {"coding": [{"system": "http://snomed.info/sct", "code": "368209003", "display": "Right arm"}]},
  "component": [
    {"code": {"coding": [{"system": "http://loinc.org", "code": "8480-6", "display": "Systolic blood pressure"},
       {"system": "http://snomed.info/sct", "code": "271649006"}]},
     "valueQuantity": {"value": 107, "unit": "mmHg", "system": "http://unitsofmeasure.org", "code": "mm[Hg]"}},
    {"code": {"coding": [{"system": "http://loinc.org", "code": "8462-4", "display": "Diastolic blood pressure"}]},
     "valueQuantity": {"value": 60, "comparator": "<", "unit": "mmHg", "system": "http://unitsofmeasure.org", "code": "mm[Hg]"}}]
}`

const patient = `{
  "resourceType": "Patient", "id": "p",
  "identifier": [{"use": "usual", "type": {"coding": [{"system": "http://terminology.hl7.org/CodeSystem/v2-0203", "code": "MR"}]},
      "system": "urn:oid:1.2.36.146.595.217.0.1", "value": "12345Ab", "period": {"start": "2001-05-06"}},
    {"system": "http://example.org/only-system"}, {"value": "only-value"}],
  "active": true,
  "name": [
    {"use": "official", "family": "van der Bérg-Smith", "given": ["Peter", "James"], "prefix": ["Dr."], "suffix": ["PhD"]},
    {"use": "usual", "given": ["Jim"]}, {"text": "Peter Windsor"}],
  "telecom": [{"use": "home"}, {"system": "phone", "value": "(03) 5555 6473", "use": "work"}, {"system": "email", "value": "Jim@Example.org"}],
  "gender": "male", "birthDate": "1974-12-25", "deceasedDateTime": "2015-02-14T13:42:00+10:00",
  "address": [{"use": "home", "line": ["534 Erewhon St", "Apt. 2"], "city": "PleasantVille", "district": "Rainbow", "state": "Vic", "postalCode": "3999",
    "country": "AU", "period": {"start": "1974-12-25"}}],
  "communication": [{"language": {"coding": [{"system": "urn:ietf:bcp:47", "code": "nl"}]}}],
  "generalPractitioner": [{"reference": "Practitioner/gp1"}],
  "managingOrganization": {"reference": "Organization/1"},
  "link": [{"other": {"reference": "Patient/pat2"}, "type": "seealso"}]
}`

const explanationOfBenefit = `{
  "resourceType": "ExplanationOfBenefit", "id": "EB3500",
  "identifier": [{"system": "http://www.BenefitsInc.com/fhir/explanationofbenefit", "value": "987654321"}],
  "status": "active", "type": {"coding": [{"system": "http://terminology.hl7.org/CodeSystem/claim-type", "code": "oral"}]},
  "use": "claim", "patient": {"reference": "Patient/pat1"}, "created": "2014-08-16",
  "enterer": {"reference": "Practitioner/1"}, "insurer": {"reference": "Organization/3"}, "provider": {"reference": "Practitioner/1"},
  "facility": {"reference": "Location/1"}, "claim": {"reference": "Claim/100150"}, "claimResponse": {"reference": "ClaimResponse/R3500"},
  "outcome": "complete", "disposition": "Claim settled as per contract.",
  "careTeam": [{"sequence": 1, "provider": {"reference": "Practitioner/example"}}],
  "insurance": [{"focal": true, "coverage": {"reference": "Coverage/9876B1"}}],
  "item": [{"sequence": 1, "encounter": [{"reference": "Encounter/e1"}], "careTeamSequence": [1],
    "productOrService": {"coding": [{"system": "http://terminology.hl7.org/CodeSystem/ex-USCLS", "code": "1205"}]},
    "servicedDate": "2014-08-16", "unitPrice": {"value": 135.57, "currency": "USD"}, "net": {"value": 135.57, "currency": "USD"},
    "adjudication": [{"category": {"coding": [{"code": "eligible"}]}, "amount": {"value": 120.00, "currency": "USD"}},
      {"category": {"coding": [{"code": "eligpercent"}]}, "value": 0.80}, {"category": {"coding": [{"code": "benefit"}]}, "amount": {"value": 96.00, "currency": "USD"}}]}],
  "total": [{"category": {"coding": [{"code": "submitted"}]}, "amount": {"value": 135.57, "currency": "USD"}}],
  "payment": {"type": {"coding": [{"system": "http://terminology.hl7.org/CodeSystem/ex-paymenttype", "code": "complete"}]}, "date": "2014-08-31",
    "amount": {"value": 96.00, "currency": "USD"}}
}`

// tester is a *testing.T or a *rapid.T.
type tester interface {
	Errorf(format string, args ...any)
	Fatal(args ...any)
}
