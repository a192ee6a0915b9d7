package search

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"starling/internal/fhir"
)

// containers contain patients and organizations that they refer to, or not, and
// that refer to each other; %c stands for one of few ids inside.
var containers = map[fhir.ResourceType][]string{
	"Patient": {
		`"name":[{"family":"%t"}],"gender":"male","birthDate":"200%d","managingOrganization":{"reference":"Organization/%n"}`,
		`"name":[{"family":"%t"}],"link":[{"other":{"reference":"#%c"},"type":"seealso"}],` + inside,
	},
	"Organization": {`"name":"%t","type":[{"coding":[{"code":"%t"}]}]`},
	"Observation": {
		`"subject":{"reference":"Patient/%n"},"code":{"coding":[{"code":"%t"}]}`,
		`"subject":{"reference":"#%c"},"performer":[{"reference":"#%c"}],"code":{"coding":[{"code":"%t"}]},` + inside,
		`"subject":{"reference":"#%c"},"code":{"coding":[{"code":"%t"}]},` + inside,
	},
	"Encounter": {`"subject":{"reference":"#%c"},"serviceProvider":{"reference":"#%c"},"class":{"code":"%t"},` + inside},
	"Measure":   {`"library":["#%c"],"status":"draft","contained":[{"resourceType":"Library","id":"a","status":"draft","name":"%t"},{"resourceType":"Library","id":"b","status":"draft","name":"%t","title":"%t"}]`},
}

const inside = `"contained":[
	{"resourceType":"Patient","id":"a","name":[{"family":"%t"}],"gender":"male","birthDate":"200%d","managingOrganization":{"reference":"#%c"}},
	{"resourceType":"Organization","id":"c","name":"%t","type":[{"coding":[{"code":"%t","display":"Being %t"}]}]},
	{"resourceType":"Patient","id":"b","name":[{"family":"%t","given":["%t"]}],"birthDate":"200%d","managingOrganization":{"reference":"Organization/%n"}},
	{"resourceType":"Observation","id":"d","code":{"coding":[{"system":"http://s","code":"%t"}]},"valueQuantity":{"value":%d},"subject":{"reference":"#%c"},
		"component":[{"code":{"coding":[{"code":"%t"}]},"valueQuantity":{"value":%d}},{"code":{"coding":[{"code":"%t"}]},"valueQuantity":{"value":%d}}]}]`

var containedQueries = []string{
	"Patient?_contained=true",
	"Patient?_contained=both",
	"Patient?_contained=true&name=%t",
	"Patient?_contained=both&name=%t",
	"Patient?_contained=true&name=%t&birthdate=gt200%d",
	"Patient?_contained=both&name=%t&birthdate=lt200%d",
	"Patient?_contained=true&family=%t&given=%t&birthdate=200%d",
	"Patient?_contained=true&gender:missing=true&name=%t",
	"Patient?_contained=both&gender:not=male",
	"Patient?_contained=true&_id=a&name=%t",
	"Patient?_contained=both&_id=r%d,b",
	"Patient?_contained=true&organization=Organization/%n",
	"Patient?_contained=true&organization.name=%t",
	"Patient?_contained=both&organization.name=%t&name=%t",
	"Patient?_contained=true&organization.type:not=%t",
	"Patient?_contained=true&_filter=name eq %t or not(birthdate gt 200%d)",
	"Organization?_contained=true&type:text=being %t",
	"Organization?_contained=true&type:text=%t&name=%t",
	"Organization?_contained=both&name:exact=%t",
	"Observation?_contained=true&value-quantity=gt%d&code=http://s|%t",
	"Observation?_contained=true&component-code-value-quantity=%t$lt%d",
	"Observation?_contained=true&subject.name=%t",
	"Observation?_contained=both&subject:Patient.organization.name=%t",
	"Observation?subject.name=%t",
	"Observation?subject:Patient.name=%t&code=%t",
	"Observation?subject:Patient.birthdate=gt200%d&subject:Patient.name=%t",
	"Observation?_filter=subject[name sw %t].birthdate gt 200%d",
	"Observation?patient.organization.name=%t",
	"Observation?patient.gender:missing=true",
	"Observation?patient._id=%c",
	"Observation?performer:Organization.name=%t",
	"Encounter?service-provider.type=%t&patient.name=%t",
	"Encounter?service-provider.type:not=%t",
	"Patient?link:Patient.name=%t",
	"Measure?depends-on:Library.name=%t",
	"Measure?depends-on:Library.title:missing=true",
	"Library?_contained=true&name=%t&title=%t",
	"Patient?name=%t",
	"Observation?subject:Patient._has:Observation:patient:code=%t",
}

// A store finds contained resources, and what refers to them, as the matcher
// does; it says which they are; and updates leave nothing behind.
func TestStoreFindsContainedAsTheMatcher(t *testing.T) {
	store := openStore(t)
	random := rand.New(rand.NewPCG(5, 6))
	w := world{}
	for round := range 2 {
		for _, typ := range slices.Sorted(maps.Keys(containers)) {
			templates := containers[typ]
			for n := range 30 {
				key := fhir.Key{Type: typ, ID: fmt.Sprintf("r%d", n)}
				if round > 0 && n%3 > 0 {
					continue
				}
				text := fill(random, templates[random.IntN(len(templates))])
				for strings.Contains(text, "%c") {
					text = strings.Replace(text, "%c", []string{"a", "b", "c"}[random.IntN(3)], 1)
				}
				root := parse(t, `{"resourceType":"`+string(typ)+`","id":"`+key.ID+`",`+text+`}`)
				index, err := r4.Index(typ, root, base)
				if err != nil {
					t.Fatal(err)
				}
				w[key] = index
				if _, err := store.Write(t.Context(), &fhir.Write{Op: fhir.OpUpdate, Method: fhir.MethodPut, Key: key, Index: index}); err != nil {
					t.Fatal(err)
				}
			}
		}
	}
	for _, template := range containedQueries {
		found, all := 0, 0
		for range 6 {
			query := fill(random, strings.ReplaceAll(template, "%c", []string{"a", "b", "c"}[random.IntN(3)]))
			p, err := plan(strings.ReplaceAll(query, "|", "%7C"), true)
			if err != nil {
				t.Fatalf("%s: %v", query, err)
			}
			if _, ok := p.Criteria.(fhir.Contained); ok {
				found += compareContained(t, store, p, query, w)
			} else {
				found += compareWorld(t, store, p, query, w)
			}
			all += len(w)
		}
		if found == 0 || found == all {
			t.Errorf("%s finds %d of %d", template, found, all)
		}
	}
}

// compareContained wants the containers and, by pages, which of their contents
// match.
func compareContained(t *testing.T, store fhir.Store, plan *fhir.SearchQuery, query string, w world) int {
	t.Helper()
	c := plan.Criteria.(fhir.Contained)
	var want, got []string
	for key, index := range w {
		if c.Itself && key.Type == c.Type && w.meets(c.Criterion, key, index) {
			want = append(want, fmt.Sprint(key, fhir.Itself))
		}
		place := 0
		for _, in := range index.Contained {
			if in.Type != c.Type {
				continue
			}
			if (inner{w, index}).meets(c.Criterion, in) {
				want = append(want, fmt.Sprint(key, place))
			}
			place++
		}
	}
	containers := 0
	for key, index := range w {
		if w.meets(c, key, index) {
			containers++
		}
	}
	plan.Count, plan.Total = len(w), fhir.TotalAccurate
	page, err := store.Search(t.Context(), plan)
	if err != nil {
		t.Errorf("%s: %v", query, err)
		return 0
	}
	if page.Total != int64(containers) || len(page.Matches) != containers {
		t.Errorf("%s: %d containers of %d, want %d", query, len(page.Matches), page.Total, containers)
	}
	plan.Count, plan.AsContained = 20, true
	for {
		page, err := store.Search(t.Context(), plan)
		if err != nil {
			t.Errorf("%s: %v", query, err)
			return 0
		}
		for i, match := range page.Matches {
			for _, place := range page.Contained[i] {
				got = append(got, fmt.Sprint(match.Key, place))
			}
		}
		if page.Total != int64(len(want)) {
			t.Errorf("%s: in all %d, want %d", query, page.Total, len(want))
		}
		if page.Next == "" {
			break
		}
		plan.Cursor = page.Next
	}
	slices.Sort(got)
	slices.Sort(want)
	if !slices.Equal(got, want) {
		t.Errorf("%s (%s): %s, want %s", query, show(plan.Criteria), got, want)
	}
	return containers
}
