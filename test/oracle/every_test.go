package oracle

import (
	"encoding/json"
	"net/http"
	"net/url"
	"strings"
	"testing"

	"starling/internal/fhir/definition"
	"starling/test/program"
)

// plausible is a value for a parameter.
func plausible(d *definition.SearchParameter) string {
	switch d.Type {
	case "date":
		return "2012"
	case "number", "quantity":
		return "5"
	case "token":
		return "true" // also a code
	case "reference":
		return "Patient/1"
	case "uri":
		return "http://example.org/a"
	case "special":
		return "50|10"
	case "composite":
		var parts []string
		for _, c := range d.Components {
			parts = append(parts, plausible(registry.SearchParameterByURL(c.Definition)))
		}
		return strings.Join(parts, "$")
	}
	return "x"
}

type outcome struct {
	ResourceType string
	Issue        []struct{ Severity, Code, Diagnostics string }
	Link         []struct{ Relation, URL string }
}

func ask(t *testing.T, at string, headers ...string) (int, outcome) {
	t.Helper()
	answer, err := program.Do("GET", at, nil, headers...)
	if err != nil {
		t.Fatal(err)
	}
	var o outcome
	if err := json.Unmarshal(answer.Body, &o); err != nil {
		t.Fatalf("%s: %v: %.300s", at, err, answer.Body)
	}
	return answer.Status, o
}

func (o outcome) self() url.Values {
	for _, link := range o.Link {
		if link.Relation == "self" {
			_, query, _ := strings.Cut(link.URL, "?")
			values, _ := url.ParseQuery(query)
			return values
		}
	}
	return nil
}

// Every parameter that the specification defines is answered on every type it is
// defined for, or refused as the CapabilityStatement says it is.
func TestEveryParameter(t *testing.T) {
	server := program.Start(t, "--database-url", program.Database(t))
	var statement struct {
		Rest []struct {
			Resource []struct {
				Type, Documentation string
				SearchParam         []struct{ Name, Type, Definition string }
			}
		}
	}
	if err := json.Unmarshal(program.Want(t, http.StatusOK, "GET", server.URL+"/metadata", nil).Body, &statement); err != nil {
		t.Fatal(err)
	}
	listed, said := map[string]bool{}, map[string]string{}
	for _, resource := range statement.Rest[0].Resource {
		said[resource.Type] = resource.Documentation
		for _, p := range resource.SearchParam {
			listed[resource.Type+"?"+p.Name] = true
		}
	}
	seen := map[string]bool{}
	answered, refused := 0, 0
	for _, typ := range registry.ResourceTypes() {
		if typ == "Parameters" || typ == "Binary" {
			continue
		}
		for _, d := range registry.SearchParameters(typ) {
			seen[d.URL] = true
			name, value := d.Code, plausible(d)
			switch d.Code {
			case "_id", "_list":
				value = "1"
			case "_filter":
				value = "_id eq 1"
			}
			at := server.URL + "/" + string(typ) + "?" + url.Values{name: {value}}.Encode()
			status, o := ask(t, at, "Prefer", "handling=strict")
			switch {
			case status == http.StatusOK && listed[string(typ)+"?"+name]:
				answered++
				if o.self().Get(name) != value {
					t.Errorf("%s: self has %v", at, o.self())
				}
			case status == http.StatusBadRequest && !listed[string(typ)+"?"+name] && o.Issue[0].Code == "not-supported":
				refused++
				_, reason, _ := strings.Cut(o.Issue[0].Diagnostics, "supported: ")
				if !strings.Contains(said[string(typ)], name) || !strings.Contains(said[string(typ)], strings.TrimSuffix(reason, ".")) {
					t.Errorf("%s is refused (%s), and the CapabilityStatement says %q", at, o.Issue[0].Diagnostics, said[string(typ)])
				}
				// Lenient or not: what is known and not served is not ignored.
				if again, _ := ask(t, at, "Prefer", "handling=lenient"); again != http.StatusBadRequest {
					t.Errorf("%s: %d with handling=lenient", at, again)
				}
			default:
				t.Errorf("%s: %d %+v, listed: %v", at, status, o.Issue, listed[string(typ)+"?"+name])
			}
		}
	}
	for _, d := range registry.UnboundSearchParameters() {
		seen[d.URL] = true
		if status, o := ask(t, server.URL+"/Patient?"+d.Code+"=x", "Prefer", "handling=strict"); status != http.StatusBadRequest {
			t.Errorf("%s: %d %+v", d.Code, status, o.Issue)
		}
	}
	urls := registry.SearchParameterURLs()
	for _, at := range urls {
		if !seen[at] {
			t.Errorf("%s was never asked for", at)
		}
	}
	t.Logf("%d definitions: %d requests answered, %d refused", len(urls), answered, refused)
	if len(urls) < 1376 || answered < 2500 {
		t.Errorf("only %d definitions and %d answers", len(urls), answered)
	}
}

// What nobody knows is ignored, said, and not in self; or refused.
func TestHandling(t *testing.T) {
	server := program.Start(t, "--database-url", program.Database(t))
	at := server.URL + "/Patient?no-such=1&gender=male&name="
	for _, header := range [][]string{nil, {"Prefer", "handling=lenient"}} {
		answer := program.Want(t, http.StatusOK, "GET", at, nil, header...)
		var page struct {
			Link  []struct{ Relation, URL string }
			Entry []struct {
				Resource outcome
				Search   struct{ Mode string }
			}
		}
		if err := json.Unmarshal(answer.Body, &page); err != nil || len(page.Entry) != 1 || page.Entry[0].Search.Mode != "outcome" {
			t.Fatalf("%v %s", err, answer.Body)
		}
		issue := page.Entry[0].Resource.Issue[0]
		if issue.Severity == "error" || !strings.Contains(issue.Diagnostics, "no-such") {
			t.Errorf("%+v", issue)
		}
		self := outcome{Link: page.Link}.self()
		if self.Has("no-such") || self.Get("gender") != "male" {
			t.Errorf("self has %v", self)
		}
	}
	if status, o := ask(t, at, "Prefer", "handling=strict"); status != http.StatusBadRequest || !strings.Contains(o.Issue[0].Diagnostics, "no-such") {
		t.Errorf("%d %+v", status, o)
	}
	for _, query := range []string{"gender:exact=male", "birthdate=x", "_query=x", "_score=1"} {
		if status, _ := ask(t, server.URL+"/Patient?"+query, "Prefer", "handling=lenient"); status != http.StatusBadRequest {
			t.Errorf("%s: %d with handling=lenient", query, status)
		}
	}
}
