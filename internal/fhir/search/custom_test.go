package search

import (
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
