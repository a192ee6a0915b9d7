package terminology

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"starling/internal/fhir"
	"starling/internal/fhir/definition"
)

// of makes a snapshot of resources' JSON, each with a version of its own.
func of(t testing.TB, texts ...string) *Terminology {
	t.Helper()
	return New(NewSpecification(definition.R4()), resources(t, texts...), nil, nil)
}

func resources(t testing.TB, texts ...string) []*fhir.Resource {
	t.Helper()
	var all []*fhir.Resource
	for i, text := range texts {
		s, err := newSource([]byte(text))
		if err != nil {
			t.Fatal(err)
		}
		_, body, _ := strings.Cut(text, `"`+string(s.resourceType)+`"`)
		all = append(all, &fhir.Resource{
			Key: fhir.Key{Type: s.resourceType, ID: fmt.Sprintf("r%d", i)}, VersionID: 1, LastUpdated: time.Unix(int64(i), 0),
			Content: fhir.Content{Body: []byte(strings.TrimSuffix(body, "}"))},
		})
	}
	return all
}

// zoo has a concept with two parents, one that is its own ancestor, and
// properties of several types.
const zoo = `{"resourceType":"CodeSystem","url":"http://zoo","version":"1","content":"complete","caseSensitive":true,"concept":[
	{"code":"pet","concept":[{"code":"dog","display":"Dog","property":[{"code":"legs","valueInteger":4},{"code":"sound","valueString":"bark"}]}]},
	{"code":"bird","property":[{"code":"legs","valueInteger":2}],"concept":[
		{"code":"parrot","property":[{"code":"parent","valueCode":"pet"},{"code":"legs","valueInteger":2}]},
		{"code":"dodo","property":[{"code":"status","valueCode":"retired"}]}]},
	{"code":"ouroboros","property":[{"code":"parent","valueCode":"ouroboros"},{"code":"child","valueCode":"tail"}],"concept":[]},
	{"code":"tail","property":[{"code":"child","valueCode":"ouroboros"}]}]}`

func set(url, compose string) string {
	return `{"resourceType":"ValueSet","url":"` + url + `","status":"active","compose":` + compose + `}`
}

func codes(t *testing.T, x *Terminology, canonical string) string {
	t.Helper()
	v, err := x.ValueSet(canonical)
	if err != nil {
		return "error: " + err.Error()
	}
	expanded, err := x.Expand(context.Background(), v, Expansion{Count: -1})
	if err != nil {
		return "error: " + err.Error()
	}
	var all []string
	for _, c := range expanded.Codes {
		all = append(all, c.Code)
		if got := in(x, canonical, c.System, c.Code); got != Yes {
			t.Errorf("%s has %s, but is not said to: %v", canonical, c.Code, got)
		}
	}
	return strings.Join(all, " ")
}

func TestCompositions(t *testing.T) {
	filter := func(property, op, value string) string {
		return fmt.Sprintf(`{"system":"http://zoo","filter":[{"property":%q,"op":%q,"value":%q}]}`, property, op, value)
	}
	others := []string{
		zoo,
		`{"resourceType":"CodeSystem","url":"http://museum","content":"complete","property":[{"code":"gone","uri":"http://hl7.org/fhir/concept-properties#inactive","type":"boolean"}],
			"concept":[{"code":"mammoth"},{"code":"auk","property":[{"code":"gone","valueBoolean":true}]}]}`,
		set("http://v/two-legs", `{"include":[`+filter("legs", "=", "2")+`]}`),
		set("http://v/pets", `{"include":[`+filter("concept", "is-a", "pet")+`]}`),
	}
	for name, c := range map[string]struct{ compose, want string }{
		"all":              {`{"include":[{"system":"http://zoo"}]}`, "pet dog bird parrot dodo ouroboros tail"},
		"version":          {`{"include":[{"system":"http://zoo","version":"1"}]}`, "pet dog bird parrot dodo ouroboros tail"},
		"other version":    {`{"include":[{"system":"http://zoo","version":"2"}]}`, "error: not-found"},
		"listed":           {`{"include":[{"system":"http://zoo","concept":[{"code":"dog"},{"code":"unicorn"}]}]}`, "dog unicorn"},
		"is-a":             {`{"include":[` + filter("concept", "is-a", "pet") + `]}`, "pet dog parrot"},
		"descendent-of":    {`{"include":[` + filter("concept", "descendent-of", "pet") + `]}`, "dog parrot"},
		"is-not-a":         {`{"include":[` + filter("concept", "is-not-a", "pet") + `]}`, "bird dodo ouroboros tail"},
		"generalizes":      {`{"include":[` + filter("concept", "generalizes", "parrot") + `]}`, "pet bird parrot"},
		"circle":           {`{"include":[` + filter("concept", "is-a", "tail") + `]}`, "ouroboros tail"},
		"=":                {`{"include":[` + filter("legs", "=", "2") + `]}`, "bird parrot"},
		"= text":           {`{"include":[` + filter("sound", "=", "bark") + `]}`, "dog"},
		"= parent":         {`{"include":[` + filter("parent", "=", "bird") + `]}`, "parrot dodo"},
		"= child":          {`{"include":[` + filter("child", "=", "parrot") + `]}`, "pet bird"},
		"= no flag":        {`{"include":[` + filter("inactive", "=", "false") + `]}`, "pet dog bird parrot ouroboros tail"},
		"in":               {`{"include":[` + filter("code", "in", "dog, tail") + `]}`, "dog tail"},
		"not-in":           {`{"include":[` + filter("legs", "not-in", "2,4") + `]}`, "pet dodo ouroboros tail"},
		"regex":            {`{"include":[` + filter("code", "regex", "[d].*") + `]}`, "dog dodo"},
		"regex is whole":   {`{"include":[` + filter("code", "regex", "do") + `]}`, ""},
		"exists":           {`{"include":[` + filter("legs", "exists", "true") + `]}`, "dog bird parrot"},
		"exists not":       {`{"include":[` + filter("legs", "exists", "false") + `]}`, "pet dodo ouroboros tail"},
		"no parent":        {`{"include":[` + filter("parent", "exists", "false") + `]}`, "pet bird"},
		"no child":         {`{"include":[` + filter("child", "exists", "false") + `]}`, "dog parrot dodo"},
		"regex of parents": {`{"include":[` + filter("parent", "regex", "b.*") + `]}`, "parrot dodo"},
		"not-in parents":   {`{"include":[` + filter("parent", "not-in", "pet,ouroboros,tail") + `]}`, "pet bird dodo"},
		"nobody has it":    {`{"include":[` + filter("deprecated", "exists", "true") + `]}`, ""},
		"flag by its URI":  {`{"inactive":false,"include":[{"system":"http://museum"}]}`, "mammoth"},
		"two filters":      {`{"include":[{"system":"http://zoo","filter":[{"property":"concept","op":"is-a","value":"pet"},{"property":"legs","op":"=","value":"2"}]}]}`, "parrot"},
		"two includes":     {`{"include":[` + filter("legs", "=", "2") + `,` + filter("concept", "is-a", "pet") + `]}`, "bird parrot pet dog"},
		"sets in common":   {`{"include":[{"valueSet":["http://v/two-legs","http://v/pets"]}]}`, "parrot"},
		"system and set":   {`{"include":[{"system":"http://zoo","concept":[{"code":"dog"},{"code":"bird"}],"valueSet":["http://v/pets"]}]}`, "dog"},
		"exclude":          {`{"include":[{"system":"http://zoo"}],"exclude":[` + filter("concept", "is-a", "pet") + `]}`, "bird dodo ouroboros tail"},
		"exclude a set":    {`{"include":[{"valueSet":["http://v/pets"]}],"exclude":[{"valueSet":["http://v/two-legs"]}]}`, "pet dog"},
		"exclude unheld":   {`{"include":[` + filter("legs", "=", "2") + `],"exclude":[{"system":"http://unheld"}]}`, "bird parrot"},
		"inactive":         {`{"inactive":false,"include":[` + filter("concept", "is-a", "bird") + `]}`, "bird parrot"},
		"inactive, listed": {`{"inactive":false,"include":[{"system":"http://zoo","concept":[{"code":"dodo"},{"code":"dog"}]}]}`, "dog"},
		"unheld":           {`{"include":[{"system":"http://unheld"}]}`, "error: not-found"},
		"unheld, listed":   {`{"include":[{"system":"http://unheld","concept":[{"code":"x"}]}]}`, "x"},
		"unknown set":      {`{"include":[{"valueSet":["http://v/unheard"]}]}`, "error: not-found"},
		"unknown filter":   {`{"include":[` + filter("concept", "like", "x") + `]}`, "error: not-supported"},
		"unknown property": {`{"include":[` + filter("legz", "=", "2") + `]}`, "error: not-supported"},
		"unknown, not-in":  {`{"include":[` + filter("legz", "not-in", "2") + `]}`, "error: not-supported"},
		"unknown code":     {`{"include":[` + filter("concept", "is-a", "unicorn") + `]}`, "error: not-supported"},
		"bad regex":        {`{"include":[` + filter("code", "regex", "(") + `]}`, "error: not-supported"},
		"bad exists":       {`{"include":[` + filter("legs", "exists", "maybe") + `]}`, "error: not-supported"},
		"nothing":          {`{"include":[]}`, ""},
	} {
		got := codes(t, of(t, append(others, set("http://v/it", c.compose))...), "http://v/it")
		if strings.HasPrefix(c.want, "error: ") && strings.HasPrefix(got, c.want) {
			continue
		}
		if got != c.want {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
	}
}

func TestMember(t *testing.T) {
	fragment := strings.NewReplacer("http://zoo", "http://part", `"complete"`, `"fragment"`, `"caseSensitive":true`, `"caseSensitive":false`).Replace(zoo)
	x := of(t, zoo, fragment,
		set("http://v/all", `{"include":[{"system":"http://zoo"}]}`),
		set("http://v/part", `{"include":[{"system":"http://part"}]}`),
		set("http://v/mixed", `{"include":[{"system":"http://unheld"},{"system":"http://zoo"}]}`),
		set("http://v/unheard", `{"include":[{"system":"http://zoo","valueSet":["http://v/none"]}]}`),
		set("http://v/self", `{"include":[{"valueSet":["http://v/self"]}]}`),
		`{"resourceType":"ValueSet","url":"http://v/expanded","expansion":{"contains":[{"system":"http://unheld","code":"a","contains":[{"system":"http://zoo","code":"dog"}]}]}}`,
	)
	for _, c := range []struct {
		set, system, code string
		want              Answer
	}{
		{"http://v/all", "http://zoo", "dog", Yes},
		{"http://v/all", "http://zoo", "Dog", No},
		{"http://v/all", "", "dog", Yes},
		{"http://v/all", "", "", No},
		{"http://v/all", "http://other", "dog", No},
		{"http://v/part", "http://part", "DOG", Yes},
		{"http://v/part", "http://part", "cat", Unknown},
		{"http://v/part", "http://zoo", "cat", No},
		{"http://v/mixed", "http://zoo", "dog", Yes},
		{"http://v/mixed", "http://zoo", "cat", No},
		{"http://v/mixed", "http://unheld", "cat", Unknown},
		{"http://v/mixed", "", "cat", Unknown},
		{"http://v/mixed", "", "", Unknown},
		{"http://v/unheard", "http://zoo", "dog", Unknown},
		{"http://v/unheard", "http://zoo", "cat", No},
		{"http://v/self", "http://zoo", "dog", Unknown},
		{"http://v/none", "http://zoo", "dog", Unknown},
		{"http://v/expanded", "http://unheld", "a", Yes},
		{"http://v/expanded", "http://zoo", "dog", Yes},
		{"http://v/expanded", "http://zoo", "bird", No},
		{"", "", "", Unknown},
		{"http://hl7.org/fhir/ValueSet/administrative-gender|4.0.1", "", "male", Yes},
		{"http://hl7.org/fhir/ValueSet/administrative-gender|9", "", "male", Yes},
		{"http://hl7.org/fhir/ValueSet/administrative-gender|4.0.1", "", "robot", No},
		{"http://hl7.org/fhir/ValueSet/condition-code", "http://snomed.info/sct", "1", Unknown},
	} {
		for range 2 {
			if got := in(x, c.set, c.system, c.code); got != c.want {
				t.Errorf("%s, %s|%s: %v, want %v", c.set, c.system, c.code, got, c.want)
			}
		}
	}
}

func TestWhichOfSeveral(t *testing.T) {
	version := func(version, code string) string {
		return `{"resourceType":"CodeSystem","url":"http://v","version":"` + version + `","content":"complete","concept":[{"code":"` + code + `"}]}`
	}
	const gender = "http://hl7.org/fhir/administrative-gender"
	x := of(t, version("1.9", "nine"), version("1.10", "ten"), version("1.2", "two"),
		`{"resourceType":"CodeSystem","url":"`+gender+`","version":"4.0.1","content":"complete","concept":[{"code":"robot"}]}`,
		`{"resourceType":"CodeSystem","url":"http://v","version":"2","content":"supplement","supplements":"http://v","concept":[{"code":"x"}]}`)
	for canonical, code := range map[string]string{
		"http://v": "ten", "http://v|1.9": "nine", "http://v|1.2": "two", gender: "robot", gender + "|4.0.1": "male",
	} {
		s, err := x.CodeSystem(canonical)
		if err != nil {
			t.Errorf("%s: %v", canonical, err)
			continue
		}
		if _, ok := s.find(code); !ok {
			t.Errorf("%s has no %s", canonical, code)
		}
	}
	if _, err := x.CodeSystem("http://v|3"); !errors.Is(err, ErrNotHeld) {
		t.Errorf("%v", err)
	}
}

func TestSnapshotsShareWhatStays(t *testing.T) {
	specification := NewSpecification(definition.R4())
	all := resources(t, zoo, set("http://v/all", `{"include":[{"system":"http://zoo"}]}`))
	first := New(specification, all, nil, nil)
	before, err := first.CodeSystem("http://zoo")
	if err != nil {
		t.Fatal(err)
	}
	again := New(specification, all, first, nil)
	if after, _ := again.CodeSystem("http://zoo"); after != before {
		t.Error("a system that stayed was compiled again")
	}
	changed := *all[0]
	changed.VersionID = 2
	next := New(specification, []*fhir.Resource{&changed, all[1]}, again, nil)
	if after, _ := next.CodeSystem("http://zoo"); after == before {
		t.Error("a system that changed was not")
	}
	if gone := New(specification, all[1:], next, nil); in(gone, "http://v/all", "http://zoo", "dog") != Unknown {
		t.Error("a system that was deleted is still there")
	}
}

// TestSpecification compares with the definitions' own enumeration of all
// value sets.
func TestSpecification(t *testing.T) {
	r4 := definition.R4()
	x := of(t)
	compared, differing := 0, 0
	for _, canonical := range r4.Canonicals("ValueSet") {
		known, ok := r4.Codes(canonical)
		if !ok {
			continue
		}
		v, err := x.ValueSet(canonical)
		if err != nil {
			t.Errorf("%s: %v", canonical, err)
			continue
		}
		expanded, err := x.Expand(context.Background(), v, Expansion{Count: -1})
		if err != nil {
			t.Errorf("%s: %v", canonical, err)
			continue
		}
		count := 0
		for code, systems := range known {
			for _, system := range systems {
				count++
				if in(x, canonical, system, code) != Yes {
					t.Errorf("%s: %s|%s is not said to be in it", canonical, system, code)
				}
			}
		}
		if compared++; count != expanded.Total {
			differing++
			t.Errorf("%s: %d codes, %d are known", canonical, expanded.Total, count)
		}
	}
	if compared < 1000 {
		t.Errorf("%d compared", compared)
	}
	t.Logf("%d value sets compared, %d differ", compared, differing)
}

// in is Member without the reason.
func in(x *Terminology, valueSet, system, code string) Answer {
	answer, _ := x.Member(context.Background(), valueSet, system, code)
	return answer
}

// TestEachCodeOnce holds that what several includes select is given once, whether
// named, in another version of the system, or in none that is held.
func TestEachCodeOnce(t *testing.T) {
	older := strings.Replace(zoo, `"version":"1"`, `"version":"0"`, 1)
	x := of(t, zoo, older, set("http://v", `{"include":[
		{"system":"http://other","concept":[{"code":"a"},{"code":"a"}]},
		{"system":"http://zoo","version":"0","filter":[{"property":"legs","op":"=","value":"2"}]},
		{"system":"http://zoo","concept":[{"code":"dog"},{"code":"bird"},{"code":"unicorn"}]},
		{"system":"http://zoo","filter":[{"property":"concept","op":"is-a","value":"bird"}]},
		{"system":"http://zoo","concept":[{"code":"unicorn"}]},
		{"system":"http://other","concept":[{"code":"a"},{"code":"b"}]}]}`))
	if got := codes(t, x, "http://v"); got != "a bird parrot dog unicorn dodo b" {
		t.Errorf("%s", got)
	}
}
