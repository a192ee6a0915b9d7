package fhirpath

import (
	"encoding/json"
	"math"
	"regexp"
	"slices"
	"testing"

	"starling/internal/fhir"
	"starling/internal/fhir/definition"
	"starling/internal/fhir/element"
	"starling/internal/fhir/fhirpath"
)

// ask evaluates here.
func ask(t *testing.T, q question) answer {
	t.Helper()
	tree, err := element.Parse([]byte(q.resource), element.DefaultLimits)
	if err != nil {
		t.Fatal(err)
	}
	e, err := fhirpath.Compile(definition.R4(), q.expression)
	if err != nil {
		return answer{Error: err.Error()}
	}
	focus := fhirpath.Root(definition.R4(), fhir.ResourceType(tree.Root().Get("resourceType").Str()), tree.Root())
	result, err := e.Evaluate(&fhirpath.Environment{Limits: fhirpath.UserLimits}, focus)
	if err != nil {
		return answer{Error: err.Error()}
	}
	a := answer{Result: []any{}}
	for _, item := range result {
		if value := plain(t, item); value != nil {
			a.Result = append(a.Result, value)
		}
	}
	return a
}

// plain is an item as a JSON value; nil for a primitive without one.
func plain(t *testing.T, item fhirpath.Item) any {
	t.Helper()
	var value any
	switch node := item.Node(); {
	case node.Kind() == element.String:
		return node.Str()
	case node.Exists():
		if err := json.Unmarshal(node.Raw(), &value); err != nil {
			t.Fatalf("%s %q: %v", item.Type(), node.Raw(), err)
		}
	case item.Extra().Exists():
	default:
		if b, ok := item.Bool(); ok {
			return b
		}
		if d := item.Decimal(); d != nil {
			value, _ = d.Float64()
			return value
		}
		return item.Text()
	}
	return value
}

// anyOrder are the functions whose results have no order that the specification
// says.
var anyOrder = regexp.MustCompile(`\b(children|descendants|repeat|union|distinct|intersect)\(|\|`)

// same compares two answers.
func same(expression string, a, b answer) bool {
	if a.Error != "" || b.Error != "" {
		return a.Error != "" && b.Error != ""
	}
	if equal(a.Result, b.Result) {
		return true
	}
	if !anyOrder.MatchString(expression) || len(a.Result) != len(b.Result) {
		return false
	}
	rest := slices.Clone(b.Result)
	for _, value := range a.Result {
		i := slices.IndexFunc(rest, func(other any) bool { return equal(value, other) })
		if i < 0 {
			return false
		}
		rest = slices.Delete(rest, i, i+1)
	}
	return true
}

// equal compares JSON values. The package keeps about 15 digits of a number.
func equal(a, b any) bool {
	switch a := a.(type) {
	case float64:
		b, ok := b.(float64)
		return ok && math.Abs(a-b) <= 1e-8*max(1, math.Abs(a), math.Abs(b))
	case []any:
		b, ok := b.([]any)
		return ok && slices.EqualFunc(a, b, equal)
	case map[string]any:
		b, ok := b.(map[string]any)
		if !ok || len(a) != len(b) {
			return false
		}
		for name, value := range a {
			if other, ok := b[name]; !ok || !equal(value, other) {
				return false
			}
		}
		return true
	}
	return a == b
}

// compare asks both and counts. What differs has to be a known difference, and
// each of those that are said to be among the questions has to be seen.
func compare(t *testing.T, set string, questions []question) {
	peer := askPeer(t, questions)
	alike, refused, known := 0, 0, map[string]int{}
	for i, q := range questions {
		here := ask(t, q)
		if same(q.expression, here, peer[i]) {
			alike++
			if here.Error != "" {
				refused++
			}
			continue
		}
		if d := differenceOf(q, here, peer[i]); d != nil {
			known[d.name]++
			continue
		}
		t.Errorf("%s\n\there:    %.300s\n\tpackage: %.300s", q.expression, here, peer[i])
	}
	t.Logf("fhirpath: of %d expressions %d have the same result (%d of them none: both refuse)", len(questions), alike, refused)
	for i := range differences {
		d := &differences[i]
		if n := known[d.name]; n > 0 {
			t.Logf("%6d differ, %s", n, d)
		} else if d.seenIn == set {
			t.Errorf("%s: not seen any more", d.name)
		}
	}
}

func (a answer) String() string {
	if a.Error != "" {
		return "refused: " + a.Error
	}
	text, err := json.Marshal(a.Result)
	if err != nil {
		return err.Error()
	}
	return string(text)
}
