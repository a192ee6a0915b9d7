package search

import (
	"math/rand/v2"
	"net/url"
	"strings"

	"starling/loadtest/record"
)

// Kind is one kind of search.
type Kind struct {
	Name, Type string
	// Pages is how many pages are asked for, the first and by next links.
	Pages int
	// Query gives a search that finds something in the data.
	Query func(d *Draw) string
}

// Draw is what one search draws its values from.
type Draw struct {
	rand    *rand.Rand
	values  *Values
	people  []Person
	patient *patient // of the values, and of the person
	person  Person
}

// Person is a Patient the server holds.
type Person struct {
	ID, Identifier string // the identifier is the one of its copy
	of             int    // index in the values
}

// Kinds of the mix, which takes them all equally often. Each finds a few
// resources of many unless its name says population.
var Kinds = []Kind{
	{"string", "Patient", 1, func(d *Draw) string {
		return "family=" + escape(d.patient.family) + "&given=" + escape(d.patient.given)
	}},
	{"string, contains", "Patient", 1, func(d *Draw) string {
		return "family:contains=" + escape(middle(d.patient.family)) + "&birthdate=" + d.patient.birthDate
	}},
	{"date", "Patient", 1, func(d *Draw) string { return "birthdate=" + d.patient.birthDate }},
	{"token", "Patient", 1, func(d *Draw) string { return "identifier=" + escape(d.patient.system+"|"+d.person.Identifier) }},
	{"reference", "Observation", 1, func(d *Draw) string { return "subject=Patient/" + d.person.ID }},
	{"reference and token", "Observation", 1, func(d *Draw) string {
		o := pick(d.rand, d.patient.observations)
		return "subject=Patient/" + d.person.ID + "&code=" + escape(o.system+"|"+o.code)
	}},
	{"reference and date", "Encounter", 1, func(d *Draw) string {
		return "patient=" + d.person.ID + "&date=ge" + day(pick(d.rand, d.patient.encounters))
	}},
	{"quantity", "Observation", 1, func(d *Draw) string {
		o := pick(d.rand, d.patient.observations)
		return "code=" + escape(o.system+"|"+o.code) + "&value-quantity=" + escape(o.rounded()+"|"+o.unitSystem+"|"+o.unit)
	}},
	{"composite", "Observation", 1, func(d *Draw) string {
		o := pick(d.rand, d.patient.observations)
		parameter := "code-value-quantity="
		if len(d.patient.components) > 0 && d.rand.IntN(2) == 0 {
			o, parameter = pick(d.rand, d.patient.components), "component-code-value-quantity="
		}
		return parameter + escape(o.system+"|"+o.code+"$"+o.rounded()+"|"+o.unitSystem+"|"+o.unit)
	}},
	{"chained", "Observation", 1, func(d *Draw) string {
		o := pick(d.rand, d.patient.observations)
		return "subject:Patient.identifier=" + escape(d.patient.system+"|"+d.person.Identifier) + "&code=" + escape(o.system+"|"+o.code)
	}},
	{"_has", "Patient", 1, func(d *Draw) string {
		o := pick(d.rand, d.patient.observations)
		return "birthdate=" + d.patient.birthDate + "&_has:Observation:patient:code=" + escape(o.system+"|"+o.code)
	}},
	{"_include", "Encounter", 1, func(d *Draw) string {
		return "patient=" + d.person.ID + "&_count=20&_include=Encounter:practitioner&_include=Encounter:service-provider"
	}},
	{"_revinclude", "Patient", 1, func(d *Draw) string { return "_id=" + d.person.ID + "&_revinclude=Condition:patient" }},
	{"sorted pages", "Observation", 3, func(d *Draw) string {
		return "subject=Patient/" + d.person.ID + "&_sort=-date&_count=20"
	}},
	{"population, sorted pages", "Encounter", 3, func(d *Draw) string {
		return "date=le" + day(pick(d.rand, d.patient.encounters)) + "&_sort=-date&_count=20"
	}},
	{"population, token", "Condition", 1, func(d *Draw) string {
		return "code=" + escape(pick(d.rand, d.values.conditions)) + "&_count=20"
	}},
}

// Next is the name of the requests of all pages but the first.
const Next = ", next"

// Keys are the kinds of requests that searches of these kinds are.
func Keys(kinds []Kind) (keys []record.Key) {
	for _, k := range kinds {
		keys = append(keys, record.Key{Interaction: k.Name, Type: k.Type})
	}
	for _, k := range kinds {
		if k.Pages > 1 {
			keys = append(keys, record.Key{Interaction: k.Name + Next, Type: k.Type})
		}
	}
	return keys
}

// NewDraw begins a sequence of searches that the seed determines.
func NewDraw(values *Values, people []Person, seed uint64) *Draw {
	return &Draw{rand: rand.New(rand.NewPCG(seed, 1)), values: values, people: people}
}

// Next gives an index of the kinds and a search of that kind, below the base.
func (d *Draw) Next(kinds []Kind) (kind int, path string) {
	d.person = pick(d.rand, d.people)
	d.patient = &d.values.patients[d.person.of]
	kind = d.rand.IntN(len(kinds))
	return kind, "/" + kinds[kind].Type + "?" + kinds[kind].Query(d)
}

func escape(text string) string { return url.QueryEscape(text) }

// middle is the text without its first letter, at most five letters.
func middle(text string) string {
	r := []rune(text)
	return string(r[1:min(len(r), 6)])
}

// day is the date of a dateTime.
func day(text string) string {
	date, _, _ := strings.Cut(text, "T")
	return date
}
