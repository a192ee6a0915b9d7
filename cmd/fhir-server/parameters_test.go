package main

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"strings"
	"testing"

	"starling/internal/interaction"
	"starling/internal/postgres"
	"starling/internal/postgres/postgrestest"
)

// shoes is a SearchParameter of patients with an expression.
func shoes(status, typ, expression string) string {
	return `{"resourceType":"SearchParameter","id":"shoes","url":"http://example.org/SearchParameter/shoes","name":"Shoes","status":"` + status + `",
		"description":"Shoes","code":"shoes","base":["Patient"],"type":"` + typ + `","expression":"` + expression + `"}`
}

const jsonType = "Content-Type: application/fhir+json"

// put stores a resource.
func put(t *testing.T, r *running, target, body string) {
	t.Helper()
	if a := r.do("PUT", target, body, jsonType); a.StatusCode != 200 && a.StatusCode != 201 {
		t.Fatalf("PUT %s: %d %s", target, a.StatusCode, a.body)
	}
}

// found gives the ids a search finds, in its order, once it is answered: until
// then the answer has to say that the parameter is being indexed.
func found(t *testing.T, r *running, search string) (ids string) {
	t.Helper()
	eventually(t, search+" is answered", func() bool {
		a := r.do("GET", search, "")
		if a.StatusCode == 503 && a.code() == "incomplete" && strings.Contains(string(a.body), "cannot be searched by yet") {
			return false
		}
		if a.StatusCode != 200 {
			t.Fatalf("GET %s: %d %s", search, a.StatusCode, a.body)
		}
		var bundle struct {
			Entry []struct{ Resource struct{ ID string } }
		}
		if err := json.Unmarshal(a.body, &bundle); err != nil {
			t.Fatal(err)
		}
		var all []string
		for _, e := range bundle.Entry {
			all = append(all, e.Resource.ID)
		}
		ids = strings.Join(all, " ")
		return true
	})
	return ids
}

func TestSearchParameterAtRunTime(t *testing.T) {
	url := postgrestest.New(t)
	one, other := serve(t, url), serve(t, url)
	patient := func(r *running, id, city string, size int) {
		put(t, r, "Patient/"+id, fmt.Sprintf(`{"resourceType":"Patient","id":%q,"address":[{"city":%q}],"extension":[
			{"url":"http://example.org/shoes","valueQuantity":{"value":%d}},
			{"url":"http://example.org/maker","valueReference":{"reference":"Organization/o%d"}}]}`, id, city, size, size))
	}
	for _, size := range []int{40, 41, 42} {
		put(t, one, fmt.Sprintf("Organization/o%d", size), fmt.Sprintf(`{"resourceType":"Organization","id":"o%d","name":"Maker %d"}`, size, size))
	}
	patient(one, "a", "Bonn", 42)
	patient(one, "b", "Rome", 41)
	patient(other, "c", "Bonn", 40)

	if a := one.do("GET", "Patient?shoes=42", "", "Prefer: handling=strict"); a.StatusCode != 400 {
		t.Errorf("an unknown parameter: %d %s", a.StatusCode, a.body)
	}
	put(t, one, "SearchParameter/shoes", shoes("active", "quantity", "Patient.extension('http://example.org/shoes').value"))
	put(t, one, "SearchParameter/maker", strings.NewReplacer(`"shoes"`, `"maker"`, "SearchParameter/shoes", "SearchParameter/maker").Replace(
		shoes("active", "reference", "Patient.extension('http://example.org/maker').value")))
	eventually(t, "the other instance knows both", func() bool {
		return strings.Contains(string(other.do("GET", "metadata", "").body), `"name":"maker","definition":"http://example.org/SearchParameter/maker"`)
	})
	eventually(t, "the other instance knows both", func() bool {
		return strings.Contains(string(other.do("GET", "metadata", "").body), `"name":"shoes","definition":"http://example.org/SearchParameter/shoes"`)
	})
	for search, want := range map[string]string{
		"Patient?shoes=42":                                       "a",
		"Patient?shoes=gt40":                                     "a b",
		"Patient?shoes:missing=true":                             "",
		"Patient?_sort=shoes":                                    "c b a",
		"Patient?_sort=-shoes&address-city=Bonn":                 "a c",
		"Patient?maker=Organization/o41":                         "b",
		"Patient?maker:Organization.name=Maker 40":               "c",
		"Organization?_has:Patient:maker:shoes=41":               "o41",
		"Patient?_sort=-maker":                                   "a b c",
		"Patient?shoes=41&_include=Patient:maker":                "b o41",
		"Organization?_id=o42&_revinclude=Patient:maker":         "o42 a",
		"Patient?_filter=shoes gt 41":                            "a",
		"Patient?maker:identifier=x":                             "",
		"Organization?_id=o40&_revinclude=*":                     "o40 c",
		"Patient?shoes=40&_include=*":                            "c o40",
		"Patient?maker:Organization=o42,Organization/o41&_count": "a b",
	} {
		search = strings.ReplaceAll(strings.TrimSuffix(search, "&_count"), " ", "%20")
		for _, r := range []*running{one, other} {
			if got := found(t, r, search); got != want {
				t.Errorf("%s: %q, want %q", search, got, want)
			}
		}
	}
	// What is written from then on is found at once.
	patient(other, "d", "Bonn", 42)
	if got := found(t, one, "Patient?shoes=42"); got != "a d" {
		t.Errorf("after a write: %q", got)
	}
	patient(one, "a", "Bonn", 39)
	if got := found(t, other, "Patient?shoes=42"); got != "d" {
		t.Errorf("after an update: %q", got)
	}
	if a := one.do("GET", "metadata", ""); !strings.Contains(string(a.body), `"Patient:maker"`) || strings.Contains(string(a.body), "maker#") {
		t.Error("the includes of the CapabilityStatement")
	}

	// It looks at something else: the old rows are not found.
	put(t, one, "SearchParameter/shoes", shoes("active", "string", "Patient.address.city"))
	if got := found(t, one, "Patient?shoes=bonn"); got != "a c d" {
		t.Errorf("after a change: %q", got)
	}
	if got := found(t, other, "Patient?shoes=bonn"); got != "a c d" {
		t.Errorf("after a change, elsewhere: %q", got)
	}
	if got := found(t, one, "Patient?shoes=42"); got != "" {
		t.Errorf("the old value: %q", got)
	}

	// reindex keeps all that, and rids the database of what was replaced.
	if out := reindex(t, url, "Patient"); !strings.Contains(out, "4 resources are indexed") {
		t.Error(out)
	}
	if got := found(t, one, "Patient?shoes=rome&maker=Organization/o41&address-city=Rome"); got != "b" {
		t.Errorf("after reindex: %q", got)
	}

	// Retired, it is none.
	put(t, one, "SearchParameter/shoes", shoes("retired", "string", "Patient.address.city"))
	for _, r := range []*running{one, other} {
		eventually(t, "the parameter is gone", func() bool {
			a := r.do("GET", "Patient?shoes=bonn", "", "Prefer: handling=strict")
			return a.StatusCode == 400 && a.code() == "not-supported"
		})
	}
	// Back, it has missed what was written meanwhile.
	patient(one, "e", "Bonn", 1)
	put(t, one, "SearchParameter/shoes", shoes("active", "string", "Patient.address.city"))
	if got := found(t, one, "Patient?shoes=bonn&_sort=_id"); got != "a c d e" {
		t.Errorf("back again: %q", got)
	}
	if a := one.do("DELETE", "SearchParameter/shoes", ""); a.StatusCode != 204 && a.StatusCode != 200 {
		t.Fatal(a.StatusCode)
	}
	if a := one.do("GET", "Patient?shoes=bonn", "", "Prefer: handling=strict"); a.StatusCode != 400 {
		t.Errorf("after its deletion: %d %s", a.StatusCode, a.body)
	}
}

// reindex runs the command and gives what it prints.
func reindex(t *testing.T, url string, types ...string) string {
	t.Helper()
	var out strings.Builder
	p := &program{stdout: &out, stderr: &out}
	if err := p.parseFlags(append([]string{"reindex", "--database-url", url, "--data-dir", t.TempDir()}, types...)); err != nil {
		t.Fatal(err)
	}
	if err := p.run(context.Background()); err != nil {
		t.Fatal(err)
	}
	return out.String()
}

func TestSearchParameterIsChecked(t *testing.T) {
	r := serve(t, postgrestest.New(t))
	good := shoes("active", "string", "Patient.address.city")
	put(t, r, "SearchParameter/shoes", good)
	put(t, r, "SearchParameter/shoes", good) // it does not clash with itself
	for name, c := range map[string]struct{ old, new, expression string }{
		"code of the specification":  {`"code":"shoes"`, `"code":"birthdate"`, "SearchParameter.code"},
		"code of all resources":      {`"code":"shoes"`, `"code":"_lastUpdated"`, "SearchParameter.code"},
		"code of another":            {`"id":"shoes"`, `"id":"boots"`, "SearchParameter.code"},
		"code with a colon":          {`"code":"shoes"`, `"code":"a:b"`, "SearchParameter.code"},
		"type special":               {`"type":"string"`, `"type":"special"`, "SearchParameter.type"},
		"expression that is none":    {`Patient.address.city`, `Patient.address.(`, "SearchParameter.expression"},
		"expression of nothing":      {`Patient.address.city`, `Patient.shoes`, "SearchParameter.expression"},
		"expression of another type": {`Patient.address.city`, `Practitioner.address.city`, "SearchParameter.expression"},
		"variable that is unknown":   {`Patient.address.city`, `Patient.address.where(use = %usage).city`, "SearchParameter.expression"},
		"no expression":              {`,"expression":"Patient.address.city"`, ``, "SearchParameter.expression"},
		"elements of other types":    {`"type":"string"`, `"type":"quantity"`, "SearchParameter.expression"},
		"composite without parts":    {`"type":"string"`, `"type":"composite"`, "SearchParameter.component"},
		"part that is not there": {`"type":"string"`, `"type":"composite","component":[{"definition":"http://example.org/none","expression":"city"},
			{"definition":"http://example.org/none","expression":"line"}]`, "SearchParameter.component[0].definition"},
	} {
		body := strings.Replace(good, c.old, c.new, 1)
		id := "shoes"
		if strings.Contains(body, `"id":"boots"`) {
			id = "boots"
		}
		a := r.do("PUT", "SearchParameter/"+id, body, jsonType)
		if a.StatusCode != 422 || !strings.Contains(string(a.body), `"`+c.expression+`"`) {
			t.Errorf("%s: %d %s", name, a.StatusCode, a.body)
		}
		// As a draft it is kept.
		if a := r.do("PUT", "SearchParameter/"+id+"-draft", strings.Replace(strings.Replace(body, `"active"`, `"draft"`, 1), `"id":"`+id, `"id":"`+id+"-draft", 1), jsonType); a.StatusCode != 201 && a.StatusCode != 200 {
			t.Errorf("%s, as a draft: %d %s", name, a.StatusCode, a.body)
		}
	}
	// A copy of one of the specification's changes nothing.
	put(t, r, "SearchParameter/copy", `{"resourceType":"SearchParameter","id":"copy","url":"http://hl7.org/fhir/SearchParameter/Patient-active","name":"active",
		"status":"active","description":"Active","code":"active","base":["Patient"],"type":"token","expression":"Patient.active"}`)
	put(t, r, "Patient/a", `{"resourceType":"Patient","id":"a","active":true,"address":[{"city":"Bonn"}]}`)
	for _, search := range []string{"Patient?active=true", "Patient?shoes=bonn"} {
		if got := found(t, r, search); got != "a" {
			t.Errorf("%s: %q", search, got)
		}
	}
	put(t, r, "SearchParameter/shoes-draft", strings.NewReplacer(`"id":"shoes"`, `"id":"shoes-draft"`, `"active"`, `"draft"`, `"code":"shoes"`, `"code":"birthdate"`).Replace(good))
	if body := string(r.do("GET", "metadata", "").body); !strings.Contains(body, "`birthdate` (http://example.org/SearchParameter/shoes)") {
		t.Error("the CapabilityStatement does not name the drafts that are not served")
	}
}

// A composite parameter has its own elements, and parts that were stored, too.
func TestCompositeAtRunTime(t *testing.T) {
	r := serve(t, postgrestest.New(t))
	put(t, r, "Patient/a", `{"resourceType":"Patient","id":"a","address":[{"city":"Bonn","country":"DE"},{"city":"Rome","country":"IT"}]}`)
	put(t, r, "SearchParameter/land", `{"resourceType":"SearchParameter","id":"land","url":"http://example.org/land","name":"Land","status":"active",
		"description":"Land","code":"land","base":["Patient"],"type":"token","expression":"Patient.address.country"}`)
	put(t, r, "SearchParameter/place", `{"resourceType":"SearchParameter","id":"place","url":"http://example.org/place","name":"Place","status":"active",
		"description":"Place","code":"place","base":["Patient"],"type":"composite","expression":"Patient.address","component":[
		{"definition":"http://example.org/land","expression":"country"},
		{"definition":"http://hl7.org/fhir/SearchParameter/individual-address-city","expression":"city"}]}`)
	for search, want := range map[string]string{"Patient?place=DE$Bonn": "a", "Patient?place=IT$Bonn": "", "Patient?land=IT": "a"} {
		if got := found(t, r, search); got != want {
			t.Errorf("%s: %q, want %q", search, got, want)
		}
	}
}

// Contained resources that were stored before are found by it, too.
func TestContainedAtRunTime(t *testing.T) {
	r := serve(t, postgrestest.New(t))
	contains := func(id string, size int) {
		put(t, r, "Observation/"+id, fmt.Sprintf(`{"resourceType":"Observation","id":%q,"status":"final","code":{"text":"x"},"subject":{"reference":"#p"},"contained":[
			{"resourceType":"Patient","id":"p","extension":[{"url":"http://example.org/shoes","valueQuantity":{"value":%d}}]}]}`, id, size))
	}
	contains("a", 42)
	contains("b", 41)
	put(t, r, "SearchParameter/shoes", shoes("active", "quantity", "Patient.extension('http://example.org/shoes').value"))
	found(t, r, "Patient?shoes=42")
	contains("c", 42)
	for _, search := range []string{"Patient?_contained=true&shoes=42", "Observation?subject:Patient.shoes=42"} {
		if got := found(t, r, search); got != "a c" {
			t.Errorf("%s: %q", search, got)
		}
	}
}

// A load knows the search parameters that were there when it began. What it writes
// after they were replaced is indexed by the new ones.
func TestLoadIndexesByTheCurrentParameters(t *testing.T) {
	url := postgrestest.New(t)
	r := serve(t, url)
	database, err := postgres.Open(t.Context(), postgres.Config{URL: url})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(database.Close)
	caches, err := newLoadCaches(t.Context(), database, nil, (&profileFlags{}).settle, "off", slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	service, err := caches.service(&resourceFlags{Validation: "off"})
	if err != nil {
		t.Fatal(err)
	}
	load := func(request interaction.Request) {
		t.Helper()
		request.Base = "http://example.org/fhir"
		if response, err := service.Serve(t.Context(), &request); err != nil || strings.Contains(string(response.Body), `"outcome"`) {
			t.Fatalf("%v %+v", err, response)
		}
	}
	patient := func(id string) string {
		return fmt.Sprintf(`{"resourceType":"Patient","id":%q,"address":[{"city":"Bonn"}]}`, id)
	}
	put(t, r, "SearchParameter/shoes", shoes("active", "string", "Patient.address.city"))
	found(t, r, "Patient?shoes=bonn") // the job has ended and finds nothing for them
	load(interaction.Request{Interaction: interaction.Update, Type: "Patient", ID: "a", Body: []byte(patient("a"))})

	put(t, r, "SearchParameter/shoes", shoes("active", "string", "Patient.address.city | Patient.address.country"))
	found(t, r, "Patient?shoes=bonn")
	load(interaction.Request{Interaction: interaction.Batch, Body: []byte(`{"resourceType":"Bundle","type":"transaction","entry":[
		{"resource":` + patient("b") + `,"request":{"method":"PUT","url":"Patient/b"}},{"resource":` + patient("c") + `,"request":{"method":"PUT","url":"Patient/c"}}]}`)})
	if got := found(t, r, "Patient?shoes=bonn"); got != "a b c" {
		t.Errorf("%q are found", got)
	}
}

// $validate says of a search parameter what storing it would say.
func TestValidateParameters(t *testing.T) {
	r := serve(t, postgrestest.New(t))
	for name, c := range map[string]struct {
		mode, body string
		want       string // severity and code of what is said of it, "" for nothing
	}{
		"right":                       {"", shoes("active", "string", "Patient.address.city"), ""},
		"another type's expression":   {"", shoes("active", "string", "Organization.name"), `"severity":"error","code":"business-rule"`},
		"no FHIRPath":                 {"", shoes("active", "string", "Patient.address.("), `"severity":"error","code":"business-rule"`},
		"a code that is there":        {"", strings.ReplaceAll(shoes("active", "string", "Patient.address.city"), `"code":"shoes"`, `"code":"name"`), `"severity":"warning","code":"duplicate"`},
		"both":                        {"", strings.ReplaceAll(shoes("active", "string", "Organization.name"), `"code":"shoes"`, `"code":"name"`), `"severity":"error","code":"business-rule"`},
		"a code that is there, to be": {"create", strings.ReplaceAll(shoes("active", "string", "Patient.address.city"), `"code":"shoes"`, `"code":"name"`), `"severity":"error","code":"duplicate"`},
	} {
		target := "SearchParameter/$validate"
		if c.mode != "" {
			target += "?mode=" + c.mode
		}
		a := r.do("POST", target, c.body)
		if a.StatusCode != 200 || c.want != "" && !strings.Contains(string(a.body), c.want) || c.want == "" && strings.Contains(string(a.body), `"error"`) {
			t.Errorf("%s: %d %s", name, a.StatusCode, a.body)
		}
	}
}
