package parameter

import (
	"fmt"
	"strings"
	"testing"

	"starling/internal/fhir"
	"starling/internal/fhir/definition"
	"starling/internal/fhir/element"
	"starling/internal/fhir/search"
)

const room = `"url":"http://example.org/room","name":"Room","status":"active","description":"A room","code":"room","base":["Basic"],"type":"string",
	"expression":"Basic.extension('http://example.org/room').value"`

// stored is a version of a resource of the domain.
func stored(t testing.TB, id string, version int64, members string) *fhir.Resource {
	t.Helper()
	tree, err := element.Parse([]byte(`{"resourceType":"SearchParameter","id":"`+id+`",`+members+`}`), element.DefaultLimits)
	if err != nil {
		t.Fatal(err)
	}
	content, err := element.Content(tree.Root())
	if err != nil {
		t.Fatal(err)
	}
	return &fhir.Resource{Key: fhir.Key{Type: "SearchParameter", ID: id}, VersionID: version, Content: content}
}

func builder() func([]*fhir.Resource) *Set {
	return Builder(search.New(definition.R4()), &Progress{})
}

func codes(set *Set) string {
	var all []string
	for _, d := range set.Custom {
		all = append(all, d.Code)
	}
	return strings.Join(all, " ")
}

// The values of a parameter have another name once they would be others, and else
// the same.
func TestNameOfValues(t *testing.T) {
	name := func(members string) string {
		set := builder()([]*fhir.Resource{stored(t, "room", 1, members)})
		if len(set.Custom) != 1 {
			t.Fatalf("not served: %s", members)
		}
		return set.Custom[0].Param()
	}
	before := name(room)
	for _, c := range []struct {
		old, new string
		same     bool
	}{
		{`"description":"A room"`, `"description":"The room"`, true},
		{`"name":"Room"`, `"name":"Chamber","publisher":"x","experimental":true`, true},
		{`"status":"active"`, `"status":"draft"`, true},
		{`"type":"string"`, `"type":"string","multipleOr":false,"modifier":["exact"]`, true},
		{`"code":"room"`, `"code":"chamber"`, false},
		{`"type":"string"`, `"type":"token"`, false},
		{`"base":["Basic"]`, `"base":["Basic","Patient"]`, false},
		{`extension('http://example.org/room')`, `extension('http://example.org/chamber')`, false},
		{`"type":"string"`, `"type":"string","target":["Patient"]`, false},
	} {
		changed := strings.Replace(room, c.old, c.new, 1)
		if strings.Contains(changed, `"Patient"`) {
			changed = strings.ReplaceAll(changed, "Basic.extension", "extension")
		}
		if got := name(changed); (got == before) != c.same {
			t.Errorf("with %s it is %s, was %s", c.new, got, before)
		}
	}
	if !isOf(strings.SplitN(before, "#", 2)[1], "room") || isOf(strings.SplitN(before, "#", 2)[1], "roo") || isOf("room.x."+strings.SplitN(before, ".", 2)[1], "room") {
		t.Error(before)
	}
}

// A composite is another when one of its parts comes to be of another type.
func TestNameOfComposite(t *testing.T) {
	const land = `"url":"http://example.org/land","name":"Land","status":"active","description":"x","code":"land","base":["Patient"],"expression":"Patient.address.country","type":`
	composite := stored(t, "place", 1, `"url":"http://example.org/place","name":"Place","status":"active","description":"x","code":"place","base":["Patient"],"type":"composite",
		"expression":"Patient.address","component":[{"definition":"http://example.org/land","expression":"country"},
		{"definition":"http://hl7.org/fhir/SearchParameter/individual-address-city","expression":"city"}]`)
	names := map[string]bool{}
	build := builder()
	for _, typ := range []string{"string", "token", "string"} {
		set := build([]*fhir.Resource{composite, stored(t, "land", 1, land+`"`+typ+`"`)})
		if codes(set) != "land place" {
			t.Fatalf("%s: %q %v", typ, codes(set), set.Search.Unserved("Patient"))
		}
		names[set.Custom[1].Param()] = true
	}
	if len(names) != 2 {
		t.Errorf("%v", names)
	}
}

// Of the resources of the domain those are served that can be; why others are not is
// said; what is retired or removed is unknown.
func TestSet(t *testing.T) {
	build := builder()
	second := strings.Replace(room, "http://example.org/room\",\"name", "http://example.org/other\",\"name", 1)
	first, other := stored(t, "first", 1, room), stored(t, "second", 1, second)
	set := build([]*fhir.Resource{
		first, other, stored(t, "copy", 1, `"url":"http://hl7.org/fhir/SearchParameter/Patient-animal-breed","status":"active"`),
		{Key: fhir.Key{Type: "StructureDefinition", ID: "x"}, VersionID: 1},
	})
	if codes(set) != "room" || set.Custom[0].URL != "http://example.org/room" {
		t.Errorf("%q", codes(set))
	}
	why := fmt.Sprint(set.Search.Unserved("Basic"))
	if !strings.Contains(why, "http://example.org/other room Basic has a search parameter 'room' already") {
		t.Error(why)
	}
	if got := set.types[set.Custom[0].Param()]; len(got) != 1 || got[0] != "Basic" {
		t.Error(got)
	}
	plan := func(set *Set) error {
		_, _, err := set.Search.Plan([]fhir.ResourceType{"Basic"}, "room=x", true, "")
		return err
	}
	if err := plan(set); err == nil || !strings.Contains(err.Error(), "cannot be searched by yet") {
		t.Errorf("before it is indexed: %v", err)
	}
	for _, gone := range [][]*fhir.Resource{nil, {stored(t, "first", 2, strings.Replace(room, "active", "retired", 1))}} {
		if set := build(gone); codes(set) != "" || plan(set) == nil || !strings.Contains(plan(set).Error(), "no such parameter") {
			t.Errorf("%q: %v", codes(set), plan(set))
		}
	}
	// The second takes its place when the first goes.
	if set := build([]*fhir.Resource{other}); codes(set) != "room" || set.Custom[0].URL != "http://example.org/other" {
		t.Errorf("%q", codes(set))
	}
}

type lenient struct{}

func (lenient) Validate(fhir.ResourceType, element.Node) []fhir.Issue { return nil }

// What could not be served is an error when it is active, a warning as a draft, and
// none when it replaces itself.
func TestValidator(t *testing.T) {
	set := builder()([]*fhir.Resource{stored(t, "room", 1, room)})
	x := &Indexing{Current: func() (fhir.Basis, *Set) { return fhir.Basis{}, set }}
	validator := x.Validator(lenient{})
	for _, c := range []struct{ id, old, new, want string }{
		{"room", "A room", "The room", ""},
		{"room", "http://example.org/room').value", "http://example.org/x').value", ""},
		{"another", "A room", "The room", "error already"},
		{"another", `"active"`, `"draft"`, "warning already"},
		{"another", `"active"`, `"retired"`, ""},
		{"room", `"type":"string"`, `"type":"date"`, ""},
		{"room", "Basic.extension('http://example.org/room').value", "Basic.nothing", "error no element"},
		{"room", "Basic.extension('http://example.org/room').value", "Basic.where(", "error no FHIRPath"},
		{"room", `["Basic"]`, `["Nothing"]`, "error no resource type"},
		{"room", `"code":"room"`, `"code":"a:b"`, "error letters"},
	} {
		tree, err := element.Parse([]byte(`{"resourceType":"SearchParameter","id":"`+c.id+`",`+strings.Replace(room, c.old, c.new, 1)+`}`), element.DefaultLimits)
		if err != nil {
			t.Fatal(err)
		}
		issues := validator.Validate("SearchParameter", tree.Root())
		severity, text, _ := strings.Cut(c.want, " ")
		switch {
		case c.want == "" && len(issues) > 0, c.want != "" && len(issues) == 0:
			t.Errorf("%s with %s: %+v, want %q", c.id, c.new, issues, c.want)
		case c.want != "" && (string(issues[0].Severity) != severity || !strings.Contains(issues[0].Diagnostics, text)):
			t.Errorf("%s with %s: %+v, want %q", c.id, c.new, issues, c.want)
		}
	}
}
