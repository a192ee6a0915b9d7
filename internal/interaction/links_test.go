package interaction

import (
	"iter"
	"strings"
	"testing"

	"starling/internal/fhir"
	"starling/internal/fhir/definition"
	"starling/internal/fhir/element"
)

// rewritten rewrites a resource in a Bundle where urn:uuid:a is Patient/1,
// http://x.org/fhir/Patient/p is Patient/2, and the resource's own entry has
// the fullUrl http://x.org/fhir/TYPE/own.
func rewritten(t *testing.T, resource string) string {
	t.Helper()
	tree, err := element.Parse([]byte(`{"before":1,"resource":`+resource+`}`), element.DefaultLimits)
	if err != nil {
		t.Fatal(err)
	}
	node := tree.Root().Get("resource")
	of := fhir.ResourceType(node.Get("resourceType").Str())
	targets := linkTargets{
		byURL:      map[string]int{"urn:uuid:a": 0, "http://x.org/fhir/Patient/p": 1},
		keys:       []fhir.Key{{Type: "Patient", ID: "1"}, {Type: "Patient", ID: "2"}},
		references: map[string]string{"Practitioner?identifier=s|1": "Practitioner/9"},
	}
	finder := linkFinder{
		definitions: definition.R4(), base: "http://here/fhir", root: rootOf("http://x.org/fhir/"+string(of)+"/own", of),
		leads: func(text string) bool { _, ok := targets.to(text); return ok },
	}
	return string(rewrite(node.Raw(), finder.find(node, of), targets.replacement))
}

func TestRewriteLinks(t *testing.T) {
	for _, c := range []struct{ name, in, from, to string }{
		{"reference", `{"resourceType":"Observation", "subject" : {"reference":"urn:uuid:a"}}`, `"urn:uuid:a"`, `"Patient/1"`},
		{"reference with escapes", `{"resourceType":"Observation","subject":{"reference":"urn:uuid:\u0061"}}`, `"urn:uuid:\u0061"`, `"Patient/1"`},
		{"version", `{"resourceType":"Observation","subject":{"reference":"urn:uuid:a/_history/3"}}`, `"urn:uuid:a/`, `"Patient/1/`},
		{"relative to the fullUrl", `{"resourceType":"Observation","subject":{"reference":"Patient/p"}}`, `"Patient/p"`, `"Patient/2"`},
		{"elsewhere", `{"resourceType":"Observation","subject":{"reference":"Patient/q"}}`, "", ""},
		{"text of no link", `{"resourceType":"Observation","subject":{"display":"urn:uuid:a"}}`, "", ""},
		{
			"conditional", `{"resourceType":"Encounter","participant":[{"individual":{"reference":"Practitioner?identifier=s|1"}}]}`,
			`"Practitioner?identifier=s|1"`, `"Practitioner/9"`,
		},
		{
			"conditional, absolute", `{"resourceType":"Encounter","participant":[{"individual":{"reference":"http://here/fhir/Practitioner?identifier=s|1"}}]}`,
			`"http://here/fhir/Practitioner?identifier=s|1"`, `"Practitioner/9"`,
		},
		{"uri", `{"resourceType":"Patient","identifier":[{"system":"urn:uuid:a","value":"urn:uuid:a"}]}`, `"system":"urn:uuid:a"`, `"system":"Patient/1"`},
		{"url", `{"resourceType":"Patient","photo":[{"url":"urn:uuid:a"}]}`, `"urn:uuid:a"`, `"Patient/1"`},
		{"uuid", `{"resourceType":"Patient","extension":[{"url":"http://e","valueUuid":"urn:uuid:a"}]}`, `"urn:uuid:a"`, `"Patient/1"`},
		{
			"extension of a primitive", `{"resourceType":"Patient","_active":{"extension":[{"url":"http://e","valueReference":{"reference":"urn:uuid:a"}}]}}`,
			`"urn:uuid:a"`, `"Patient/1"`,
		},
		{"canonical", `{"resourceType":"Questionnaire","derivedFrom":["urn:uuid:a"]}`, "", ""},
		{
			"contained", `{"resourceType":"Observation","contained":[{"resourceType":"Encounter","subject":{"reference":"urn:uuid:a"}}]}`,
			`"urn:uuid:a"`, `"Patient/1"`,
		},
		{"the document in a Bundle", `{"resourceType":"Bundle","entry":[{"fullUrl":"urn:uuid:a"}]}`, "", ""},
		{
			"element by contentReference", `{"resourceType":"Questionnaire","item":[{"item":[{"item":[{"definition":"urn:uuid:a"}]}]}]}`,
			`"urn:uuid:a"`, `"Patient/1"`,
		},
		{
			"narrative", `{"resourceType":"Patient","text":{"div":"<div><a id='x' href='urn:uuid:a'>urn:uuid:a</a></div>"}}`,
			`href='urn:uuid:a'`, `href='Patient/1'`,
		},
		{
			"image", `{"resourceType":"Patient","text":{"div":"<div><img alt=\"urn:uuid:a\" src=\"urn:uuid:a\"/></div>"}}`,
			`src=\"urn:uuid:a\"`, `src=\"Patient/1\"`,
		},
	} {
		want := strings.Replace(c.in, c.from, c.to, 1)
		if got := rewritten(t, c.in); got != want {
			t.Errorf("%s:\n got %s\nwant %s", c.name, got, want)
		}
	}
}

func TestNarrativeLinks(t *testing.T) {
	replace := func(to string) (string, bool) { return "X", to == "u&v" }
	for in, want := range map[string]string{
		`<a href="u&amp;v">u&amp;v</a>`:                   `<a href="X">u&amp;v</a>`,
		"<a\n title=\"t\"\thref = 'u&v'>":                 "<a\n title=\"t\"\thref = 'X'>",
		`<a href="u&v"/><img src="u&v"/><a href="other">`: `<a href="X"/><img src="X"/><a href="other">`,
		`<abbr href="u&v"><area href="u&v">`:              `<abbr href="u&v"><area href="u&v">`,
		`<a data-href="u&v">`:                             `<a data-href="u&v">`,
		`<img href="u&v">`:                                `<img href="u&v">`,
		`href="u&v"`:                                      `href="u&v"`,
	} {
		if got := rewriteNarrative(in, replace); got != want {
			t.Errorf("%s:\n got %s\nwant %s", in, got, want)
		}
	}
}

func FuzzRewriteNarrative(f *testing.F) {
	f.Add(`<div><a href="urn:uuid:1">x</a><img src='urn:uuid:1'/></div>`)
	f.Fuzz(func(t *testing.T, xhtml string) {
		same := func(to string) (string, bool) { return to, !strings.Contains(to, "&") }
		if strings.Contains(xhtml, "&") {
			return
		}
		if got := rewriteNarrative(xhtml, same); got != xhtml {
			t.Errorf("links replaced by themselves give %q for %q", got, xhtml)
		}
	})
}

// FuzzRewrite replaces links by what they say already: whatever the resource,
// it has to say the same afterwards.
func FuzzRewrite(f *testing.F) {
	f.Add(`{"resourceType":"Observation","subject":{"reference":"urn:uuid:a\u0041"},"contained":[{"resourceType":"Patient","photo":[{"url":"urn:x"}]}]}`)
	f.Add(`{"resourceType":"Patient","text":{"div":"<a href=\"urn:x\">"},"_active":{"extension":[{"valueUri":"é\n"}]},"link":[[{"other":{"reference":"Patient?a=b"}}]]}`)
	f.Fuzz(func(t *testing.T, text string) {
		tree, err := element.Parse([]byte(text), element.DefaultLimits)
		if err != nil || tree.Root().Kind() != element.Object || tree.Root().Get("resourceType").Kind() != element.String {
			return
		}
		r4 := definition.R4()
		of := tree.Root().Get("resourceType").Str()
		if !r4.IsResourceType(of) {
			return
		}
		finder := linkFinder{definitions: r4, base: base, leads: func(string) bool { return true }}
		links := finder.find(tree.Root(), fhir.ResourceType(of))
		got := rewrite([]byte(text), links, func(l *link) (string, bool) { return l.text, true })
		again, err := element.Parse(got, element.DefaultLimits)
		if err != nil {
			t.Fatalf("%v in %s, made of %s", err, got, text)
		}
		sameTree(t, tree.Root(), again.Root())
	})
}

func sameTree(t *testing.T, a, b element.Node) {
	t.Helper()
	if a.Kind() != b.Kind() || a.Name() != b.Name() || a.Literal() != b.Literal() || a.Len() != b.Len() {
		t.Fatalf("%s became %s", a.Raw(), b.Raw())
	}
	next, stop := iter.Pull(b.Children())
	defer stop()
	for child := range a.Children() {
		other, _ := next()
		sameTree(t, child, other)
	}
}
