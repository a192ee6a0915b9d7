package conformance

import (
	"net/url"
	"slices"
	"strings"
)

// besides are resources of kinds the sample lacks: numbers, uris, places.
const besides = `{"resourceType":"Bundle","type":"transaction","entry":[
{"fullUrl":"urn:uuid:11111111-1111-4111-8111-111111111111","resource":{"resourceType":"RiskAssessment","status":"final","subject":{"display":"x"},"prediction":[{"probabilityDecimal":0.8}]},"request":{"method":"POST","url":"RiskAssessment"}},
{"resource":{"resourceType":"RiskAssessment","status":"final","subject":{"display":"x"},"prediction":[{"probabilityDecimal":0.84}]},"request":{"method":"POST","url":"RiskAssessment"}},
{"resource":{"resourceType":"RiskAssessment","status":"final","subject":{"display":"x"},"prediction":[{"probabilityDecimal":0.85},{"probabilityDecimal":0.2}]},"request":{"method":"POST","url":"RiskAssessment"}},
{"resource":{"resourceType":"RiskAssessment","status":"final","subject":{"identifier":{"system":"urn:s","value":"7"}}},"request":{"method":"POST","url":"RiskAssessment"}},
{"resource":{"resourceType":"ValueSet","status":"active","url":"http://example.org/sets/a"},"request":{"method":"POST","url":"ValueSet"}},
{"resource":{"resourceType":"ValueSet","status":"active","url":"http://example.org/sets/a/b","version":"2"},"request":{"method":"POST","url":"ValueSet"}},
{"resource":{"resourceType":"ValueSet","status":"draft","url":"http://example.org/setsandmore"},"request":{"method":"POST","url":"ValueSet"}},
{"resource":{"resourceType":"ValueSet","status":"draft","meta":{"profile":["http://example.org/profiles/p|3"],"source":"http://example.org/from","security":[{"system":"urn:s","code":"R"}]}},"request":{"method":"POST","url":"ValueSet"}},
{"resource":{"resourceType":"Location","name":"Boston","position":{"longitude":-71.06,"latitude":42.36}},"request":{"method":"POST","url":"Location"}},
{"resource":{"resourceType":"Location","name":"Worcester","position":{"longitude":-71.80,"latitude":42.26}},"request":{"method":"POST","url":"Location"}},
{"resource":{"resourceType":"List","status":"current","mode":"working","entry":[{"item":{"reference":"urn:uuid:11111111-1111-4111-8111-111111111111"}}]},"request":{"method":"POST","url":"List"}},
{"resource":{"resourceType":"Location","name":"Nowhere"},"request":{"method":"POST","url":"Location"}}
]}`

const (
	snomed = "http://snomed.info/sct"
	loinc  = "http://loinc.org"
	ucum   = "http://unitsofmeasure.org"
	npi    = "http://hl7.org/fhir/sid/us-npi"
	v20203 = "http://terminology.hl7.org/CodeSystem/v2-0203"
)

var (
	nameParts    = []string{"name.family", "name.given", "name.prefix", "name.suffix", "name.text"}
	addressParts = []string{"address.line", "address.city", "address.district", "address.state", "address.postalCode", "address.country", "address.text"}
)

// bar writes system|code as a query has it.
func bar(parts ...string) string { return url.QueryEscape(strings.Join(parts, "|")) }

// plainQueries are of strings, dates, numbers, quantities, uris and places.
func (h *holdings) plainQueries() []query {
	queries := []query{
		// string
		{search: "Patient?family=w", want: begins("w", "name.family")},
		{search: "Patient?family=WITTING", want: begins("witting", "name.family")},
		{search: "Patient?family:exact=Witting", want: is("name.family", "Witting")},
		{search: "Patient?family:exact=witting", want: none1},
		{search: "Patient?family:contains=ma", want: contains("ma", "name.family")},
		{search: "Patient?given=al", want: begins("al", "name.given")},
		{search: "Patient?given=al,be,c", want: or(begins("al", "name.given"), begins("be", "name.given"), begins("c", "name.given"))},
		{search: "Patient?given:contains=an", want: contains("an", "name.given")},
		{search: "Patient?name=b", want: begins("b", nameParts...)},
		{search: "Patient?name=mrs", want: begins("mrs", nameParts...)},
		{search: "Patient?name:contains=ar", want: contains("ar", nameParts...)},
		{search: "Patient?name:exact=Mrs.", want: is("name.prefix", "Mrs.")},
		{search: "Patient?address-city=boston", want: begins("boston", "address.city")},
		{search: "Patient?address-city=spring&address-state=mass", want: and(begins("spring", "address.city"), begins("mass", "address.state"))},
		{search: "Patient?address-postalcode=02", want: begins("02", "address.postalCode")},
		{search: "Patient?address-postalcode:missing=true", want: not(has("address.postalCode"))},
		{search: "Patient?address=mass", want: begins("mass", addressParts...)},
		{search: "Patient?address:contains=apt", want: contains("apt", addressParts...)},
		{search: "Organization?name=mercy", want: begins("mercy", "name")},
		{search: "Organization?name:contains=medical", want: contains("medical", "name")},
		{search: "Organization?name:contains=medical&address-city=BOSTON", want: and(contains("medical", "name"), begins("boston", "address.city"))},
		{search: "Practitioner?family=r&given=p", want: and(begins("r", "name.family"), begins("p", "name.given"))},
		{search: "Observation?value-string=hetero", want: begins("hetero", "valueString", "valueCodeableConcept.text")},
		{search: "Observation?value-string:missing=false", want: or(has("valueString"), has("valueCodeableConcept.text"))},
		// number
		{search: "RiskAssessment?probability=0.8", want: numbered("prediction.probabilityDecimal", "eq", "0.8")},
		{search: "RiskAssessment?probability=0.80", want: numbered("prediction.probabilityDecimal", "eq", "0.80")},
		{search: "RiskAssessment?probability=ne0.8", want: numbered("prediction.probabilityDecimal", "ne", "0.8")},
		{search: "RiskAssessment?probability=gt0.8", want: numbered("prediction.probabilityDecimal", "gt", "0.8")},
		{search: "RiskAssessment?probability=lt0.8", want: numbered("prediction.probabilityDecimal", "lt", "0.8")},
		{search: "RiskAssessment?probability=ap0.8", want: numbered("prediction.probabilityDecimal", "ap", "0.8")},
		{search: "RiskAssessment?probability:missing=true", want: not(has("prediction.probabilityDecimal"))},
		// uri
		{search: "ValueSet?url=http://example.org/sets/a", want: is("url", "http://example.org/sets/a")},
		{search: "ValueSet?url:below=http://example.org/sets", want: is("url", "http://example.org/sets/a", "http://example.org/sets/a/b")},
		{search: "ValueSet?url:above=http://example.org/sets/a/b/c", want: is("url", "http://example.org/sets/a", "http://example.org/sets/a/b")},
		{search: "ValueSet?url:missing=true", want: not(has("url"))},
		// special
		{search: "Location?near=" + bar("42.36", "-71.06", "10", "km"), want: is("name", "Boston")},
		{search: "Location?near=" + bar("42.36", "-71.06", "100", "km"), want: is("name", "Boston", "Worcester")},
		{search: "Location?near=" + bar("42.36", "-71.06", "10", "[mi_i]"), want: is("name", "Boston")},
	}
	return slices.Concat(queries, h.dateQueries(), quantityQueries())
}

func (h *holdings) dateQueries() []query {
	var queries []query
	for _, prefix := range []string{"eq", "ne", "gt", "ge", "lt", "le", "sa", "eb"} {
		queries = append(queries,
			query{search: "Patient?birthdate=" + prefix + "1949-04-19", want: dated(prefix, "1949-04-19", "birthDate")},
			query{search: "Encounter?date=" + prefix + "2012", want: dated(prefix, "2012", "period")},
			query{search: "CarePlan?date=" + prefix + "2015-06", want: dated(prefix, "2015-06", "period")},
		)
	}
	second := "2003-07-12T07:44:08"
	return append(queries,
		query{search: "Patient?birthdate=1949", want: dated("eq", "1949", "birthDate")},
		query{search: "Patient?birthdate=ge1950&birthdate=lt1980", want: and(dated("ge", "1950", "birthDate"), dated("lt", "1980", "birthDate"))},
		query{search: "Patient?birthdate=1949,1950", want: or(dated("eq", "1949", "birthDate"), dated("eq", "1950", "birthDate"))},
		query{search: "Patient?death-date:missing=false", want: has("deceasedDateTime")},
		query{search: "Patient?death-date=gt1990", want: dated("gt", "1990", "deceasedDateTime")},
		query{search: "Condition?onset-date=2019-11", want: dated("eq", "2019-11", "onsetDateTime")},
		query{search: "Condition?abatement-date:missing=true", want: not(has("abatementDateTime"))},
		query{search: "Condition?recorded-date=ge2015-01-01", want: dated("ge", "2015-01-01", "recordedDate")},
		query{search: "Observation?date=" + second + "Z", want: dated("eq", second+"Z", "effectiveDateTime")},
		query{search: "Observation?date=" + second[:10], want: dated("eq", second[:10], "effectiveDateTime")},
		query{search: "Observation?date=2003-07-12T02:44:08-05:00", want: dated("eq", second+"Z", "effectiveDateTime")},
		query{search: "Observation?date=2003-07-12T09:44:08%2B02:00", want: dated("eq", second+"Z", "effectiveDateTime")},
		query{search: "Procedure?date=sa2018-08-20T15:21:04Z", want: dated("sa", "2018-08-20T15:21:04Z", "performedPeriod")},
		query{search: "Procedure?date=ge2018-08-20&date=le2018-08-21", want: and(dated("ge", "2018-08-20", "performedPeriod"), dated("le", "2018-08-21", "performedPeriod"))},
		query{search: "Immunization?date=2015-11-29,2016-01-31", want: or(dated("eq", "2015-11-29", "occurrenceDateTime"), dated("eq", "2016-01-31", "occurrenceDateTime"))},
		query{search: "DiagnosticReport?issued=lt1995", want: dated("lt", "1995", "issued")},
	)
}

func quantityQueries() []query {
	const value = "valueQuantity"
	at := "Observation?code=8302-2&value-quantity="
	height := code("code.coding", "", "8302-2")
	var queries []query
	for _, prefix := range []string{"eq", "ne", "gt", "ge", "lt", "le", "sa", "eb", "ap"} {
		queries = append(queries, query{search: at + prefix + bar("170", ucum, "cm"), want: and(height, quantity(value, prefix, "170", "cm"))})
	}
	inMetres := func(i *item) bool { return height(i) && quantity(value, "gt", "165", "cm")(i) }
	return append(queries,
		query{search: at + "gt" + bar("1.65", ucum, "m"), want: inMetres},
		query{search: at + "170", want: and(height, quantity(value, "eq", "170", ""))},
		query{search: at + "170.0", want: and(height, quantity(value, "eq", "170.0", ""))},
		query{search: at + bar("170", "", "cm"), want: and(height, quantity(value, "eq", "170", "cm"))},
		query{search: at + bar("170", "", "kg"), want: none1},
		query{search: "Observation?code=2093-3&value-quantity=gt" + bar("2", ucum, "g/L"), want: and(code("code.coding", "", "2093-3"), quantity(value, "gt", "200", "mg/dL"))},
		query{search: "Observation?code=72514-3&value-quantity=ge" + bar("3", ucum, "{score}"), want: and(code("code.coding", "", "72514-3"), quantity(value, "ge", "3", "{score}"))},
		query{search: "Observation?code=4548-4&value-quantity=lt" + bar("5", ucum, "%"), want: and(code("code.coding", "", "4548-4"), quantity(value, "lt", "5", "%"))},
		query{search: "Observation?value-quantity:missing=true", want: not(has(value))},
		query{search: "Observation?component-value-quantity=gt" + bar("160", ucum, "mm[Hg]"), want: quantity("component.valueQuantity", "gt", "160", "mm[Hg]")},
		query{search: "Observation?combo-value-quantity=gt" + bar("160", ucum, "mm[Hg]"), want: or(quantity(value, "gt", "160", "mm[Hg]"), quantity("component.valueQuantity", "gt", "160", "mm[Hg]"))},
		query{search: "Observation?combo-code=8480-6&combo-value-quantity=lt" + bar("100", ucum, "mm[Hg]"), want: and(or(code("code.coding", "", "8480-6"), code("component.code.coding", "", "8480-6")), or(quantity(value, "lt", "100", "mm[Hg]"), quantity("component.valueQuantity", "lt", "100", "mm[Hg]")))},
	)
}
