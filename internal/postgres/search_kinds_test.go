package postgres

import (
	"fmt"
	"math/rand/v2"
	"time"

	"starling/internal/fhir"
)

// searchKind is a kind of query, on a clinic of a number of patients.
type searchKind struct {
	name string
	// selective says that one of its criteria holds for few resources, however
	// many there are.
	selective bool
	query     func(random *rand.Rand, patients int) *fhir.SearchQuery
}

func searchFor(t fhir.ResourceType, criteria ...fhir.Criterion) *fhir.SearchQuery {
	query := &fhir.SearchQuery{Types: []fhir.ResourceType{t}, Count: 50}
	switch len(criteria) {
	case 0:
	case 1:
		query.Criteria = criteria[0]
	default:
		query.Criteria = fhir.And(criteria)
	}
	return query
}

// code is a code of whatever system, as a search without one is planned.
func code(param, value string) fhir.Criterion {
	return fhir.Or{fhir.Token{Param: param, Code: &value}, fhir.Token{Param: param, Code: &value, FoldCase: true}}
}

func coded(param, system, value string) fhir.Criterion {
	return fhir.Token{Param: param, System: &system, Code: &value}
}

func refers(param string, t fhir.ResourceType, id string) fhir.Criterion {
	return fhir.ReferenceTo{Param: param, Type: t, ID: id}
}

func dated(param string, prefix fhir.Prefix, low, high time.Time) fhir.Criterion {
	return fhir.Date{Param: param, Prefix: prefix, Range: fhir.TimeRange{Low: low, High: high}}
}

func inYear(param string, prefix fhir.Prefix, year int) fhir.Criterion {
	low := time.Date(year, 1, 1, 0, 0, 0, 0, time.UTC)
	return dated(param, prefix, low, low.AddDate(1, 0, 0))
}

func amount(param string, prefix fhir.Prefix, value, unit string) fhir.Criterion {
	q := fhir.Quantity{Param: param, Prefix: prefix, Value: value, Low: value, High: value}
	if unit != "" {
		q.System, q.Code = ucum, unit
		q.Canonical = &fhir.CanonicalQuantity{Value: value, Low: value, High: value, Unit: "canonical " + unit}
	}
	return q
}

func sortedBy(query *fhir.SearchQuery, keys ...fhir.SortKey) *fhir.SearchQuery {
	query.Sort = keys
	return query
}

func counted(query *fhir.SearchQuery) *fhir.SearchQuery {
	query.Count, query.Total = 0, fhir.TotalAccurate
	return query
}

func patientCriterion(random *rand.Rand, patients int) fhir.Criterion {
	return refers("patient", "Patient", clinicPatient(random.IntN(patients)))
}

func oneDay(random *rand.Rand) fhir.Criterion {
	day := clinicDay(random.IntN(5400))
	return dated("date", fhir.PrefixEqual, day, day.AddDate(0, 0, 1))
}

var latestFirst = fhir.SortKey{Kind: fhir.SortDate, Param: "date", Descending: true, Single: true}

// searchKinds are all kinds of queries: of each type of parameter alone and
// together with others, joins, sorts, totals and searches of many types.
var searchKinds = []searchKind{
	{"string", true, func(r *rand.Rand, n int) *fhir.SearchQuery {
		return searchFor("Patient", fhir.String{Param: "family", Value: clinicName(n/2 + r.IntN(n/2))})
	}},
	{"string exact", true, func(r *rand.Rand, n int) *fhir.SearchQuery {
		return searchFor("Patient", fhir.String{Param: "family", Value: clinicName(r.IntN(n)), Match: fhir.StringExact})
	}},
	{"string contains", false, func(r *rand.Rand, n int) *fhir.SearchQuery {
		return searchFor("Patient", fhir.String{Param: "family", Value: fmt.Sprint("ly", r.IntN(n)), Match: fhir.StringContains})
	}},
	{"string, common", false, func(r *rand.Rand, _ int) *fhir.SearchQuery {
		return searchFor("Observation", fhir.String{Param: "value-string", Value: "never"})
	}},
	{"date, a day", false, func(r *rand.Rand, _ int) *fhir.SearchQuery { return searchFor("Observation", oneDay(r)) }},
	{"date, from a year", false, func(r *rand.Rand, _ int) *fhir.SearchQuery {
		return searchFor("Observation", inYear("date", fhir.PrefixGreaterOrEqual, 2011+r.IntN(10)))
	}},
	{"date, a minute", true, func(r *rand.Rand, _ int) *fhir.SearchQuery {
		at := clinicDay(r.IntN(5400)).Add(time.Duration(r.IntN(1440)) * time.Minute)
		return searchFor("Observation", dated("date", fhir.PrefixEqual, at, at.Add(time.Minute)))
	}},
	{"birthdate", false, func(r *rand.Rand, _ int) *fhir.SearchQuery {
		day := clinicDay(r.IntN(5400)).AddDate(-60, 0, 0)
		return searchFor("Patient", dated("birthdate", fhir.PrefixEqual, day, day.AddDate(0, 0, 1)))
	}},
	{"token", true, func(r *rand.Rand, n int) *fhir.SearchQuery {
		return searchFor("Patient", coded("identifier", "urn:mrn", fmt.Sprint("mrn-", r.IntN(n))))
	}},
	{"token, common", false, func(r *rand.Rand, _ int) *fhir.SearchQuery {
		return searchFor("Observation", code("code", clinicCodes[r.IntN(len(clinicCodes))].code))
	}},
	{"token, of a list", false, func(r *rand.Rand, _ int) *fhir.SearchQuery {
		return searchFor("Observation", fhir.TokenIn{Param: "code", Codes: []fhir.TokenValue{{System: loinc, Code: "8480-6"}, {System: loinc, Code: "2339-0"}, {System: loinc, Code: "6299-2"}}})
	}},
	{"token, all of a system", false, func(*rand.Rand, int) *fhir.SearchQuery {
		system := loinc
		return searchFor("Observation", fhir.Token{Param: "code", System: &system})
	}},
	{"reference", true, func(r *rand.Rand, n int) *fhir.SearchQuery { return searchFor("Observation", patientCriterion(r, n)) }},
	{"reference by id", true, func(r *rand.Rand, n int) *fhir.SearchQuery {
		return searchFor("Observation", refers("subject", "", clinicPatient(r.IntN(n))))
	}},
	{"reference, common", false, func(r *rand.Rand, n int) *fhir.SearchQuery {
		return searchFor("Observation", refers("performer", "Practitioner", "practitioner-7"))
	}},
	{"quantity", false, func(r *rand.Rand, _ int) *fhir.SearchQuery {
		return searchFor("Observation", amount("value-quantity", fhir.PrefixGreater, fmt.Sprint(95+r.IntN(20)), "mg/dL"))
	}},
	{"quantity, none", true, func(r *rand.Rand, _ int) *fhir.SearchQuery {
		return searchFor("Observation", amount("value-quantity", fhir.PrefixGreater, fmt.Sprint(9500+r.IntN(20)), ""))
	}},
	{"number", false, func(r *rand.Rand, _ int) *fhir.SearchQuery {
		return searchFor("RiskAssessment", fhir.Number{Param: "probability", Prefix: fhir.PrefixGreater, Value: fmt.Sprint("0.99", r.IntN(9))})
	}},
	{"uri", true, func(r *rand.Rand, n int) *fhir.SearchQuery {
		p := r.IntN(n)
		return searchFor("CarePlan", fhir.URI{Param: "instantiates-uri", URI: fmt.Sprintf("http://example.org/plans/%d/%d", p%50, p)})
	}},
	{"uri below", false, func(r *rand.Rand, _ int) *fhir.SearchQuery {
		return searchFor("CarePlan", fhir.URIBelow{Param: "instantiates-uri", URI: fmt.Sprintf("http://example.org/plans/%d", r.IntN(50))})
	}},
	{"composite", false, func(r *rand.Rand, _ int) *fhir.SearchQuery {
		systolic, system := "8480-6", loinc
		return searchFor("Observation", fhir.Composite{Param: "component-code-value-quantity", Parts: []fhir.Criterion{
			fhir.Token{System: &system, Code: &systolic}, amount("", fhir.PrefixGreaterOrEqual, fmt.Sprint(140+r.IntN(8)), "mm[Hg]"),
		}})
	}},
	{"composite of the resource", false, func(r *rand.Rand, _ int) *fhir.SearchQuery {
		return searchFor("Observation", coded("code", loinc, "2339-0"), amount("value-quantity", fhir.PrefixGreater, "110", "mg/dL"))
	}},
	{"id", true, func(r *rand.Rand, n int) *fhir.SearchQuery {
		return searchFor("Patient", fhir.IDIn{clinicPatient(r.IntN(n)), clinicPatient(r.IntN(n))})
	}},
	{"lastUpdated", false, func(r *rand.Rand, n int) *fhir.SearchQuery {
		at := time.Date(2026, 1, 1, 0, 0, r.IntN(100*n), 0, time.UTC)
		return searchFor("Observation", fhir.Updated{Prefix: fhir.PrefixEqual, Range: fhir.TimeRange{Low: at, High: at.Add(10 * time.Minute)}})
	}},
	{"lastUpdated, from", false, func(r *rand.Rand, n int) *fhir.SearchQuery {
		at := time.Date(2026, 1, 1, 0, 0, 90*n+r.IntN(10*n), 0, time.UTC)
		return searchFor("Observation", fhir.Updated{Prefix: fhir.PrefixGreaterOrEqual, Range: fhir.TimeRange{Low: at, High: at.Add(time.Second)}})
	}},
	{"missing", false, func(*rand.Rand, int) *fhir.SearchQuery {
		return searchFor("Observation", fhir.Missing{Param: "value-quantity", Missing: true})
	}},
	{"missing, never", false, func(*rand.Rand, int) *fhir.SearchQuery {
		return searchFor("Observation", fhir.Missing{Param: "subject", Missing: true})
	}},
	{"not", false, func(*rand.Rand, int) *fhir.SearchQuery {
		return searchFor("Observation", fhir.Not{Criterion: code("category", "vital-signs")})
	}},
	{"not, of a patient", true, func(r *rand.Rand, n int) *fhir.SearchQuery {
		return searchFor("Observation", patientCriterion(r, n), fhir.Not{Criterion: code("category", "vital-signs")})
	}},
	{"filter", true, func(r *rand.Rand, n int) *fhir.SearchQuery {
		return searchFor("Observation", fhir.Or{
			fhir.And{patientCriterion(r, n), inYear("date", fhir.PrefixGreater, 2015)},
			fhir.And{patientCriterion(r, n), amount("value-quantity", fhir.PrefixGreater, "100", "")},
		})
	}},
	{"token, date", false, func(r *rand.Rand, _ int) *fhir.SearchQuery {
		return searchFor("Observation", code("code", clinicCodes[r.IntN(len(clinicCodes))].code), oneDay(r))
	}},
	{"token, rare date", true, func(r *rand.Rand, _ int) *fhir.SearchQuery {
		at := clinicDay(r.IntN(5400)).Add(time.Duration(r.IntN(1440)) * time.Minute)
		return searchFor("Observation", code("status", "final"), dated("date", fhir.PrefixEqual, at, at.Add(time.Minute)))
	}},
	{"token, quantity", false, func(r *rand.Rand, _ int) *fhir.SearchQuery {
		return searchFor("Observation", code("code", "8867-4"), amount("value-quantity", fhir.PrefixGreater, "80", "/min"))
	}},
	{"token, quantity, none", false, func(r *rand.Rand, _ int) *fhir.SearchQuery {
		return searchFor("Observation", code("code", "8867-4"), amount("value-quantity", fhir.PrefixGreater, "180", "cm"))
	}},
	{"date, quantity", false, func(r *rand.Rand, _ int) *fhir.SearchQuery {
		return searchFor("Observation", inYear("date", fhir.PrefixEqual, 2012+r.IntN(8)), amount("value-quantity", fhir.PrefixGreater, "210", "cm"))
	}},
	{"reference, date, by date", true, func(r *rand.Rand, n int) *fhir.SearchQuery {
		return sortedBy(searchFor("Observation", patientCriterion(r, n), inYear("date", fhir.PrefixGreaterOrEqual, 2015)), fhir.SortKey{Kind: fhir.SortDate, Param: "date"})
	}},
	{"patient, category, date, latest first", true, func(r *rand.Rand, n int) *fhir.SearchQuery {
		return sortedBy(searchFor("Observation", patientCriterion(r, n), code("category", "laboratory"), inYear("date", fhir.PrefixGreaterOrEqual, 2015)), latestFirst)
	}},
	{"patient, code, quantity", true, func(r *rand.Rand, n int) *fhir.SearchQuery {
		return searchFor("Observation", patientCriterion(r, n), code("code", "8302-2"), amount("value-quantity", fhir.PrefixGreater, "150", "cm"))
	}},
	{"chain", true, func(r *rand.Rand, n int) *fhir.SearchQuery {
		return searchFor("Observation", fhir.Chain{Param: "patient", Type: "Patient", Criterion: fhir.String{Param: "family", Value: clinicName(n/2 + r.IntN(n/2))}})
	}},
	{"chain without a type", true, func(r *rand.Rand, n int) *fhir.SearchQuery {
		id := fhir.Token{Param: "identifier", Code: ref(fmt.Sprint("mrn-", r.IntN(n)))}
		return searchFor("Observation", fhir.Or{fhir.Chain{Param: "subject", Type: "Patient", Criterion: id}, fhir.Chain{Param: "subject", Type: "Group", Criterion: id}, fhir.Chain{Param: "subject", Type: "Device", Criterion: id}, fhir.Chain{Param: "subject", Type: "Location", Criterion: id}})
	}},
	{"chain of two", true, func(r *rand.Rand, n int) *fhir.SearchQuery {
		id := fhir.Token{Param: "identifier", Code: ref(fmt.Sprint("mrn-", r.IntN(n)))}
		return searchFor("Observation", fhir.Chain{Param: "encounter", Type: "Encounter", Criterion: fhir.Chain{Param: "patient", Type: "Patient", Criterion: id}})
	}},
	{"chain, common", false, func(*rand.Rand, int) *fhir.SearchQuery {
		return searchFor("Observation", fhir.Chain{Param: "patient", Type: "Patient", Criterion: code("gender", "male")})
	}},
	{"chain, token, date", true, func(r *rand.Rand, n int) *fhir.SearchQuery {
		return searchFor("Observation", fhir.Chain{Param: "patient", Type: "Patient", Criterion: fhir.String{Param: "family", Value: clinicName(n/2 + r.IntN(n/2))}},
			code("code", "8867-4"), inYear("date", fhir.PrefixGreaterOrEqual, 2012))
	}},
	{"has", false, func(r *rand.Rand, _ int) *fhir.SearchQuery {
		return searchFor("Patient", fhir.Has{Type: "Observation", Param: "patient", Criterion: oneDay(r)})
	}},
	{"has, rare", true, func(r *rand.Rand, n int) *fhir.SearchQuery {
		return searchFor("Patient", fhir.Has{Type: "CarePlan", Param: "subject", Criterion: fhir.URI{Param: "instantiates-uri", URI: fmt.Sprintf("http://example.org/plans/%d/%d", n/2%50, n/2)}})
	}},
	{"has, common", false, func(*rand.Rand, int) *fhir.SearchQuery {
		return searchFor("Patient", fhir.Has{Type: "Observation", Param: "patient", Criterion: code("code", "2339-0")})
	}},
	{"has, of a patient", true, func(r *rand.Rand, n int) *fhir.SearchQuery {
		return searchFor("Patient", fhir.Token{Param: "identifier", Code: ref(fmt.Sprint("mrn-", r.IntN(n)))}, fhir.Has{Type: "Observation", Param: "patient", Criterion: code("code", "2339-0")})
	}},
	{"has, nested", false, func(r *rand.Rand, _ int) *fhir.SearchQuery {
		return searchFor("Patient", fhir.Has{Type: "Encounter", Param: "patient", Criterion: fhir.Has{Type: "Observation", Param: "encounter", Criterion: oneDay(r)}})
	}},
	{"near", true, func(r *rand.Rand, _ int) *fhir.SearchQuery {
		return searchFor("Location", fhir.Near{Param: "near", Latitude: 42, Longitude: -71, Distance: 10000})
	}},
	{"all", false, func(*rand.Rand, int) *fhir.SearchQuery { return searchFor("Observation") }},
	{"all, by date", false, func(*rand.Rand, int) *fhir.SearchQuery { return sortedBy(searchFor("Observation"), latestFirst) }},
	{"all, by lastUpdated", false, func(*rand.Rand, int) *fhir.SearchQuery {
		return sortedBy(searchFor("Observation"), fhir.SortKey{Kind: fhir.SortUpdated, Descending: true})
	}},
	{"all, by id", false, func(*rand.Rand, int) *fhir.SearchQuery {
		return sortedBy(searchFor("Observation"), fhir.SortKey{Kind: fhir.SortID})
	}},
	{"all, by string", false, func(*rand.Rand, int) *fhir.SearchQuery {
		return sortedBy(searchFor("Patient"), fhir.SortKey{Kind: fhir.SortString, Param: "family"})
	}},
	{"all, by quantity", false, func(*rand.Rand, int) *fhir.SearchQuery {
		return sortedBy(searchFor("Observation"), fhir.SortKey{Kind: fhir.SortNumber, Param: "value-quantity", Descending: true})
	}},
	{"token, by date", false, func(*rand.Rand, int) *fhir.SearchQuery {
		return sortedBy(searchFor("Observation", code("code", "2339-0")), latestFirst)
	}},
	{"token, by quantity", false, func(*rand.Rand, int) *fhir.SearchQuery {
		return sortedBy(searchFor("Observation", code("code", "2339-0")), fhir.SortKey{Kind: fhir.SortNumber, Param: "value-quantity"})
	}},
	{"date before, by date", false, func(*rand.Rand, int) *fhir.SearchQuery {
		return sortedBy(searchFor("Observation", inYear("date", fhir.PrefixLess, 2012)), latestFirst)
	}},
	{"patient, by lastUpdated", true, func(r *rand.Rand, n int) *fhir.SearchQuery {
		return sortedBy(searchFor("Observation", patientCriterion(r, n)), fhir.SortKey{Kind: fhir.SortUpdated, Descending: true})
	}},
	{"compartment", true, func(r *rand.Rand, n int) *fhir.SearchQuery {
		id := clinicPatient(r.IntN(n))
		return searchFor("Observation", fhir.Or{refers("subject", "Patient", id), refers("performer", "Patient", id)}, code("code", "2339-0"))
	}},
	{"compartment, all types", true, func(r *rand.Rand, n int) *fhir.SearchQuery {
		id := clinicPatient(r.IntN(n))
		var all fhir.Or
		query := searchFor("Patient")
		query.Types = nil
		for _, t := range clinicTypes {
			query.Types = append(query.Types, t)
			all = append(all, fhir.And{fhir.TypeIs(t), fhir.Or{refers("subject", "Patient", id), refers("performer", "Patient", id)}})
		}
		query.Criteria = all
		return query
	}},
	{"system, of two types", true, func(r *rand.Rand, n int) *fhir.SearchQuery {
		query := searchFor("Observation", patientCriterion(r, n), inYear("date", fhir.PrefixGreaterOrEqual, 2012))
		query.Types = []fhir.ResourceType{"Encounter", "Observation"}
		return query
	}},
	{"system, by id", true, func(r *rand.Rand, n int) *fhir.SearchQuery {
		query := searchFor("Patient", fhir.IDIn{clinicPatient(r.IntN(n))})
		query.Types = clinicTypes
		return query
	}},
	{"count, all", false, func(*rand.Rand, int) *fhir.SearchQuery { return counted(searchFor("Observation")) }},
	{"count, token", false, func(*rand.Rand, int) *fhir.SearchQuery {
		return counted(searchFor("Observation", code("category", "laboratory")))
	}},
	{"count, date", false, func(*rand.Rand, int) *fhir.SearchQuery {
		return counted(searchFor("Observation", inYear("date", fhir.PrefixGreaterOrEqual, 2018)))
	}},
	{"count, token, quantity", false, func(*rand.Rand, int) *fhir.SearchQuery {
		return counted(searchFor("Observation", code("code", "2339-0"), amount("value-quantity", fhir.PrefixGreater, "90", "mg/dL")))
	}},
	{"count, lastUpdated", false, func(r *rand.Rand, n int) *fhir.SearchQuery {
		at := time.Date(2026, 1, 1, 0, 0, 50*n, 0, time.UTC)
		return counted(searchFor("Observation", fhir.Updated{Prefix: fhir.PrefixGreaterOrEqual, Range: fhir.TimeRange{Low: at, High: at.Add(time.Second)}}))
	}},
	{"count, not", false, func(*rand.Rand, int) *fhir.SearchQuery {
		return counted(searchFor("Observation", fhir.Not{Criterion: code("category", "laboratory")}))
	}},
	{"count, patient, date", true, func(r *rand.Rand, n int) *fhir.SearchQuery {
		return counted(searchFor("Observation", patientCriterion(r, n), inYear("date", fhir.PrefixGreaterOrEqual, 2015)))
	}},
}

// clinicTypes are many types, as those of a compartment.
var clinicTypes = []fhir.ResourceType{
	"Account", "AllergyIntolerance", "Appointment", "AuditEvent", "Basic", "CarePlan", "CareTeam", "Claim", "Communication",
	"Composition", "Condition", "Consent", "Coverage", "DetectedIssue", "DeviceRequest", "DiagnosticReport", "DocumentReference",
	"Encounter", "EpisodeOfCare", "ExplanationOfBenefit", "FamilyMemberHistory", "Flag", "Goal", "Group", "ImagingStudy",
	"Immunization", "Invoice", "List", "MeasureReport", "Media", "MedicationAdministration", "MedicationDispense",
	"MedicationRequest", "MedicationStatement", "MolecularSequence", "NutritionOrder", "Observation", "Patient", "Person",
	"Procedure", "Provenance", "QuestionnaireResponse", "RelatedPerson", "RequestGroup", "RiskAssessment", "Schedule",
	"ServiceRequest", "Specimen", "SupplyDelivery", "SupplyRequest", "VisionPrescription",
}
