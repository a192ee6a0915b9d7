package conformance

import (
	"net/url"
	"slices"
	"strings"
)

// most gives the resource of the type that most others of a type refer to at a path.
func (h *holdings) most(typ, from, path string) *item {
	counts := map[string]int{}
	for _, i := range h.of([]string{from}, any1) {
		for _, ref := range texts(i.body, path+".reference") {
			counts[ref]++
		}
	}
	of := h.of([]string{typ}, any1)
	return slices.MaxFunc(of, func(a, b *item) int { return counts[a.ref] - counts[b.ref] })
}

func to(path string, targets ...*item) test {
	refs := make([]string, len(targets))
	for n, t := range targets {
		refs[n] = t.ref
	}
	return is(path+".reference", refs...)
}

// codedQueries are of tokens, references and the parameters of all resources.
func (h *holdings) codedQueries() []query {
	return slices.Concat(h.tokenQueries(), h.referenceQueries(), h.commonQueries())
}

func (h *holdings) tokenQueries() []query {
	person := h.most("Patient", "Encounter", "subject")
	var number string // a medical record number
	for _, v := range at(person.body, "identifier") {
		if slices.Contains(texts(v, "type.coding.code"), "MR") {
			number = texts(v, "value")[0]
		}
	}
	phone := texts(person.body, "telecom.value")[0]
	const clinical = "http://terminology.hl7.org/CodeSystem/condition-clinical"
	const gender = "http://hl7.org/fhir/administrative-gender"
	viral := func(i *item) bool {
		return slices.ContainsFunc(append(texts(i.body, "code.text"), texts(i.body, "code.coding.display")...), func(s string) bool {
			return slices.ContainsFunc(strings.Fields(strings.ToLower(s)), func(w string) bool { return strings.HasPrefix(strings.Trim(w, "()"), "viral") })
		})
	}
	return []query{
		{search: "Patient?gender=male", want: is("gender", "male")},
		{search: "Patient?gender=" + bar(gender, "female"), want: is("gender", "female")},
		{search: "Patient?gender:not=male", want: not(is("gender", "male"))},
		{search: "Patient?gender=male,female", want: any1},
		{search: "Patient?gender:missing=true", want: none1},
		{search: "Patient?deceased=true", want: has("deceasedDateTime")},
		{search: "Patient?deceased=false", want: not(has("deceasedDateTime"))},
		{search: "Patient?language=es", want: code("communication.language.coding", "", "es")},
		{search: "Patient?language:not=en-US", want: not(code("communication.language.coding", "", "en-US"))},
		{search: "Patient?identifier=" + number, want: coded("identifier", "", "value", number)},
		{search: "Patient?identifier=" + bar("http://hospital.smarthealthit.org", number), want: coded("identifier", "http://hospital.smarthealthit.org", "value", number)},
		{search: "Patient?identifier=" + bar("http://hl7.org/fhir/sid/us-ssn", ""), want: coded("identifier", "http://hl7.org/fhir/sid/us-ssn", "value", "")},
		{search: "Patient?identifier=" + bar("", number), want: none1},
		{search: "Patient?identifier:of-type=" + bar(v20203, "MR", number), want: coded("identifier", "http://hospital.smarthealthit.org", "value", number)},
		{search: "Patient?identifier:of-type=" + bar(v20203, "SS", number), want: none1},
		{search: "Patient?telecom=" + phone, want: is("telecom.value", phone)},
		{search: "Patient?phone=" + phone, want: is("telecom.value", phone)},
		{search: "Practitioner?identifier=" + bar(npi, "260"), want: coded("identifier", npi, "value", "260")},
		{search: "Practitioner?active=true&gender=female", want: is("gender", "female")},
		{search: "Organization?type=prov", want: any1},
		{search: "Encounter?class=EMER", want: code("class", "", "EMER")},
		{search: "Encounter?class:not=AMB", want: not(code("class", "", "AMB"))},
		{search: "Encounter?type=" + bar(snomed, "185349003"), want: code("type.coding", snomed, "185349003")},
		{search: "Encounter?reason-code=72892002,55822004", want: or(code("reasonCode.coding", "", "72892002"), code("reasonCode.coding", "", "55822004"))},
		{search: "Encounter?reason-code:missing=true", want: not(has("reasonCode"))},
		{search: "Encounter?reason-code:missing=false&class=AMB", want: and(has("reasonCode"), code("class", "", "AMB"))},
		{search: "Condition?code=" + bar(snomed, "444814009"), want: code("code.coding", snomed, "444814009")},
		{search: "Condition?code=" + bar(loinc, "444814009"), want: none1},
		{search: "Condition?code=" + bar(snomed, ""), want: code("code.coding", snomed, "")},
		{search: "Condition?code:not=444814009", want: not(code("code.coding", "", "444814009"))},
		{search: "Condition?code:not=444814009,195662009", want: not(or(code("code.coding", "", "444814009"), code("code.coding", "", "195662009")))},
		{search: "Condition?code:text=viral", want: viral},
		{search: "Condition?clinical-status=active", want: code("clinicalStatus.coding", "", "active")},
		{search: "Condition?clinical-status:in=http://hl7.org/fhir/ValueSet/condition-clinical", want: any1},
		{search: "Condition?clinical-status:not-in=http://hl7.org/fhir/ValueSet/condition-clinical", want: none1},
		{search: "Condition?clinical-status:below=" + bar(clinical, "inactive"), want: code("clinicalStatus.coding", "", "resolved")},
		{search: "Condition?clinical-status:above=" + bar(clinical, "relapse"), want: code("clinicalStatus.coding", "", "active")},
		{search: "Observation?category=vital-signs&code=8302-2", want: code("code.coding", "", "8302-2")},
		{search: "Observation?category=social-history,survey", want: or(code("category.coding", "", "social-history"), code("category.coding", "", "survey"))},
		{search: "Observation?category:not=laboratory", want: not(code("category.coding", "", "laboratory"))},
		{search: "Observation?code=" + bar(loinc, "72514-3"), want: code("code.coding", loinc, "72514-3")},
		{search: "Observation?component-code=8480-6", want: code("component.code.coding", "", "8480-6")},
		{search: "Observation?combo-code=8480-6,72514-3", want: or(code("component.code.coding", "", "8480-6"), code("code.coding", "", "72514-3"))},
		{search: "Observation?value-concept=266919005", want: code("valueCodeableConcept.coding", "", "266919005")},
		{search: "Observation?status=final&value-concept:missing=false", want: has("valueCodeableConcept")},
		{search: "MedicationRequest?status=active&intent=order", want: is("status", "active")},
		{search: "MedicationRequest?code=316672&status=stopped", want: and(is("status", "stopped"), code("medicationCodeableConcept.coding", "", "316672"))},
		{search: "Immunization?vaccine-code=140", want: code("vaccineCode.coding", "", "140")},
		{search: "Immunization?vaccine-code:not=140", want: not(code("vaccineCode.coding", "", "140"))},
		{search: "AllergyIntolerance?category=food", want: is("category", "food")},
		{search: "ImagingStudy?modality=DX", want: code("series.modality", "", "DX")},
		{search: "Claim?use=claim&_summary=false", want: any1},
		{search: "Goal?lifecycle-status=accepted", want: any1},
	}
}

func (h *holdings) referenceQueries() []query {
	person := h.most("Patient", "Encounter", "subject")
	other := h.most("Patient", "Claim", "patient")
	visit := h.most("Encounter", "Observation", "encounter")
	clinic := h.most("Organization", "Encounter", "serviceProvider")
	result := h.most("Observation", "DiagnosticReport", "result")
	return []query{
		{search: "Observation?subject=" + person.ref, want: to("subject", person)},
		{search: "Observation?subject=" + person.id(), want: to("subject", person)},
		{search: "Observation?subject:Patient=" + person.id(), want: to("subject", person)},
		{search: "Observation?subject:Group=" + person.id(), want: none1},
		{search: "Observation?patient=" + h.base + "/" + person.ref, want: to("subject", person)},
		{search: "Observation?subject=http://elsewhere.example.org/" + person.ref, want: none1},
		{search: "Condition?patient=" + person.ref + "," + other.ref, want: to("subject", person, other)},
		{search: "Observation?encounter=" + visit.ref, want: to("encounter", visit)},
		{search: "Observation?encounter=" + visit.ref + "&category=laboratory", want: and(to("encounter", visit), code("category.coding", "", "laboratory"))},
		{search: "Encounter?service-provider=" + clinic.ref, want: to("serviceProvider", clinic)},
		{search: "Encounter?patient=" + person.ref + "&date=ge2010", want: and(to("subject", person), dated("ge", "2010", "period"))},
		{search: "Encounter?practitioner:missing=true", want: not(has("participant"))},
		{search: "DiagnosticReport?result=" + result.ref, want: to("result", result)},
		{search: "Claim?provider=" + clinic.ref, want: to("provider", clinic)},
		{search: "Claim?encounter=" + visit.ref, want: to("item.encounter", visit)},
		{search: "Procedure?reason-reference:missing=true", want: not(has("reasonReference"))},
		{search: "CarePlan?goal:missing=false", want: has("goal")},
		{search: "RiskAssessment?subject:identifier=" + bar("urn:s", "7"), want: coded("subject.identifier", "urn:s", "value", "7")},
		// compartments
		{search: person.ref + "/Observation", want: to("subject", person)},
		{search: person.ref + "/Condition?clinical-status=resolved", want: and(to("subject", person), code("clinicalStatus.coding", "", "resolved"))},
		{search: person.ref + "/*", want: or(to("subject", person), to("patient", person))},
		{search: visit.ref + "/Observation", want: to("encounter", visit)},
		{search: person.ref + "/$everything", want: or(to("subject", person), to("patient", person), func(i *item) bool { return i == person }), included: h.around},
		{search: person.ref + "/$everything?_type=Condition,Encounter", want: and(func(i *item) bool { return i.typ == "Condition" || i.typ == "Encounter" }, to("subject", person)), included: nothing},
	}
}

// nothing is included where _type names types of the compartment alone.
func nothing([]*item) []*item { return nil }

// around gives what the items refer to outside a patient's compartment.
func (h *holdings) around(items []*item) []*item {
	var found []*item
	for _, target := range h.targets(items, "serviceProvider", "provider", "participant.individual", "requester", "careTeam.provider") {
		if target.typ == "Organization" || target.typ == "Practitioner" {
			found = append(found, target)
		}
	}
	return found
}

func (h *holdings) commonQueries() []query {
	patients := h.of([]string{"Patient"}, any1)
	a, b := patients[3], patients[40]
	middle := patients[30].updated
	updated := func(prefix string) test {
		s := when(middle)
		return func(i *item) bool { return s.compare(prefix, when(i.updated)) }
	}
	tag := "https://smarthealthit.org/tags"
	list := h.of([]string{"List"}, any1)[0]
	filter := func(text string) string { return "_filter=" + url.QueryEscape(text) }
	return []query{
		{search: "Patient?_id=" + a.id(), want: func(i *item) bool { return i == a }},
		{search: "Patient?_id=" + a.id() + "," + b.id() + ",none", want: func(i *item) bool { return i == a || i == b }},
		{search: "Patient?_id=" + a.id() + "&_id=" + b.id(), want: none1},
		{search: "Goal?_tag=" + bar(tag, "synthea-5-2019"), want: any1},
		{search: "Goal?_tag:not=synthea-5-2019", want: none1},
		{search: "Patient?_lastUpdated=gt" + url.QueryEscape(middle), want: updated("gt")},
		{search: "Patient?_lastUpdated=le" + url.QueryEscape(middle), want: updated("le")},
		{search: "Encounter?_lastUpdated=lt" + url.QueryEscape(middle) + "&class=EMER", want: and(updated("lt"), code("class", "", "EMER"))},
		{search: "Patient?_lastUpdated=gt2020", want: any1},
		{search: "ValueSet?_profile=" + url.QueryEscape("http://example.org/profiles/p"), want: has("meta.profile")},
		{search: "ValueSet?_source=http://example.org/from", want: has("meta.source")},
		{search: "ValueSet?_security=" + bar("urn:s", "R"), want: has("meta.security")},
		{search: "ValueSet?_profile:missing=true", want: not(has("meta.profile"))},
		{search: "RiskAssessment?_list=" + list.id(), want: h.referred("List", "entry.item", any1)},
		{search: "Patient?" + filter("birthdate lt 1950 and gender eq male"), want: and(dated("lt", "1950", "birthDate"), is("gender", "male"))},
		{search: "Patient?" + filter(`family sw "w" or not(gender eq female)`), want: or(begins("w", "name.family"), not(is("gender", "female")))},
		{search: "Condition?" + filter("(code eq 444814009 or code eq 195662009) and onset-date ge 2010"), want: and(or(code("code.coding", "", "444814009"), code("code.coding", "", "195662009")), dated("ge", "2010", "onsetDateTime"))},
		// several types at once
		{search: "?_type=Patient,Practitioner&family=r", want: begins("r", "name.family")},
		{search: "?_type=Condition,Procedure&code=444814009,428191000124101", want: or(code("code.coding", "", "444814009"), code("code.coding", "", "428191000124101"))},
		{search: "?_type=Condition,Encounter,MedicationRequest&patient=" + a.ref, want: to("subject", a)},
		{search: "?_type=Goal,ImagingStudy", want: any1},
	}
}
