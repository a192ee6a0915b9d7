package fhirpath

import (
	"strings"
	"testing"

	"starling/internal/fhir/definition"
)

// typeNames are the registry's types: resources, and what their elements have.
func typeNames(reg *definition.Registry) map[string]*definition.Type {
	types := map[string]*definition.Type{}
	var visit func(name string)
	var elements func(e *definition.Element)
	elements = func(e *definition.Element) {
		for _, t := range e.Types {
			visit(t.Code)
		}
		if e.Content != nil {
			return
		}
		for _, child := range e.Children {
			elements(child)
		}
	}
	visit = func(name string) {
		if types[name] != nil {
			return
		}
		if t := reg.Type(name); t != nil {
			types[name] = t
			visit(t.Base)
			elements(t.Root)
		}
	}
	for _, t := range reg.ResourceTypes() {
		visit(string(t))
	}
	return types
}

func TestEveryInvariantCompiles(t *testing.T) {
	reg := definition.R4()
	keys := map[string]bool{}
	var check func(e *definition.Element)
	check = func(e *definition.Element) {
		if e.Content != nil {
			return
		}
		for _, c := range e.Constraint {
			if c.Expression == "" || keys[c.Key+c.Expression] {
				continue
			}
			keys[c.Key+c.Expression] = true
			if _, err := Compile(reg, c.Expression); err != nil {
				t.Errorf("%s %s: %v", e.Path, c.Key, err)
			}
		}
		for _, child := range e.Children {
			check(child)
		}
	}
	for _, typ := range typeNames(reg) {
		check(typ.Root)
	}
	if len(keys) < 230 {
		t.Errorf("only %d invariants were found; R4 has 243", len(keys))
	}
}

func TestEverySearchParameterCompiles(t *testing.T) {
	reg := definition.R4()
	expressions := map[string]string{}
	for _, typ := range reg.ResourceTypes() {
		for _, p := range reg.SearchParameters(typ) {
			if p.Expression != "" {
				expressions[p.Expression] = p.URL
			}
			for _, c := range p.Components {
				expressions[c.Expression] = p.URL
			}
		}
	}
	for expression, url := range expressions {
		if _, err := Compile(reg, expression); err != nil {
			t.Errorf("%s: %s: %v", url, expression, err)
		}
	}
	if len(expressions) < 1000 {
		t.Errorf("only %d expressions were found", len(expressions))
	}
}

// TestEverySearchParameterChecks holds Check against what R4 publishes: each
// part of an expression that begins with the type must name what that has.
func TestEverySearchParameterChecks(t *testing.T) {
	reg := definition.R4()
	checked := 0
	for _, typ := range reg.ResourceTypes() {
		for _, p := range reg.SearchParameters(typ) {
			for part := range strings.SplitSeq(p.Expression, "|") {
				part = strings.TrimSpace(part)
				if !strings.HasPrefix(strings.TrimLeft(part, "("), string(typ)+".") {
					continue
				}
				e, err := Compile(reg, part)
				if err != nil {
					continue // cut within brackets
				}
				checked++
				if err := e.Check(typ); err != nil {
					t.Errorf("%s: %s: %v", p.URL, part, err)
				}
			}
		}
	}
	if checked < 1500 {
		t.Errorf("only %d paths were checked", checked)
	}
}

func TestCheck(t *testing.T) {
	for expr, want := range map[string]string{
		"name.given":                           "",
		"name.given1":                          "column 6: HumanName has no element given1",
		"Encounter.status":                     "column 1: the path begins with Encounter",
		"deceasedBoolean":                      "column 1: Patient has no element deceasedBoolean",
		"(deceased as dateTime).extension.url": "",
		"(deceased as dateTime).unit":          "column 24: dateTime has no element unit",
		"contact.where(name.suffix1.exists())": "column 20",
		"children().skip(1)":                   "column 12: skip() needs an order",
		"descendants()[0]":                     "column 14",
		"children().sort().first()":            "",
		"contained.anything":                   "",
		"name.select(given | family).length()": "",
		"iif(active, name, contact.name).use":  "",
		"generalPractitioner.resolve().name":   "",
		"%resource.whatever":                   "",
	} {
		e, err := Compile(definition.R4(), expr)
		if err != nil {
			t.Fatal(err)
		}
		err = e.Check("Patient")
		if want == "" && err != nil || want != "" && (err == nil || !strings.Contains(err.Error(), want)) {
			t.Errorf("%s: got %v, want %s", expr, err, want)
		}
	}
}
