package postgres

import (
	"context"
	"fmt"
	"math/rand/v2"
	"strings"
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
	// then is what is asked for the page found; nil: nothing.
	then func(ctx context.Context, s *Store, found []*fhir.Resource) error
}

// run searches, and includes what the kind does.
func (k *searchKind) run(ctx context.Context, s *Store, query *fhir.SearchQuery) (*fhir.SearchPage, error) {
	page, err := s.Search(ctx, query)
	if err == nil && k.then != nil {
		err = k.then(ctx, s, page.Matches)
	}
	return page, err
}

// withPatient reads the patients of resources that are named after them.
func withPatient(ctx context.Context, s *Store, found []*fhir.Resource) error {
	var keys []fhir.VersionKey
	for _, r := range found {
		keys = append(keys, fhir.VersionKey{Key: fhir.Key{Type: "Patient", ID: "patient" + strings.TrimPrefix(r.ID, "risk")}})
	}
	read, err := s.ReadAll(ctx, keys)
	if err == nil && len(read) != len(found) {
		err = fmt.Errorf("%d included with %d", len(read), len(found))
	}
	return err
}

// withObservations finds what refers to patients.
func withObservations(ctx context.Context, s *Store, found []*fhir.Resource) error {
	var links []fhir.Link
	for _, r := range found {
		links = append(links, fhir.Link{Source: "Observation", Param: "patient", Target: r.Key})
	}
	referring, err := s.Referring(ctx, links, 1000)
	if err == nil && len(referring) < len(found) {
		err = fmt.Errorf("%d included with %d", len(referring), len(found))
	}
	return err
}

// below holds for what refers to a resource or a part of it, as the planner has it.
func below(param, partOf string, t fhir.ResourceType, id string, levels int) fhir.Criterion {
	if levels == 0 {
		return refers(param, t, id)
	}
	return fhir.Or{refers(param, t, id), fhir.Chain{Param: param, Type: t, Criterion: below(partOf, partOf, t, id, levels-1)}}
}

// above holds for what a resource is a part of.
func above(partOf string, t fhir.ResourceType, id string, levels int) fhir.Criterion {
	of := fhir.Has{Type: t, Param: partOf, Criterion: fhir.IDIn{id}}
	if levels == 1 {
		return of
	}
	return fhir.Or{of, fhir.Has{Type: t, Param: partOf, Criterion: above(partOf, t, id, levels-1)}}
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
	{name: "string", selective: true, query: func(r *rand.Rand, n int) *fhir.SearchQuery {
		return searchFor("Patient", fhir.String{Param: "family", Value: clinicName(n/2 + r.IntN(n/2))})
	}},
	{name: "string exact", selective: true, query: func(r *rand.Rand, n int) *fhir.SearchQuery {
		return searchFor("Patient", fhir.String{Param: "family", Value: clinicName(r.IntN(n)), Match: fhir.StringExact})
	}},
	{name: "string contains", query: func(r *rand.Rand, n int) *fhir.SearchQuery {
		return searchFor("Patient", fhir.String{Param: "family", Value: fmt.Sprint("ly", r.IntN(n)), Match: fhir.StringContains})
	}},
	{name: "string, common", query: func(r *rand.Rand, _ int) *fhir.SearchQuery {
		return searchFor("Observation", fhir.String{Param: "value-string", Value: "never"})
	}},
	{name: "date, a day", query: func(r *rand.Rand, _ int) *fhir.SearchQuery { return searchFor("Observation", oneDay(r)) }},
	{name: "date, from a year", query: func(r *rand.Rand, _ int) *fhir.SearchQuery {
		return searchFor("Observation", inYear("date", fhir.PrefixGreaterOrEqual, 2011+r.IntN(10)))
	}},
	{name: "date, a minute", selective: true, query: func(r *rand.Rand, _ int) *fhir.SearchQuery {
		at := clinicDay(r.IntN(5400)).Add(time.Duration(r.IntN(1440)) * time.Minute)
		return searchFor("Observation", dated("date", fhir.PrefixEqual, at, at.Add(time.Minute)))
	}},
	{name: "birthdate", query: func(r *rand.Rand, _ int) *fhir.SearchQuery {
		day := clinicDay(r.IntN(5400)).AddDate(-60, 0, 0)
		return searchFor("Patient", dated("birthdate", fhir.PrefixEqual, day, day.AddDate(0, 0, 1)))
	}},
	{name: "token", selective: true, query: func(r *rand.Rand, n int) *fhir.SearchQuery {
		return searchFor("Patient", coded("identifier", "urn:mrn", fmt.Sprint("mrn-", r.IntN(n))))
	}},
	{name: "token, common", query: func(r *rand.Rand, _ int) *fhir.SearchQuery {
		return searchFor("Observation", code("code", clinicCodes[r.IntN(len(clinicCodes))].code))
	}},
	{name: "token, of a list", query: func(r *rand.Rand, _ int) *fhir.SearchQuery {
		return searchFor("Observation", fhir.TokenIn{Param: "code", Codes: []fhir.TokenValue{{System: loinc, Code: "8480-6"}, {System: loinc, Code: "2339-0"}, {System: loinc, Code: "6299-2"}}})
	}},
	{name: "token, all of a system", query: func(*rand.Rand, int) *fhir.SearchQuery {
		system := loinc
		return searchFor("Observation", fhir.Token{Param: "code", System: &system})
	}},
	{name: "reference", selective: true, query: func(r *rand.Rand, n int) *fhir.SearchQuery { return searchFor("Observation", patientCriterion(r, n)) }},
	{name: "reference by id", selective: true, query: func(r *rand.Rand, n int) *fhir.SearchQuery {
		return searchFor("Observation", refers("subject", "", clinicPatient(r.IntN(n))))
	}},
	{name: "reference, common", query: func(r *rand.Rand, n int) *fhir.SearchQuery {
		return searchFor("Observation", refers("performer", "Practitioner", "practitioner-7"))
	}},
	{name: "quantity", query: func(r *rand.Rand, _ int) *fhir.SearchQuery {
		return searchFor("Observation", amount("value-quantity", fhir.PrefixGreater, fmt.Sprint(95+r.IntN(20)), "mg/dL"))
	}},
	{name: "quantity, none", selective: true, query: func(r *rand.Rand, _ int) *fhir.SearchQuery {
		return searchFor("Observation", amount("value-quantity", fhir.PrefixGreater, fmt.Sprint(9500+r.IntN(20)), ""))
	}},
	{name: "number", query: func(r *rand.Rand, _ int) *fhir.SearchQuery {
		return searchFor("RiskAssessment", fhir.Number{Param: "probability", Prefix: fhir.PrefixGreater, Value: fmt.Sprint("0.99", r.IntN(9))})
	}},
	{name: "uri", selective: true, query: func(r *rand.Rand, n int) *fhir.SearchQuery {
		p := r.IntN(n)
		return searchFor("CarePlan", fhir.URI{Param: "instantiates-uri", URI: fmt.Sprintf("http://example.org/plans/%d/%d", p%50, p)})
	}},
	{name: "uri below", query: func(r *rand.Rand, _ int) *fhir.SearchQuery {
		return searchFor("CarePlan", fhir.URIBelow{Param: "instantiates-uri", URI: fmt.Sprintf("http://example.org/plans/%d", r.IntN(50))})
	}},
	{name: "composite", query: func(r *rand.Rand, _ int) *fhir.SearchQuery {
		systolic, system := "8480-6", loinc
		return searchFor("Observation", fhir.Composite{Param: "component-code-value-quantity", Parts: []fhir.Criterion{
			fhir.Token{System: &system, Code: &systolic}, amount("", fhir.PrefixGreaterOrEqual, fmt.Sprint(140+r.IntN(8)), "mm[Hg]"),
		}})
	}},
	{name: "composite of the resource", query: func(r *rand.Rand, _ int) *fhir.SearchQuery {
		return searchFor("Observation", coded("code", loinc, "2339-0"), amount("value-quantity", fhir.PrefixGreater, "110", "mg/dL"))
	}},
	{name: "id", selective: true, query: func(r *rand.Rand, n int) *fhir.SearchQuery {
		return searchFor("Patient", fhir.IDIn{clinicPatient(r.IntN(n)), clinicPatient(r.IntN(n))})
	}},
	{name: "lastUpdated", query: func(r *rand.Rand, n int) *fhir.SearchQuery {
		at := time.Date(2026, 1, 1, 0, 0, r.IntN(100*n), 0, time.UTC)
		return searchFor("Observation", fhir.Updated{Prefix: fhir.PrefixEqual, Range: fhir.TimeRange{Low: at, High: at.Add(10 * time.Minute)}})
	}},
	{name: "lastUpdated, from", query: func(r *rand.Rand, n int) *fhir.SearchQuery {
		at := time.Date(2026, 1, 1, 0, 0, 90*n+r.IntN(10*n), 0, time.UTC)
		return searchFor("Observation", fhir.Updated{Prefix: fhir.PrefixGreaterOrEqual, Range: fhir.TimeRange{Low: at, High: at.Add(time.Second)}})
	}},
	{name: "missing", query: func(*rand.Rand, int) *fhir.SearchQuery {
		return searchFor("Observation", fhir.Missing{Param: "value-quantity", Missing: true})
	}},
	{name: "missing, never", query: func(*rand.Rand, int) *fhir.SearchQuery {
		return searchFor("Observation", fhir.Missing{Param: "subject", Missing: true})
	}},
	{name: "not", query: func(*rand.Rand, int) *fhir.SearchQuery {
		return searchFor("Observation", fhir.Not{Criterion: code("category", "vital-signs")})
	}},
	{name: "not, of a patient", selective: true, query: func(r *rand.Rand, n int) *fhir.SearchQuery {
		return searchFor("Observation", patientCriterion(r, n), fhir.Not{Criterion: code("category", "vital-signs")})
	}},
	{name: "filter", selective: true, query: func(r *rand.Rand, n int) *fhir.SearchQuery {
		return searchFor("Observation", fhir.Or{
			fhir.And{patientCriterion(r, n), inYear("date", fhir.PrefixGreater, 2015)},
			fhir.And{patientCriterion(r, n), amount("value-quantity", fhir.PrefixGreater, "100", "")},
		})
	}},
	{name: "token, date", query: func(r *rand.Rand, _ int) *fhir.SearchQuery {
		return searchFor("Observation", code("code", clinicCodes[r.IntN(len(clinicCodes))].code), oneDay(r))
	}},
	{name: "token, rare date", selective: true, query: func(r *rand.Rand, _ int) *fhir.SearchQuery {
		at := clinicDay(r.IntN(5400)).Add(time.Duration(r.IntN(1440)) * time.Minute)
		return searchFor("Observation", code("status", "final"), dated("date", fhir.PrefixEqual, at, at.Add(time.Minute)))
	}},
	{name: "token, quantity", query: func(r *rand.Rand, _ int) *fhir.SearchQuery {
		return searchFor("Observation", code("code", "8867-4"), amount("value-quantity", fhir.PrefixGreater, "80", "/min"))
	}},
	{name: "token, quantity, none", query: func(r *rand.Rand, _ int) *fhir.SearchQuery {
		return searchFor("Observation", code("code", "8867-4"), amount("value-quantity", fhir.PrefixGreater, "180", "cm"))
	}},
	{name: "date, quantity", query: func(r *rand.Rand, _ int) *fhir.SearchQuery {
		return searchFor("Observation", inYear("date", fhir.PrefixEqual, 2012+r.IntN(8)), amount("value-quantity", fhir.PrefixGreater, "210", "cm"))
	}},
	{name: "reference, date, by date", selective: true, query: func(r *rand.Rand, n int) *fhir.SearchQuery {
		return sortedBy(searchFor("Observation", patientCriterion(r, n), inYear("date", fhir.PrefixGreaterOrEqual, 2015)), fhir.SortKey{Kind: fhir.SortDate, Param: "date"})
	}},
	{name: "patient, category, date, latest first", selective: true, query: func(r *rand.Rand, n int) *fhir.SearchQuery {
		return sortedBy(searchFor("Observation", patientCriterion(r, n), code("category", "laboratory"), inYear("date", fhir.PrefixGreaterOrEqual, 2015)), latestFirst)
	}},
	{name: "patient, code, quantity", selective: true, query: func(r *rand.Rand, n int) *fhir.SearchQuery {
		return searchFor("Observation", patientCriterion(r, n), code("code", "8302-2"), amount("value-quantity", fhir.PrefixGreater, "150", "cm"))
	}},
	{name: "chain", selective: true, query: func(r *rand.Rand, n int) *fhir.SearchQuery {
		return searchFor("Observation", fhir.Chain{Param: "patient", Type: "Patient", Criterion: fhir.String{Param: "family", Value: clinicName(n/2 + r.IntN(n/2))}})
	}},
	{name: "chain without a type", selective: true, query: func(r *rand.Rand, n int) *fhir.SearchQuery {
		id := fhir.Token{Param: "identifier", Code: ref(fmt.Sprint("mrn-", r.IntN(n)))}
		return searchFor("Observation", fhir.Or{fhir.Chain{Param: "subject", Type: "Patient", Criterion: id}, fhir.Chain{Param: "subject", Type: "Group", Criterion: id}, fhir.Chain{Param: "subject", Type: "Device", Criterion: id}, fhir.Chain{Param: "subject", Type: "Location", Criterion: id}})
	}},
	{name: "chain of two", selective: true, query: func(r *rand.Rand, n int) *fhir.SearchQuery {
		id := fhir.Token{Param: "identifier", Code: ref(fmt.Sprint("mrn-", r.IntN(n)))}
		return searchFor("Observation", fhir.Chain{Param: "encounter", Type: "Encounter", Criterion: fhir.Chain{Param: "patient", Type: "Patient", Criterion: id}})
	}},
	{name: "chain, common", query: func(*rand.Rand, int) *fhir.SearchQuery {
		return searchFor("Observation", fhir.Chain{Param: "patient", Type: "Patient", Criterion: code("gender", "male")})
	}},
	{name: "chain, token, date", selective: true, query: func(r *rand.Rand, n int) *fhir.SearchQuery {
		return searchFor("Observation", fhir.Chain{Param: "patient", Type: "Patient", Criterion: fhir.String{Param: "family", Value: clinicName(n/2 + r.IntN(n/2))}},
			code("code", "8867-4"), inYear("date", fhir.PrefixGreaterOrEqual, 2012))
	}},
	{name: "has", query: func(r *rand.Rand, _ int) *fhir.SearchQuery {
		return searchFor("Patient", fhir.Has{Type: "Observation", Param: "patient", Criterion: oneDay(r)})
	}},
	{name: "has, rare", selective: true, query: func(r *rand.Rand, n int) *fhir.SearchQuery {
		return searchFor("Patient", fhir.Has{Type: "CarePlan", Param: "subject", Criterion: fhir.URI{Param: "instantiates-uri", URI: fmt.Sprintf("http://example.org/plans/%d/%d", n/2%50, n/2)}})
	}},
	{name: "has, common", query: func(*rand.Rand, int) *fhir.SearchQuery {
		return searchFor("Patient", fhir.Has{Type: "Observation", Param: "patient", Criterion: code("code", "2339-0")})
	}},
	{name: "has, of a patient", selective: true, query: func(r *rand.Rand, n int) *fhir.SearchQuery {
		return searchFor("Patient", fhir.Token{Param: "identifier", Code: ref(fmt.Sprint("mrn-", r.IntN(n)))}, fhir.Has{Type: "Observation", Param: "patient", Criterion: code("code", "2339-0")})
	}},
	{name: "has, nested", query: func(r *rand.Rand, _ int) *fhir.SearchQuery {
		return searchFor("Patient", fhir.Has{Type: "Encounter", Param: "patient", Criterion: fhir.Has{Type: "Observation", Param: "encounter", Criterion: oneDay(r)}})
	}},
	{name: "hierarchy, below", selective: true, query: func(r *rand.Rand, n int) *fhir.SearchQuery {
		return searchFor("Observation", below("encounter", "part-of", "Encounter", clinicEncounter(r.IntN(n), 0), 8))
	}},
	{name: "hierarchy, above", selective: true, query: func(r *rand.Rand, n int) *fhir.SearchQuery {
		id := clinicEncounter(r.IntN(n), clinicEncounters-1)
		return searchFor("Observation", fhir.Or{refers("encounter", "Encounter", id), fhir.Chain{Param: "encounter", Type: "Encounter", Criterion: above("part-of", "Encounter", id, 8)}})
	}},
	{name: "chain by canonical", selective: true, query: func(r *rand.Rand, n int) *fhir.SearchQuery {
		return searchFor("CarePlan", fhir.Chain{Param: "instantiates-canonical", Type: "PlanDefinition", Canonical: true, Criterion: fhir.String{Param: "name", Value: fmt.Sprint("definition", n-1-(n-1)%10)}})
	}},
	{name: "has by canonical", selective: true, query: func(r *rand.Rand, n int) *fhir.SearchQuery {
		p := r.IntN(n)
		return searchFor("PlanDefinition", fhir.Has{Type: "CarePlan", Param: "instantiates-canonical", Canonical: true, Criterion: fhir.URI{Param: "instantiates-uri", URI: fmt.Sprintf("http://example.org/plans/%d/%d", p%50, p)}})
	}},
	{name: "canonical", selective: true, query: func(r *rand.Rand, n int) *fhir.SearchQuery {
		p := r.IntN(n)
		return searchFor("CarePlan", fhir.ReferenceTo{Param: "instantiates-canonical", URL: clinicDefinition(p - p%10)})
	}},
	{name: "contained", selective: true, query: func(r *rand.Rand, n int) *fhir.SearchQuery {
		return searchFor(fhir.AnyType, fhir.Contained{Type: "Practitioner", Criterion: fhir.Token{Param: "identifier", Code: ref(fmt.Sprint("npi-", r.IntN(n)))}})
	}},
	{name: "contained, or itself", selective: true, query: func(r *rand.Rand, n int) *fhir.SearchQuery {
		query := searchFor(fhir.AnyType, fhir.Contained{Type: "Practitioner", Itself: true, Criterion: fhir.Token{Param: "identifier", Code: ref(fmt.Sprint("npi-", r.IntN(n)))}})
		query.AsContained = true
		return query
	}},
	{name: "chain to a contained one", selective: true, query: func(r *rand.Rand, n int) *fhir.SearchQuery {
		return searchFor("RiskAssessment", fhir.Chain{Param: "performer", Type: "Practitioner", Criterion: fhir.String{Param: "family", Value: fmt.Sprint("npi-", n/2+r.IntN(n/2))}})
	}},
	{name: "text", selective: true, query: func(r *rand.Rand, n int) *fhir.SearchQuery {
		return searchFor("RiskAssessment", fhir.Text{Narrative: true, Words: fmt.Sprint("patient", r.IntN(n))})
	}},
	{name: "text, phrase", query: func(r *rand.Rand, n int) *fhir.SearchQuery {
		return searchFor("RiskAssessment", fhir.Text{Narrative: true, Words: "in the even", Begins: true})
	}},
	{name: "missing, of a patient", selective: true, query: func(r *rand.Rand, n int) *fhir.SearchQuery {
		return searchFor("Observation", patientCriterion(r, n), fhir.Missing{Param: "value-quantity", Missing: true})
	}},
	{name: "date, about a day", query: func(r *rand.Rand, _ int) *fhir.SearchQuery {
		day := clinicDay(r.IntN(5400))
		return searchFor("Encounter", dated("date", fhir.PrefixApproximate, day, day.AddDate(0, 0, 1)))
	}},
	{name: "include", query: func(r *rand.Rand, n int) *fhir.SearchQuery {
		return searchFor("RiskAssessment", fhir.Number{Param: "probability", Prefix: fhir.PrefixGreater, Value: fmt.Sprint("0.9", r.IntN(9))})
	}, then: withPatient},
	{name: "revinclude", selective: true, query: func(r *rand.Rand, n int) *fhir.SearchQuery {
		return searchFor("Patient", coded("identifier", "urn:mrn", fmt.Sprint("mrn-", r.IntN(n))))
	}, then: withObservations},
	{name: "near", selective: true, query: func(r *rand.Rand, _ int) *fhir.SearchQuery {
		return searchFor("Location", fhir.Near{Param: "near", Latitude: 42, Longitude: -71, Distance: 10000})
	}},
	{name: "all", query: func(*rand.Rand, int) *fhir.SearchQuery { return searchFor("Observation") }},
	{name: "all, by date", query: func(*rand.Rand, int) *fhir.SearchQuery { return sortedBy(searchFor("Observation"), latestFirst) }},
	{name: "all, by lastUpdated", query: func(*rand.Rand, int) *fhir.SearchQuery {
		return sortedBy(searchFor("Observation"), fhir.SortKey{Kind: fhir.SortUpdated, Descending: true})
	}},
	{name: "all, by id", query: func(*rand.Rand, int) *fhir.SearchQuery {
		return sortedBy(searchFor("Observation"), fhir.SortKey{Kind: fhir.SortID})
	}},
	{name: "all, by string", query: func(*rand.Rand, int) *fhir.SearchQuery {
		return sortedBy(searchFor("Patient"), fhir.SortKey{Kind: fhir.SortString, Param: "family"})
	}},
	{name: "all, by quantity", query: func(*rand.Rand, int) *fhir.SearchQuery {
		return sortedBy(searchFor("Observation"), fhir.SortKey{Kind: fhir.SortNumber, Param: "value-quantity", Descending: true})
	}},
	{name: "token, by date", query: func(*rand.Rand, int) *fhir.SearchQuery {
		return sortedBy(searchFor("Observation", code("code", "2339-0")), latestFirst)
	}},
	{name: "token, by quantity", query: func(*rand.Rand, int) *fhir.SearchQuery {
		return sortedBy(searchFor("Observation", code("code", "2339-0")), fhir.SortKey{Kind: fhir.SortNumber, Param: "value-quantity"})
	}},
	{name: "date before, by date", query: func(*rand.Rand, int) *fhir.SearchQuery {
		return sortedBy(searchFor("Observation", inYear("date", fhir.PrefixLess, 2012)), latestFirst)
	}},
	{name: "date before a late one, by date", selective: true, query: func(*rand.Rand, int) *fhir.SearchQuery {
		return sortedBy(searchFor("Observation", inYear("date", fhir.PrefixLess, 2022)), latestFirst)
	}},
	{name: "date before an early one, by date", selective: true, query: func(*rand.Rand, int) *fhir.SearchQuery {
		return sortedBy(searchFor("Observation", inYear("date", fhir.PrefixLess, 2014)), latestFirst)
	}},
	{name: "date from an early one, by date", selective: true, query: func(*rand.Rand, int) *fhir.SearchQuery {
		return sortedBy(searchFor("Observation", inYear("date", fhir.PrefixGreaterOrEqual, 2012)), fhir.SortKey{Kind: fhir.SortDate, Param: "date", Single: true})
	}},
	{name: "date from a late one, by date", selective: true, query: func(*rand.Rand, int) *fhir.SearchQuery {
		return sortedBy(searchFor("Observation", inYear("date", fhir.PrefixGreaterOrEqual, 2021)), fhir.SortKey{Kind: fhir.SortDate, Param: "date", Single: true})
	}},
	{name: "patient, by lastUpdated", selective: true, query: func(r *rand.Rand, n int) *fhir.SearchQuery {
		return sortedBy(searchFor("Observation", patientCriterion(r, n)), fhir.SortKey{Kind: fhir.SortUpdated, Descending: true})
	}},
	{name: "compartment", selective: true, query: func(r *rand.Rand, n int) *fhir.SearchQuery {
		id := clinicPatient(r.IntN(n))
		return searchFor("Observation", fhir.Or{refers("subject", "Patient", id), refers("performer", "Patient", id)}, code("code", "2339-0"))
	}},
	{name: "compartment, all types", selective: true, query: func(r *rand.Rand, n int) *fhir.SearchQuery {
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
	{name: "system, of two types", selective: true, query: func(r *rand.Rand, n int) *fhir.SearchQuery {
		query := searchFor("Observation", patientCriterion(r, n), inYear("date", fhir.PrefixGreaterOrEqual, 2012))
		query.Types = []fhir.ResourceType{"Encounter", "Observation"}
		return query
	}},
	{name: "system, by id", selective: true, query: func(r *rand.Rand, n int) *fhir.SearchQuery {
		query := searchFor("Patient", fhir.IDIn{clinicPatient(r.IntN(n))})
		query.Types = clinicTypes
		return query
	}},
	{name: "count, all", query: func(*rand.Rand, int) *fhir.SearchQuery { return counted(searchFor("Observation")) }},
	{name: "count, token", query: func(*rand.Rand, int) *fhir.SearchQuery {
		return counted(searchFor("Observation", code("category", "laboratory")))
	}},
	{name: "count, date", query: func(*rand.Rand, int) *fhir.SearchQuery {
		return counted(searchFor("Observation", inYear("date", fhir.PrefixGreaterOrEqual, 2018)))
	}},
	{name: "count, token, quantity", query: func(*rand.Rand, int) *fhir.SearchQuery {
		return counted(searchFor("Observation", code("code", "2339-0"), amount("value-quantity", fhir.PrefixGreater, "90", "mg/dL")))
	}},
	{name: "count, lastUpdated", query: func(r *rand.Rand, n int) *fhir.SearchQuery {
		at := time.Date(2026, 1, 1, 0, 0, 50*n, 0, time.UTC)
		return counted(searchFor("Observation", fhir.Updated{Prefix: fhir.PrefixGreaterOrEqual, Range: fhir.TimeRange{Low: at, High: at.Add(time.Second)}}))
	}},
	{name: "count, not", query: func(*rand.Rand, int) *fhir.SearchQuery {
		return counted(searchFor("Observation", fhir.Not{Criterion: code("category", "laboratory")}))
	}},
	{name: "count, patient, date", selective: true, query: func(r *rand.Rand, n int) *fhir.SearchQuery {
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
