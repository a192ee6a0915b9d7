package main

import (
	"fmt"
	"net/url"
	"strings"
	"testing"

	"starling/internal/postgres/postgrestest"
)

// TestSystemVersions expands and validates by versions of a code system that the call
// asks for, in a value set that names none, one that names the first, and one that
// includes both of these.
func TestSystemVersions(t *testing.T) {
	r := serve(t, postgrestest.New(t))
	for version, codes := range map[string]string{"1": `{"code":"a","display":"A of one"}`, "2": `{"code":"a","display":"A of two"},{"code":"b"}`} {
		r.put("CodeSystem/s"+version, `{"resourceType":"CodeSystem","id":"s`+version+`","url":"http://example.org/s","version":"`+version+`","status":"active","content":"complete","caseSensitive":true,"concept":[`+codes+`]}`)
	}
	for id, include := range map[string]string{
		"free": `{"system":"http://example.org/s"}`, "first": `{"system":"http://example.org/s","version":"1"}`,
		"nested": `{"valueSet":["http://example.org/first"]}`,
	} {
		r.put("ValueSet/"+id, `{"resourceType":"ValueSet","id":"`+id+`","url":"http://example.org/`+id+`","status":"active","compose":{"include":[`+include+`]}}`)
	}
	const one, two = "http://example.org/s|1", "http://example.org/s|2"
	for _, c := range []struct {
		set, parameter, canonical string
		want                      string // its codes, or the code of what is wrong
	}{
		{"free", "", "", "a b"},
		{"first", "", "", "a"},
		{"free", "system-version", one, "a"},
		{"free", "system-version", "http://example.org/other|9", "a b"},
		{"first", "system-version", two, "a"},
		{"free", "check-system-version", one, "a"},
		{"first", "check-system-version", one, "a"},
		{"first", "check-system-version", two, "error business-rule"},
		{"nested", "check-system-version", two, "error business-rule"},
		{"first", "force-system-version", two, "a b"},
		{"nested", "force-system-version", two, "a b"},
		{"free", "force-system-version", one, "a"},
		{"free", "force-system-version", "http://example.org/s|3", "error not-found"},
		{"free", "system-version", "http://example.org/s", "error value"},
		{"nested", "", "", "a"}, // what was asked before leaves no trace
	} {
		query := ""
		if c.parameter != "" {
			query = "&" + url.Values{c.parameter: {c.canonical}}.Encode()
		}
		a := r.do("GET", "ValueSet/$expand?url=http://example.org/"+c.set+query, "")
		got := "error"
		if a.StatusCode == 200 {
			var codes []string
			expansion := a.json(t)["expansion"].(map[string]any)
			contains, _ := expansion["contains"].([]any)
			for _, code := range contains {
				codes = append(codes, code.(map[string]any)["code"].(string))
			}
			got = strings.Join(codes, " ")
			if c.parameter != "" && !strings.Contains(fmt.Sprint(expansion["parameter"]), "name:"+c.parameter+" valueUri:"+c.canonical) {
				t.Errorf("%v: the expansion does not say so: %v", c, expansion["parameter"])
			}
		} else {
			got += " " + a.code()
		}
		if got != c.want {
			t.Errorf("$expand %v: %s", c, got)
		}
		// $validate-code says the same of b.
		a = r.do("GET", "ValueSet/$validate-code?url=http://example.org/"+c.set+"&system=http://example.org/s&code=b"+query, "")
		switch {
		case strings.HasPrefix(c.want, "error"):
			if a.StatusCode == 200 || "error "+a.code() != c.want {
				t.Errorf("$validate-code %v: %d %s", c, a.StatusCode, a.body)
			}
		case a.StatusCode != 200 || strings.Contains(string(a.body), `"valueBoolean":true`) != strings.Contains(c.want, "b"):
			t.Errorf("$validate-code %v: %d %s", c, a.StatusCode, a.body)
		}
	}
	a := r.do("GET", "ValueSet/$validate-code?url=http://example.org/free&system=http://example.org/s&code=a&display=A+of+one&system-version="+url.QueryEscape(one), "")
	if !strings.Contains(string(a.body), `"valueBoolean":true`) {
		t.Errorf("the display of the version asked for: %s", a.body)
	}
	a = r.do("POST", "ValueSet/first/$expand", `{"resourceType":"Parameters","parameter":[{"name":"force-system-version","valueUri":"`+two+`"}]}`)
	if !strings.Contains(string(a.body), `"code":"b"`) {
		t.Errorf("at an instance, by Parameters: %d %s", a.StatusCode, a.body)
	}
}
