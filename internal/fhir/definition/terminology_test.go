package definition

import (
	"maps"
	"slices"
	"strings"
	"testing"
)

const valueSetBase = "http://hl7.org/fhir/ValueSet/"

func TestCodes(t *testing.T) {
	for _, test := range []struct {
		name, valueSet, codes string // all codes, in order, or the number of them
		n                     int
	}{
		{"a whole system", valueSetBase + "administrative-gender|4.0.1", "female male other unknown", 4},
		{"without version", valueSetBase + "administrative-gender", "female male other unknown", 4},
		{"another version", valueSetBase + "administrative-gender|9", "female male other unknown", 4},
		{"listed codes", valueSetBase + "age-units", "a d h min mo wk", 6},
		{"listed codes of a system that is not here", valueSetBase + "units-of-time", "a d h min mo s wk", 7},
		{"several systems", valueSetBase + "marital-status", "A D I L M P S T U UNK W", 11},
		{"nested concepts", valueSetBase + "event-timing", "", 26},
		{"is-a, and an exclude", "http://terminology.hl7.org/ValueSet/v3-ActEncounterCode", "AMB EMER FLD HH IMP ACUTE NONAC OBSENC PRENC SS VR", 11},
		{"imported value sets", valueSetBase + "all-types", "", 0},
		{"resource types", valueSetBase + "resource-types", "", 148},
	} {
		codes, ok := R4().Codes(test.valueSet)
		want := strings.Fields(test.codes)
		slices.Sort(want)
		got := slices.Sorted(maps.Keys(codes))
		if !ok || len(want) > 0 && !slices.Equal(got, want) || test.n > 0 && len(got) != test.n {
			t.Errorf("%s, %s: %v, %d codes: %v", test.name, test.valueSet, ok, len(got), got)
		}
	}
}

func TestCodesTellTheirSystems(t *testing.T) {
	codes, _ := R4().Codes(valueSetBase + "marital-status")
	if want := []string{"http://terminology.hl7.org/CodeSystem/v3-NullFlavor"}; !slices.Equal(codes["UNK"], want) {
		t.Errorf("UNK is of %v", codes["UNK"])
	}
}

func TestCodesCannotBeEnumerated(t *testing.T) {
	for _, valueSet := range []string{
		valueSetBase + "mimetypes", valueSetBase + "currencies", valueSetBase + "ucum-units", valueSetBase + "observation-codes",
		valueSetBase + "condition-code", "http://example.org/ValueSet/none", "http://hl7.org/fhir/administrative-gender", "",
	} {
		if codes, ok := R4().Codes(valueSet); ok || codes != nil {
			t.Errorf("%q: %d codes", valueSet, len(codes))
		}
	}
}

// TestRequiredBindings names the required bindings that cannot be enumerated.
func TestRequiredBindings(t *testing.T) {
	unknown := map[string]bool{}
	var check func(e *Element)
	check = func(e *Element) {
		if e.Binding != nil && e.Binding.Strength == "required" {
			if _, ok := R4().Codes(e.Binding.ValueSet); !ok {
				unknown[e.Binding.ValueSet] = true
			}
		}
		if e.Content == nil {
			for _, c := range e.Children {
				check(c)
			}
		}
	}
	for name := range R4().types {
		check(R4().Type(name).Root)
	}
	want := []string{
		valueSetBase + "currencies|4.0.1", valueSetBase + "mimetypes|4.0.1", valueSetBase + "ucum-units|4.0.1",
		"http://loinc.org/vs/LL379-9|4.0.1",
	}
	if got := slices.Sorted(maps.Keys(unknown)); !slices.Equal(got, want) {
		t.Errorf("%v", got)
	}
}

func TestCaseSensitive(t *testing.T) {
	for _, test := range []struct {
		system           string
		sensitive, known bool
	}{
		{"http://hl7.org/fhir/administrative-gender", true, true},
		{"http://terminology.hl7.org/CodeSystem/v2-0203", false, false},
		{"http://terminology.hl7.org/CodeSystem/v3-ActCode", true, true},
		{"http://loinc.org", false, false},
		{valueSetBase + "administrative-gender", false, false},
	} {
		sensitive, known := R4().CaseSensitive(test.system)
		if sensitive != test.sensitive || known != test.known {
			t.Errorf("%s: %v, %v", test.system, sensitive, known)
		}
	}
}

func TestFilters(t *testing.T) {
	s := &codeSystem{Content: "complete"}
	s.index = map[string]int{}
	yes := true
	s.add([]conceptJSON{
		{Code: "a", Concept: []conceptJSON{{Code: "a1", Property: []conceptProperty{{Code: "abstract", ValueBoolean: &yes}}}, {Code: "a2"}}},
		{Code: "b", Display: "B", Property: []conceptProperty{{Code: "subsumedBy", ValueCode: "a2"}, {Code: "status", ValueCode: "retired"}}},
	}, -1)
	s.linkParents()
	for _, test := range []struct {
		property, op, value, codes string // codes "?": the filter is not known
	}{
		{"concept", "is-a", "a", "a a1 a2 b"},
		{"concept", "descendent-of", "a", "a1 a2 b"},
		{"concept", "is-not-a", "a2", "a a1"},
		{"concept", "is-a", "x", "?"},
		{"status", "=", "retired", "b"},
		{"abstract", "=", "true", "a1"},
		{"display", "=", "B", "b"},
		{"code", "in", "a,b", "a b"},
		{"code", "not-in", "a, b", "a1 a2"},
		{"status", "exists", "false", "a a1 a2"},
		{"code", "regex", "a.", "a1 a2"},
		{"code", "regex", "(", "?"},
		{"concept", "generalizes", "a1", "?"},
	} {
		var got []string
		for n := range s.concepts {
			pass, ok := s.pass(n, &valueSetFilter{test.property, test.op, test.value})
			if !ok {
				got = []string{"?"}
				break
			}
			if pass {
				got = append(got, s.concepts[n].code)
			}
		}
		if strings.Join(got, " ") != test.codes {
			t.Errorf("%s %s %s: %v", test.property, test.op, test.value, got)
		}
	}
}

func TestExclude(t *testing.T) {
	term := newTerminology(R4().file)
	codes, ok := term.compose(&valueSetCompose{
		Include: []valueSetInclude{{System: "http://hl7.org/fhir/administrative-gender"}},
		Exclude: []valueSetInclude{{System: "http://hl7.org/fhir/administrative-gender", Concept: []struct{ Code string }{{"other"}}}},
	})
	if got := slices.Sorted(maps.Keys(codes)); !ok || !slices.Equal(got, []string{"female", "male", "unknown"}) {
		t.Errorf("%v, %v", got, ok)
	}
	codes, ok = term.compose(&valueSetCompose{Include: []valueSetInclude{{
		System: "http://hl7.org/fhir/administrative-gender", Concept: []struct{ Code string }{{"male"}, {"robot"}},
		ValueSet: []string{valueSetBase + "administrative-gender"},
	}}})
	if got := slices.Sorted(maps.Keys(codes)); !ok || !slices.Equal(got, []string{"male"}) {
		t.Errorf("intersection: %v, %v", got, ok)
	}
}
