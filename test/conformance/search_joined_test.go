package conformance

// joinedQueries follow references: chains, _has, composites, included resources.
func (h *holdings) joinedQueries() []query {
	const cholesterol, systolic, height = "2093-3", "8480-6", "8302-2"
	is1 := func(value string) test { return code("code.coding", "", value) }
	emergency := code("class", "", "EMER")
	sinusitis, pharyngitis := is1("444814009"), is1("195662009")
	boston := begins("boston", "address.city")
	return []query{
		// chains
		{search: "Observation?code=" + height + "&subject.gender=male", want: and(is1(height), h.refers("subject", is("gender", "male")))},
		{search: "Observation?code=" + height + "&subject:Patient.birthdate=lt1950", want: and(is1(height), h.refers("subject", dated("lt", "1950", "birthDate")))},
		{search: "Observation?code=" + height + "&patient.name=b", want: and(is1(height), h.refers("subject", begins("b", nameParts...)))},
		{search: "Condition?patient.address-city=boston", want: h.refers("subject", boston)},
		{search: "Condition?patient.gender:not=male", want: h.refers("subject", not(is("gender", "male")))},
		{search: "Condition?patient.death-date:missing=true&code=444814009", want: and(sinusitis, h.refers("subject", not(has("deceasedDateTime"))))},
		{search: "Encounter?service-provider.name:contains=mercy", want: h.refers("serviceProvider", contains("mercy", "name"))},
		{search: "Encounter?practitioner.family=r&class=EMER", want: and(emergency, h.refers("participant.individual", begins("r", "name.family")))},
		{search: "Observation?encounter.class=EMER", want: h.refers("encounter", emergency)},
		{search: "Observation?encounter.service-provider.address-city=boston&code=" + height, want: and(is1(height), h.refers("encounter", h.refers("serviceProvider", boston)))},
		{search: "DiagnosticReport?result.code=" + cholesterol, want: h.refers("result", is1(cholesterol))},
		{search: "DiagnosticReport?result:Observation.encounter.practitioner.family=r", want: h.refers("result", h.refers("encounter", h.refers("participant.individual", begins("r", "name.family"))))},
		{search: "DiagnosticReport?result.code-value-quantity=" + cholesterol + "$gt220", want: h.refers("result", and(is1(cholesterol), quantity("valueQuantity", "gt", "220", "")))},
		{search: "Claim?encounter.date=2012", want: h.refers("item.encounter", dated("eq", "2012", "period"))},
		{search: "ExplanationOfBenefit?claim.provider:Organization.name=mercy", want: h.refers("claim", h.refers("provider", begins("mercy", "name")))},
		{search: "CarePlan?condition.code=53084003,195662009", want: h.refers("addresses", or(is1("53084003"), pharyngitis))},
		// _has
		{search: "Patient?_has:Condition:patient:code=444814009", want: h.referred("Condition", "subject", sinusitis)},
		{search: "Patient?_has:Condition:patient:code=444814009&_has:Condition:patient:code=195662009", want: and(h.referred("Condition", "subject", sinusitis), h.referred("Condition", "subject", pharyngitis))},
		{search: "Patient?_has:Observation:patient:code-value-quantity=" + height + "$gt185", want: h.referred("Observation", "subject", and(is1(height), quantity("valueQuantity", "gt", "185", "")))},
		{search: "Patient?gender=female&_has:Encounter:patient:class=EMER", want: and(is("gender", "female"), h.referred("Encounter", "subject", emergency))},
		{search: "Patient?_has:Encounter:patient:_has:Condition:encounter:code=195662009", want: h.referred("Encounter", "subject", h.referred("Condition", "encounter", pharyngitis))},
		{search: "Patient?_has:Encounter:patient:service-provider.name:contains=mercy", want: h.referred("Encounter", "subject", h.refers("serviceProvider", contains("mercy", "name")))},
		{search: "Organization?_has:Encounter:service-provider:class=EMER", want: h.referred("Encounter", "serviceProvider", emergency)},
		{search: "Encounter?_has:Condition:encounter:code=444814009&class=AMB", want: and(code("class", "", "AMB"), h.referred("Condition", "encounter", sinusitis))},
		{search: "Condition?patient._has:Encounter:patient:class=EMER", want: h.refers("subject", h.referred("Encounter", "subject", emergency))},
		// composites
		{search: "Observation?code-value-quantity=" + height + "$gt180", want: and(is1(height), quantity("valueQuantity", "gt", "180", ""))},
		{search: "Observation?code-value-quantity=http://loinc.org%7C" + height + "$le160%7C" + ucum + "%7Ccm", want: and(is1(height), quantity("valueQuantity", "le", "160", "cm"))},
		{search: "Observation?code-value-quantity=" + height + "$gt180," + cholesterol + "$lt150", want: or(and(is1(height), quantity("valueQuantity", "gt", "180", "")), and(is1(cholesterol), quantity("valueQuantity", "lt", "150", "")))},
		{search: "Observation?component-code-value-quantity=" + systolic + "$gt150", want: component(systolic, "gt", "150")},
		{search: "Observation?component-code-value-quantity=8462-4$gt150", want: component("8462-4", "gt", "150")},
		{search: "Observation?combo-code-value-quantity=" + systolic + "$gt150", want: component(systolic, "gt", "150")},
		{search: "Observation?combo-code-value-quantity=" + systolic + "$lt100," + height + "$gt185", want: or(component(systolic, "lt", "100"), and(is1(height), quantity("valueQuantity", "gt", "185", "")))},
		{search: "Observation?code-value-concept=72166-2$8517006", want: and(is1("72166-2"), code("valueCodeableConcept.coding", "", "8517006"))},
		{search: "Observation?code-value-date:missing=true&code=72166-2", want: is1("72166-2")},
		// included resources
		{
			search: "Observation?code=" + cholesterol + "&_include=Observation:subject", want: is1(cholesterol),
			included: func(m []*item) []*item { return h.targets(m, "subject") },
		},
		{
			search: "Observation?code=" + cholesterol + "&_include=Observation:encounter&_include:iterate=Encounter:service-provider", want: is1(cholesterol), count: 50,
			included: func(m []*item) []*item {
				visits := h.targets(m, "encounter")
				return append(visits, h.targets(visits, "serviceProvider")...)
			},
		},
		{
			search: "DiagnosticReport?code=24323-8&_include=DiagnosticReport:result&_include=DiagnosticReport:patient", want: is1("24323-8"), count: 20,
			included: func(m []*item) []*item { return h.targets(m, "result", "subject") },
		},
		{
			search: "Procedure?reason-reference:missing=false&_include=Procedure:*", want: has("reasonReference"), count: 100,
			included: func(m []*item) []*item { return h.targets(m, "subject", "encounter", "reasonReference") },
		},
		{
			search: "Patient?gender=male&_revinclude=Condition:patient", want: is("gender", "male"), count: 10,
			included: func(m []*item) []*item { return h.sources(m, "Condition", "subject") },
		},
		{
			search: "Patient?birthdate=lt1940&_revinclude=Encounter:patient&_revinclude:iterate=Condition:encounter", want: dated("lt", "1940", "birthDate"), count: 2,
			included: func(m []*item) []*item {
				visits := h.sources(m, "Encounter", "subject")
				return append(visits, h.sources(visits, "Condition", "encounter")...)
			},
		},
		{
			search: "CarePlan?status=active&_include=CarePlan:goal&_include=CarePlan:condition", want: is("status", "active"), count: 30,
			included: func(m []*item) []*item { return h.targets(m, "goal", "addresses") },
		},
		{
			search: "Encounter?class=EMER&_include=Encounter:subject:Patient&_include=Encounter:practitioner:Practitioner", want: emergency,
			included: func(m []*item) []*item { return h.targets(m, "subject", "participant.individual") },
		},
	}
}

// component holds if one component has the code and a quantity that compares so.
func component(value, prefix, number string) test {
	return func(i *item) bool {
		for _, c := range at(i.body, "component") {
			part := &item{body: c.(map[string]any)}
			if code("code.coding", "", value)(part) && quantity("valueQuantity", prefix, number, "")(part) {
				return true
			}
		}
		return false
	}
}

// resultQueries look at the order and the pages of results.
func (h *holdings) resultQueries() []query {
	instant := func(i *item) (string, bool) { return i.updated, true }
	return []query{
		{search: "Patient?_sort=birthdate", want: any1, count: 7, order: inOrder(earliest("birthDate"), false)},
		{search: "Patient?_sort=-birthdate", want: any1, count: 11, order: inOrder(latest("birthDate"), true)},
		{search: "Patient?_sort=death-date", want: any1, count: 3, order: inOrder(earliest("deceasedDateTime"), false)},
		{search: "Patient?_sort=-death-date", want: any1, count: 3, order: inOrder(latest("deceasedDateTime"), true)},
		{search: "Patient?_sort=family", want: any1, count: 13, order: inOrder(least("name.family"), false)},
		{search: "Patient?_sort=-family", want: any1, count: 13, order: inOrder(greatest("name.family"), true)},
		{search: "Patient?_sort=gender,-birthdate", want: any1, count: 9, order: then(inOrder(least("gender"), false), inOrder(latest("birthDate"), true))},
		{search: "Patient?_sort=address-city,birthdate", want: any1, count: 9, order: then(inOrder(least("address.city"), false), inOrder(earliest("birthDate"), false))},
		{search: "Patient?_sort=-_lastUpdated", want: any1, count: 8, order: inOrder(instant, true)},
		{search: "Encounter?_sort=date", want: any1, count: 100, order: inOrder(earliest("period"), false)},
		{search: "Encounter?_sort=-date", want: any1, count: 333, order: inOrder(latest("period"), true)},
		{search: "Encounter?class=AMB&_sort=-date", want: code("class", "", "AMB"), count: 50, order: inOrder(latest("period"), true)},
		{search: "Observation?_sort=-date", want: any1, count: 1000, order: inOrder(latest("effectiveDateTime"), true)},
		{search: "Observation?_sort=date", want: any1, count: 500, order: inOrder(earliest("effectiveDateTime"), false)},
		{search: "Observation?code=8302-2&_sort=value-quantity", want: code("code.coding", "", "8302-2"), count: 40, order: inOrder(amount("valueQuantity.value"), false)},
		{search: "Observation?code=8302-2&_sort=-value-quantity", want: code("code.coding", "", "8302-2"), count: 40, order: inOrder(amount("valueQuantity.value"), true)},
		{search: "Condition?_sort=-abatement-date,onset-date", want: any1, count: 60, order: then(inOrder(latest("abatementDateTime"), true), inOrder(earliest("onsetDateTime"), false))},
		{search: "Encounter?", want: any1, count: 17},
		{search: "Procedure?", want: any1, count: 100},
		{search: "Observation?", want: any1, count: 999},
		{search: "Observation?code=8302-2", want: code("code.coding", "", "8302-2"), count: 3},
		{search: "Observation?category=laboratory", want: code("category.coding", "", "laboratory"), count: 700},
	}
}
