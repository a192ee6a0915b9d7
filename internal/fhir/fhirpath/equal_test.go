package fhirpath

import (
	"testing"

	"starling/internal/fhir/definition"
)

func TestStructuralEquality(t *testing.T) {
	check(t, testItem(t, `{"resourceType":"Observation","status":"final","code":{"text":"x"},"component":[
		{"code":{"text":"a","coding":[{"system":"s","code":"1"},{"code":"2"}]},"valueQuantity":{"value":1.50,"unit":"g"}},
		{"valueQuantity":{"unit":"g","value":1.5},"code":{"coding":[{"code":"1","system":"s"},{"code":"2"}],"text":"a"}},
		{"valueQuantity":{"unit":"g","value":15e-1},"code":{"coding":[{"code":"2"},{"code":"1","system":"s"}],"text":"A"}},
		{"code":{"text":"a"},"valueQuantity":{"value":2,"unit":"g"}},
		{"code":{"text":"a"},"valueQuantity":{"value":2}},
		{"code":{"text":"a"},"valueRange":{"low":{"value":-0.0}}},
		{"code":{"text":"a"},"valueRange":{"low":{"value":0}}}]}`), [][2]string{
		{"component[0] = component[1]", "System.Boolean true"},
		{"component[0] = component[2]", "System.Boolean false"},
		{"component[0] ~ component[2]", "System.Boolean true"},
		{"component[0].value = component[2].value", "System.Boolean true"},
		{"component[0] ~ component[3]", "System.Boolean false"},
		{"component[3] = component[4]", "System.Boolean false"},
		{"component[3].value = component[4].value", "System.Boolean false"},
		{"component[5] = component[6]", "System.Boolean true"},
		{"component.distinct().count()", "System.Integer 5"},
		{"(component | component | component).count()", "System.Integer 5"},
		{"component.combine(component).distinct().count()", "System.Integer 5"},
		{"component.value.ofType(Quantity).where(value = 1.5).count()", "System.Integer 3"},
		{"component.code.coding.intersect(component[2].code.coding).count()", "System.Integer 2"},
		{"component[0] = 'a'", "System.Boolean false"},
		{"component[0] != 5", "System.Boolean true"},
	})
}

func TestUnits(t *testing.T) {
	for _, c := range [][2]string{
		{"4.0000 'g' = 4000.0 'mg'", "System.Boolean true"},
		{"4 'g' ~ 4040 'mg'", "System.Boolean true"},
		{"1 'kg' > 999.9 'g'", "System.Boolean true"},
		{"1 'kg' = 1 's'", ""},
		{"1 'kg' + 1 'g'", "System.Quantity 1.001 'kg'"},
		{"1.5 'kg'.toQuantity('mg')", "System.Quantity 1500000 'mg'"},
		{"1.5 'kg'.convertsToQuantity('s')", "System.Boolean false"},
		{"2 'g' * 3 'mg'", "System.Quantity 6 'g.mg'"},
		{"6 'g' / 3 'm'", "System.Quantity 2 'g/m'"},
		{"1 'g'.comparable(1 'kg')", "System.Boolean true"},
		{"6 'x' / 3 'm'", "error"},
		{"1 'g' + 1 'm'", "error"},
	} {
		result, err := mustCompile(t, c[0]).Evaluate(nil, Item{})
		got := show(result)
		if err != nil {
			got = "error"
		}
		if got != c[1] {
			t.Errorf("%s: got %q, %v, want %q", c[0], got, err, c[1])
		}
	}
}

func TestAccessors(t *testing.T) {
	focus := testItem(t, testObservation)
	one := func(text string) Item {
		t.Helper()
		result, err := mustCompile(t, text).Evaluate(nil, focus)
		if err != nil || len(result) != 1 {
			t.Fatalf("%s: %s, %v", text, show(result), err)
		}
		return result[0]
	}
	if d := one("value.value").Decimal(); d == nil || d.Text('f') != "185.0" {
		t.Errorf("decimal %s", d)
	}
	if q := one("value").Quantity(); q == nil || q.String() != "185.0 '[lb_av]'" {
		t.Errorf("quantity %v", q)
	}
	if at := one("effective").Temporal(); at == nil || at.Precision != PrecisionMonth || at.Kind != KindDateTime {
		t.Errorf("temporal %v", at)
	}
	if b, ok := one("status = 'final'").Bool(); !b || !ok {
		t.Error("boolean")
	}
	if n := one("subject"); n.Node().Get("reference").Str() != "Patient/p1" || !n.Is("Element") || n.Is("Resource") {
		t.Errorf("subject %s", n.Type())
	}
	patient := testItem(t, testPatient)
	result, err := mustCompile(t, "deceased").Evaluate(nil, patient)
	if err != nil || len(result) != 1 || result[0].Node().Exists() || !result[0].Extra().Exists() {
		t.Errorf("deceased: %v, %v", result, err)
	}
	name := Element(definition.R4(), "HumanName", patient.Node().Get("name").At(0))
	if result, err := mustCompile(t, "family").Evaluate(nil, name); err != nil || show(result) != "string van der Berg" {
		t.Errorf("family: %s, %v", show(result), err)
	}
	if text := mustCompile(t, "a.b").String(); text != "a.b" {
		t.Errorf("expression %s", text)
	}
}

func TestSubsumes(t *testing.T) {
	env := &Environment{Subsumes: func(a, b Item) (bool, bool) { return a.Text() < b.Text(), a.Text() != "?" }}
	for _, c := range [][2]string{
		{"'a'.subsumes('b')", "System.Boolean true"},
		{"'a'.subsumedBy('b')", "System.Boolean false"},
		{"'?'.subsumes('b')", ""},
	} {
		if result, err := mustCompile(t, c[0]).Evaluate(env, Item{}); err != nil || show(result) != c[1] {
			t.Errorf("%s: %s, %v", c[0], show(result), err)
		}
	}
}
