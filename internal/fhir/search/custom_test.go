package search

import (
	"slices"
	"strings"
	"testing"

	"starling/internal/fhir"
	"starling/internal/fhir/definition"
	"starling/internal/fhir/element"
)

func customParameter(t *testing.T, text, generation string) *definition.SearchParameter {
	t.Helper()
	d, err := definition.ParseSearchParameter([]byte(text))
	if err != nil {
		t.Fatal(err)
	}
	d.Generation = generation
	return d
}

const cityParameter = `{"url":"http://example.org/town","code":"town","type":"string","base":["Patient"],"expression":"Patient.address.city"}`

// The values of a parameter stored at run time are named by its version, in the index
// and in the plan, and the specification's are as they were.
func TestCustomParameter(t *testing.T) {
	base := New(definition.R4())
	d := customParameter(t, cityParameter, "town.3")
	if issues := base.Check(d); len(issues) > 0 {
		t.Fatal(issues)
	}
	refuse := false
	with := base.With([]*definition.SearchParameter{d}, nil, func(param string) error {
		if refuse {
			return fhir.NewError(fhir.KindPreparing, fhir.IssueIncomplete, param)
		}
		return nil
	})
	tree, err := element.Parse([]byte(`{"resourceType":"Patient","gender":"male","address":[{"city":"Bonn"}]}`), element.DefaultLimits)
	if err != nil {
		t.Fatal(err)
	}
	named := func(s *Search, param string) (n, others int) {
		index, err := s.Index("Patient", tree.Root(), "")
		if err != nil {
			t.Fatal(err)
		}
		for _, v := range index.Strings {
			if v.Param == param {
				n++
			}
		}
		return n, len(index.Strings) + len(index.Tokens) - n
	}
	_, before := named(base, "town#town.3")
	if n, others := named(with, "town#town.3"); n != 1 || others != before {
		t.Errorf("%d values of its own and %d others, %d before", n, others, before)
	}
	if n, others := named(with.Only([]*definition.SearchParameter{d}), "town#town.3"); n != 1 || others != 0 {
		t.Errorf("alone: %d values of its own and %d others", n, others)
	}
	query, unknown, err := with.Plan([]fhir.ResourceType{"Patient"}, "town=bonn", true, "")
	if want := (fhir.String{Param: "town#town.3", Value: "bonn"}); err != nil || len(unknown) > 0 || query.Criteria != want {
		t.Errorf("%v %v %v", query, unknown, err)
	}
	for _, q := range []string{"town=bonn", "town:missing=true", "_sort=town", "_filter=town eq bonn", "general-practitioner:Practitioner.name=x&town=b"} {
		refuse = true
		if _, _, err := with.Plan([]fhir.ResourceType{"Patient"}, q, false, ""); err == nil || !strings.Contains(err.Error(), "town#town.3") {
			t.Errorf("%s while it is indexed: %v", q, err)
		}
		refuse = false
		if _, _, err := with.Plan([]fhir.ResourceType{"Patient"}, q, true, ""); err != nil {
			t.Errorf("%s: %v", q, err)
		}
	}
	if _, _, err := with.Plan([]fhir.ResourceType{"Observation"}, "subject:Patient.town=bonn", true, ""); err != nil {
		t.Error(err)
	}
	if _, _, err := base.Plan([]fhir.ResourceType{"Patient"}, "town=bonn", true, ""); err == nil {
		t.Error("the search it was derived from has it, too")
	}
}

// A path that is named twice gives its values once, and there is an end to how
// many paths there may be: each costs every write.
func TestCustomParameterOfManyPaths(t *testing.T) {
	const path = "Patient.address.city"
	of := func(paths ...string) *definition.SearchParameter {
		return customParameter(t, strings.Replace(cityParameter, path, strings.Join(paths, " | "), 1), "town.1")
	}
	base := New(definition.R4())
	twice := of(slices.Repeat([]string{path}, 2)...)
	if issues := base.Check(twice); len(issues) > 0 {
		t.Fatal(issues)
	}
	tree, err := element.Parse([]byte(`{"resourceType":"Patient","address":[{"city":"Bonn"}]}`), element.DefaultLimits)
	if err != nil {
		t.Fatal(err)
	}
	only := base.Only([]*definition.SearchParameter{twice})
	if p, err := only.parameters("Patient"); err != nil || len(p.byCode["town"].elements) != 1 {
		t.Errorf("%v %v", p, err)
	}
	if index, err := only.Index("Patient", tree.Root(), ""); err != nil || len(index.Strings) != 1 {
		t.Errorf("%v %v", index, err)
	}
	for path, most := range map[string]int{path: mostBranches, "Patient.address.first().city": mostEvaluated} {
		if issues := base.Check(of(slices.Repeat([]string{path}, most)...)); len(issues) > 0 {
			t.Errorf("%d times %s: %v", most, path, issues)
		}
		if issues := base.Check(of(slices.Repeat([]string{path}, most+1)...)); len(issues) != 1 || issues[0].Expression != "SearchParameter.expression" {
			t.Errorf("%d times %s: %v", most+1, path, issues)
		}
	}
}

// A parameter whose expression uses a variable that nothing defines would never have
// a value.
func TestCustomParameterWithVariables(t *testing.T) {
	base := New(definition.R4())
	for expression, want := range map[string]string{
		"%resource.address.city": "", "%context.address.where(%rootResource.active).city": "",
		"Patient.address.where(use = %ucum or use = %`vs-x` or use = %`ext-y`).city": "",
		"Patient.address.where(use = %usage).city":                                   "%usage",
		"Patient.name.text | Patient.address[%n].city":                               "%n",
		"Patient.address.city.select($this & -%a.count().toString())":                "%a",
		"Patient.address.city.where(('x' + %b) is string)":                           "%b",
		"Patient.name.text | Practitioner.address.where(use = %usage).city":          "%usage",
	} {
		issues := base.Check(customParameter(t, strings.Replace(cityParameter, "Patient.address.city", expression, 1), "town.1"))
		if want == "" && len(issues) > 0 || want != "" && (len(issues) != 1 || issues[0].Expression != "SearchParameter.expression" || !strings.Contains(issues[0].Diagnostics, "variable '"+want+"',")) {
			t.Errorf("%s: %v, want %q", expression, issues, want)
		}
	}
}

// Each path of an expression gives its values, whatever it begins with: an element
// that has the name of a primitive type, brackets, or a variable.
func TestCustomParameterWithoutItsType(t *testing.T) {
	tree, err := element.Parse([]byte(`{"resourceType":"Observation","code":{"text":"sugar"},"note":[{"text":"x"}],"valueQuantity":{"unit":"mg"}}`), element.DefaultLimits)
	if err != nil {
		t.Fatal(err)
	}
	base := New(definition.R4())
	for path, want := range map[string]string{
		"code.text": "sugar", "(code.text)": "sugar", "(code).text": "sugar", "( \n code).text": "sugar", "%resource.code.text": "sugar",
		"$this.code.text": "sugar", "`code`.text": "sugar", "(value as Quantity).unit": "mg", "extension('u').value": "", "HumanName.text": "",
	} {
		text := strings.NewReplacer("Patient.address.city", "Observation.note.text | "+path, "Patient", "Observation").Replace(cityParameter)
		only := base.Only([]*definition.SearchParameter{customParameter(t, strings.ReplaceAll(text, "\n", `\n`), "town.1")})
		index, err := only.Index("Observation", tree.Root(), "")
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, v := range index.Strings {
			got = append(got, v.Exact)
		}
		if slices.Sort(got); strings.Join(got, " ") != strings.TrimSpace(want+" x") {
			t.Errorf("%s: %q, want %q and x", path, got, want)
		}
	}
}

// What a contained resource refers to is looked for in its container.
func TestCustomParameterResolvesInTheContainer(t *testing.T) {
	tree, err := element.Parse([]byte(`{"resourceType":"Observation","subject":{"reference":"#p"},"contained":[
		{"resourceType":"Patient","id":"p","managingOrganization":{"reference":"#o"}},{"resourceType":"Organization","id":"o","name":"Acme"}]}`), element.DefaultLimits)
	if err != nil {
		t.Fatal(err)
	}
	text := strings.Replace(cityParameter, "Patient.address.city", "Patient.managingOrganization.resolve().ofType(Organization).name", 1)
	only := New(definition.R4()).Only([]*definition.SearchParameter{customParameter(t, text, "town.1")})
	index, err := only.Index("Observation", tree.Root(), "")
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range index.Contained {
		if c.Type == "Patient" && (len(c.Index.Strings) != 1 || c.Index.Strings[0].Exact != "Acme") {
			t.Errorf("%+v", c.Index.Strings)
		}
	}
	if len(index.Contained) != 2 {
		t.Errorf("%+v", index.Contained)
	}
}

// An expression of a client's may take on each write what a client's may.
func TestCustomParameterTakesLittle(t *testing.T) {
	tree, err := element.Parse([]byte(`{"resourceType":"Patient","name":[`+strings.Repeat(`{"family":"a"},`, 1500)+`{"family":"b"}]}`), element.DefaultLimits)
	if err != nil {
		t.Fatal(err)
	}
	for path, want := range map[string]int{
		"Patient.name.where(family.exists()).family":             2,
		"Patient.name.where(%resource.name.count() > 0).family":  0, // each name asks for all names
		"Patient.descendants().ofType(HumanName).family.first()": 1,
	} {
		text := strings.Replace(cityParameter, "Patient.address.city", path, 1)
		only := New(definition.R4()).Only([]*definition.SearchParameter{customParameter(t, text, "town.1")})
		if index, err := only.Index("Patient", tree.Root(), ""); err != nil || len(index.Strings) != want {
			t.Errorf("%s: %d values, want %d, %v", path, len(index.Strings), want, err)
		}
	}
}
