package search

import (
	"net/url"
	"strings"
	"testing"
	"unicode/utf8"

	"starling/internal/fhir"
	"starling/internal/fhir/definition"
	"starling/internal/fhir/element"
)

var escaper = strings.NewReplacer(`\`, `\\`, `,`, `\,`, `|`, `\|`, `$`, `\$`)

// queriesFor gives searches that a resource with this index must answer, for
// each of its values in each way to ask for it.
func queriesFor(i *fhir.Index) []string {
	var out []string
	add := func(name, value string) { out = append(out, url.QueryEscape(name)+"="+url.QueryEscape(value)) }
	for _, v := range i.Tokens {
		code, system := escaper.Replace(v.Code), escaper.Replace(v.System)
		if v.Code != "" {
			add(v.Param, code)
		}
		if v.Code != "" && v.System != "" {
			add(v.Param, system+"|"+code)
		}
		if v.System != "" {
			add(v.Param, system+"|")
		}
		if v.FoldCase {
			add(v.Param, strings.ToUpper(code))
		}
	}
	for _, v := range i.References {
		switch {
		case v.ID != "":
			add(v.Param, v.ID)
			add(v.Param, string(v.Type)+"/"+v.ID)
			add(v.Param+":"+string(v.Type), v.ID)
			add(v.Param, base+"/"+string(v.Type)+"/"+v.ID)
		case strings.Contains(v.URL, ":"):
			add(v.Param, escaper.Replace(v.URL))
		}
	}
	for _, v := range i.Strings {
		if v.Folded == "" {
			continue
		}
		add(v.Param, v.Folded)
		if v.Exact != "" {
			add(v.Param, escaper.Replace(v.Exact))
			add(v.Param+":exact", escaper.Replace(v.Exact))
			add(v.Param+":contains", escaper.Replace(v.Exact[strings.IndexByte(v.Exact, ' ')+1:]))
		}
	}
	for _, v := range i.Dates {
		for _, prefix := range []string{"ge", "gt"} {
			add(v.Param, prefix+"0001")
		}
		add(v.Param, "lt9999")
		if !v.Low.IsZero() {
			add(v.Param, "ge"+v.Low.Format("2006-01-02"))
		}
	}
	for _, v := range i.Numbers {
		if v.Value != "" {
			add(v.Param, v.Value)
			add(v.Param, "ge"+v.Value)
		}
	}
	for _, v := range i.Quantities {
		if v.Value != "" {
			add(v.Param, v.Value)
			if v.Code != "" {
				add(v.Param, "le"+v.Value+"|"+escaper.Replace(v.System)+"|"+escaper.Replace(v.Code))
			}
			add(v.Param, "ap"+v.Value+"||"+escaper.Replace(v.Unit))
		}
	}
	for _, v := range i.Names {
		add(v.Param+":text", v.Folded)
		_, later, _ := strings.Cut(v.Folded, " ")
		if later = later[:(len(later)+1)/2]; utf8.ValidString(later) && Fold(later) != "" {
			add(v.Param+":text", strings.ToUpper(later))
		}
	}
	for _, v := range i.URIs {
		add(v.Param, escaper.Replace(v.URI))
		if hierarchical(v.URI) && len(v.URI) < mostBelow {
			add(v.Param+":below", escaper.Replace(v.URI))
			if over := v.URI[:strings.LastIndexByte(v.URI, '/')]; hierarchical(over) {
				add(v.Param+":below", escaper.Replace(over))
			}
			add(v.Param+":above", escaper.Replace(v.URI+"/more"))
		}
	}
	return out
}

// found holds that a resource is found by every value it has.
func found(t tester, name string, root element.Node) (queries int) {
	typ := resourceType(root)
	index, err := r4.Index(typ, root, base)
	if err != nil {
		t.Errorf("%s: %v", name, err)
		return 0
	}
	for _, query := range queriesFor(index) {
		queries++
		plan, _, err := r4.Plan([]fhir.ResourceType{typ}, query, true, base)
		if err != nil {
			if !strings.Contains(query, "name%3Acontains") {
				t.Errorf("%s: %s?%s: %v", name, typ, query, err)
			}
			continue
		}
		if !matches(plan.Criteria, index) {
			t.Errorf("%s: %s?%s (%s) does not find it", name, typ, query, show(plan.Criteria))
		}
	}
	return queries
}

func TestResourceIsFoundByItsValues(t *testing.T) {
	for _, text := range []string{patient, observation, explanationOfBenefit} {
		root := parse(t, text)
		if n := found(t, string(resourceType(root)), root); n < 30 {
			t.Errorf("only %d queries", n)
		}
	}
}

func TestExamplesAreFoundByTheirValues(t *testing.T) {
	queries := 0
	archived(t, "r4-examples.tar.xz", func(name string, data []byte) {
		tree, err := element.Parse(data, element.DefaultLimits)
		if err != nil {
			t.Fatal(err)
		}
		if definition.R4().IsResourceType(string(resourceType(tree.Root()))) {
			queries += found(t, name, tree.Root())
		}
	})
	t.Logf("%d queries", queries)
}
