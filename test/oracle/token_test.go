package oracle

import (
	"slices"
	"strings"

	"starling/internal/fhir/element"
	"starling/internal/fhir/fhirpath"
)

// coded is a code that an element has.
type coded struct {
	system, code string
	anyCase      bool
}

// grammars are the systems of value sets that are no lists.
var grammars = map[string]string{
	"mimetypes": "urn:ietf:bcp:13", "languages": "urn:ietf:bcp:47", "all-languages": "urn:ietf:bcp:47",
	"ucum-units": "http://unitsofmeasure.org", "currencies": "urn:iso:std:iso:4217",
}

func anyCase(system string) bool {
	sensitive, known := registry.CaseSensitive(system)
	return system != "" && known && !sensitive
}

// codesOf reads what a token parameter finds in an element.
func codesOf(r *resource, item fhirpath.Item) (all []coded) {
	n := item.Node()
	add := func(system, code string, anyCase bool) {
		if system != "" || code != "" {
			all = append(all, coded{system, code, anyCase})
		}
	}
	coding := func(n element.Node) {
		system := n.Get("system").Str()
		add(system, n.Get("code").Str(), anyCase(system))
	}
	switch item.Type() {
	case "Coding":
		coding(n)
	case "CodeableConcept":
		for c := range n.Get("coding").Children() {
			coding(c)
		}
	case "Identifier":
		add(n.Get("system").Str(), n.Get("value").Str(), false)
	case "ContactPoint":
		add("", n.Get("value").Str(), true)
	case "string", "markdown":
		add("", n.Str(), true)
	case "code":
		if n.Str() != "" {
			system := systemOf(r, n)
			add(system, n.Str(), anyCase(system))
		}
	case "boolean", "id", "uri", "url", "oid", "uuid", "canonical":
		add("", n.Literal(), false)
	case "System.Boolean":
		add("", item.Text(), false)
	}
	return all
}

// systemOf is the system that a required binding says a code is of.
func systemOf(r *resource, n element.Node) string {
	b := binding(r, n)
	if b == nil || b.Strength != "required" {
		return ""
	}
	codes, listed := registry.Codes(b.ValueSet)
	if !listed {
		name, _, _ := strings.Cut(strings.TrimPrefix(b.ValueSet, "http://hl7.org/fhir/ValueSet/"), "|")
		return grammars[name]
	}
	if of := codes[n.Str()]; len(of) > 0 {
		return of[0]
	}
	systems := map[string]bool{}
	for _, of := range codes {
		for _, system := range of {
			systems[system] = true
		}
	}
	if len(systems) == 1 {
		for system := range systems {
			return system
		}
	}
	return ""
}

// namesOf reads what the codes of an element are called.
func namesOf(item fhirpath.Item) (all []string) {
	n := item.Node()
	switch item.Type() {
	case "Coding":
		all = append(all, n.Get("display").Str())
	case "CodeableConcept":
		all = append(all, n.Get("text").Str())
		for c := range n.Get("coding").Children() {
			all = append(all, c.Get("display").Str())
		}
	case "Identifier":
		all = append(all, n.Get("type").Get("text").Str())
	}
	return slices.DeleteFunc(all, func(s string) bool { return s == "" })
}

func (c coded) is(code string) bool {
	return c.code == code || c.anyCase && strings.EqualFold(c.code, code)
}

func askToken(r *resource, item fhirpath.Item, modifier, value string) bool {
	pieces := split(value, '|')
	for i := range pieces {
		pieces[i] = unescaped(pieces[i])
	}
	switch modifier {
	case "text":
		return slices.ContainsFunc(namesOf(item), func(name string) bool { return wordBegins(fold(name), fold(unescaped(value)), 50) })
	case "of-type":
		n := item.Node()
		for c := range n.Get("type").Get("coding").Children() {
			if item.Type() == "Identifier" && c.Get("system").Str() == pieces[0] && c.Get("code").Str() == pieces[1] && n.Get("value").Str() == pieces[2] {
				return true
			}
		}
		return false
	case "in", "not-in", "above", "below":
		wanted := related(modifier, unescaped(value), pieces)
		return slices.ContainsFunc(codesOf(r, item), func(c coded) bool {
			return slices.ContainsFunc(wanted, func(w coded) bool { return c.system == w.system && c.is(w.code) })
		})
	}
	return slices.ContainsFunc(codesOf(r, item), func(c coded) bool {
		switch {
		case len(pieces) == 1:
			return c.is(pieces[0])
		case c.system != pieces[0]:
			return false
		}
		return pieces[1] == "" || c.is(pieces[1])
	})
}

// The code system and the value sets that the server is given: a tree, whose
// codes it says are told apart by case.
const (
	treeSystem = "http://example.org/tree"
	valueSets  = "http://example.org/sets/"
)

var tree = map[string]string{"animal": "", "dog": "animal", "poodle": "dog", "beagle": "dog", "cat": "animal", "plant": "", "oak": "plant"}

var sets = map[string][]coded{
	"dogs":  {{system: treeSystem, code: "dog"}, {system: treeSystem, code: "poodle"}, {system: treeSystem, code: "beagle"}},
	"mixed": {{system: treeSystem, code: "oak"}, {system: snomed, code: "a1"}, {system: "http://example.org/other", code: "x"}},
}

const snomed = "http://snomed.info/sct"

// related are the codes that :in, :above and :below stand for.
func related(modifier, value string, pieces []string) (all []coded) {
	if modifier == "in" || modifier == "not-in" {
		if name, own := strings.CutPrefix(value, valueSets); own {
			return sets[name]
		}
		codes, _ := registry.Codes(value)
		for code, systems := range codes {
			for _, system := range systems {
				all = append(all, coded{system: system, code: code})
			}
		}
		return all
	}
	for code := range tree {
		low, high := code, pieces[1]
		if modifier == "above" {
			low, high = high, low
		}
		for ; low != ""; low = tree[low] {
			if low == high {
				all = append(all, coded{system: treeSystem, code: code})
				break
			}
		}
	}
	return all
}
