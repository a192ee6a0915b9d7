package search

import (
	"starling/internal/fhir"
	"starling/internal/fhir/element"
)

// https://hl7.org/fhir/R4/search.html#string
var stringReaders = map[string]reader{
	"string":    readString,
	"markdown":  readString,
	"HumanName": readHumanName,
	"Address":   readAddress,
}

func (x *extraction) text(param string, n element.Node) (folded string) {
	exact := n.Str()
	if exact == "" {
		return ""
	}
	folded = Fold(exact)
	x.strings.add(fhir.StringValue{Param: param, Folded: folded, Exact: exact})
	return folded
}

// words takes a text, and so that it is found by a later word, what begins at
// each of those: "van der Berg" by "der b" and by "berg".
func (x *extraction) words(param string, n element.Node) {
	for rest := nextWord(x.text(param, n)); rest != ""; rest = nextWord(rest) {
		x.strings.add(fhir.StringValue{Param: param, Folded: rest})
	}
}

// each takes a text or a list of them.
func (x *extraction) each(param string, n element.Node) {
	if n.Kind() != element.Array {
		x.text(param, n)
		return
	}
	for item := range n.Children() {
		x.text(param, item)
	}
}

func readString(x *extraction, t *take, n element.Node) {
	if t.element != nil && t.element.Path == "HumanName.family" {
		x.words(t.param, n)
		return
	}
	x.text(t.param, n)
}

func readHumanName(x *extraction, t *take, n element.Node) {
	for member := range n.Children() {
		switch member.Name() {
		case "family", "text":
			x.words(t.param, member)
		case "given", "prefix", "suffix":
			x.each(t.param, member)
		}
	}
}

func readAddress(x *extraction, t *take, n element.Node) {
	for member := range n.Children() {
		switch member.Name() {
		case "text", "line", "city", "district", "state", "postalCode", "country":
			x.each(t.param, member)
		}
	}
}

// planString reads a text, which a value begins with; has anywhere
// (:contains); or is (:exact), case and accents included
// (https://hl7.org/fhir/R4/search.html#string).
func planString(p *planning, t *term, value string) (fhir.Criterion, error) {
	text := unescape(value)
	if t.modifier == "exact" {
		return fhir.String{Param: t.code, Match: fhir.StringExact, Value: text}, nil
	}
	folded := Fold(text)
	if folded == "" {
		return nil, t.badValue(value, "a text with more than spaces and punctuation")
	}
	if t.modifier == "contains" {
		return fhir.String{Param: t.code, Match: fhir.StringContains, Value: folded}, nil
	}
	if p.operator == "ew" {
		return fhir.String{Param: t.code, Match: fhir.StringEnds, Value: folded}, nil
	}
	return fhir.String{Param: t.code, Value: folded}, nil
}
