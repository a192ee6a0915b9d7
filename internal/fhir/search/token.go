package search

import (
	"starling/internal/fhir"
	"starling/internal/fhir/definition"
	"starling/internal/fhir/element"
)

// https://hl7.org/fhir/R4/search.html#token
var tokenReaders = map[string]reader{
	"Coding":          readCoding,
	"CodeableConcept": readCodeableConcept,
	"Identifier":      readIdentifier,
	"ContactPoint":    readContactPoint,
	"code":            readCode,
	"boolean":         readPlainToken,
	"id":              readPlainToken,
	"uri":             readPlainToken,
	"url":             readPlainToken,
	"oid":             readPlainToken,
	"uuid":            readPlainToken,
	"canonical":       readPlainToken,
	"string":          readStringToken,
	"markdown":        readStringToken,
}

func (x *extraction) token(param, system, code string) {
	if system == "" && code == "" {
		return
	}
	x.tokens.add(fhir.TokenValue{Param: param, System: system, Code: code, FoldCase: x.search.foldsCase(system)})
}

// name takes what a token is called. A part of a composite has no names.
func (x *extraction) name(param string, name element.Node, code string, foldCase bool) {
	text := name.Str()
	if text == "" || param == "" {
		return
	}
	if folded := Fold(text); folded != "" {
		x.names.add(fhir.NameValue{Param: param, Folded: folded, Code: code, FoldCase: foldCase && code != ""})
	}
}

func readCoding(x *extraction, t *take, n element.Node) {
	system, code := n.Get("system").Str(), n.Get("code").Str()
	x.token(t.param, system, code)
	x.name(t.param, n.Get("display"), code, x.search.foldsCase(system))
}

func readCodeableConcept(x *extraction, t *take, n element.Node) {
	var code string // the first there is
	var fold bool
	for coding := range n.Get("coding").Children() {
		readCoding(x, t, coding)
		if code == "" {
			code, fold = coding.Get("code").Str(), x.search.foldsCase(coding.Get("system").Str())
		}
	}
	x.name(t.param, n.Get("text"), code, fold)
}

// readIdentifier takes the value as it is: an identifier's system says what it
// names, not whether case matters.
func readIdentifier(x *extraction, t *take, n element.Node) {
	v := fhir.TokenValue{Param: t.param, System: n.Get("system").Str(), Code: n.Get("value").Str()}
	if v.System != "" || v.Code != "" {
		x.tokens.add(v)
	}
	// The value says little about the name of its type, so the name is found by
	// itself.
	x.name(t.param, n.Get("type").Get("text"), "", false)
	if v.Code == "" {
		return
	}
	for coding := range n.Get("type").Get("coding").Children() {
		if code := coding.Get("code").Str(); code != "" {
			x.typed.add(fhir.TypedIdentifier{Param: t.param, System: coding.Get("system").Str(), Code: code, Value: v.Code})
		}
	}
}

// readContactPoint ignores case: what a contact point may be found by is the
// server's choice.
func readContactPoint(x *extraction, t *take, n element.Node) {
	if value := n.Get("value").Str(); value != "" {
		x.tokens.add(fhir.TokenValue{Param: t.param, Code: value, FoldCase: true})
	}
}

// readCode takes a code with the system its binding implies.
func readCode(x *extraction, t *take, n element.Node) {
	if code := n.Str(); code != "" {
		system, fold := t.implied.of(code)
		x.tokens.add(fhir.TokenValue{Param: t.param, System: system, Code: code, FoldCase: fold})
	}
}

// readPlainToken takes a primitive whose values have no system.
func readPlainToken(x *extraction, t *take, n element.Node) {
	if code := n.Literal(); code != "" {
		x.tokens.add(fhir.TokenValue{Param: t.param, Code: code})
	}
}

func readStringToken(x *extraction, t *take, n element.Node) {
	if code := n.Str(); code != "" {
		x.tokens.add(fhir.TokenValue{Param: t.param, Code: code, FoldCase: true})
	}
}

// implied says which system the codes of a binding belong to. A nil one says
// that they belong to none.
type implied struct {
	system string // of all codes; or
	fold   bool
	codes  map[string][]string // systems by code
	folds  map[string]bool     // by system
}

func (i *implied) of(code string) (system string, fold bool) {
	switch {
	case i == nil:
		return "", false
	case i.codes == nil:
		return i.system, i.fold
	}
	if systems := i.codes[code]; len(systems) > 0 {
		return systems[0], i.folds[systems[0]]
	}
	return "", false
}

// grammars are the systems of value sets that no list can hold.
var grammars = map[string]string{
	"http://hl7.org/fhir/ValueSet/mimetypes":     "urn:ietf:bcp:13",
	"http://hl7.org/fhir/ValueSet/languages":     "urn:ietf:bcp:47",
	"http://hl7.org/fhir/ValueSet/all-languages": "urn:ietf:bcp:47",
	"http://hl7.org/fhir/ValueSet/ucum-units":    "http://unitsofmeasure.org",
	"http://hl7.org/fhir/ValueSet/currencies":    "urn:iso:std:iso:4217",
}

// impliedBy reads a binding. Only a required one implies a system.
func (s *Search) impliedBy(b *definition.Binding) *implied {
	if b == nil || b.Strength != "required" {
		return nil
	}
	valueSet := withoutVersion(b.ValueSet)
	codes, ok := s.registry.Codes(b.ValueSet)
	if !ok {
		if system := grammars[valueSet]; system != "" {
			return &implied{system: system, fold: s.foldsCase(system)}
		}
		return nil
	}
	i := &implied{codes: codes, folds: map[string]bool{}}
	for _, systems := range codes {
		for _, system := range systems {
			i.folds[system] = s.foldsCase(system)
		}
	}
	if len(i.folds) == 1 {
		for system, fold := range i.folds {
			return &implied{system: system, fold: fold}
		}
	}
	return i
}

// planToken reads `code`, `system|code`, `|code` or `system|`
// (https://hl7.org/fhir/R4/search.html#token).
func planToken(p *planning, t *term, value string) (fhir.Criterion, error) {
	switch t.modifier {
	case "text":
		return planNamed(t, value)
	case "of-type":
		return planOfType(t, value)
	case "in", "not-in", "above", "below":
		return p.planCodes(t, value)
	}
	parts := splitEscaped(value, '|')
	if len(parts) > 2 {
		return nil, t.badValue(value, "code, system|code, |code or system|")
	}
	code := unescape(parts[len(parts)-1])
	token := fhir.Token{Param: t.code}
	if len(parts) == 2 {
		system := unescape(parts[0])
		if token.System = &system; system == "" && code == "" {
			return nil, t.badValue(value, "a system, a code or both")
		}
		if !t.hasSystems() {
			return nil, t.badValue(value, "a code alone, since its values have no system,")
		}
	}
	if code == "" {
		return token, nil
	}
	if t.isBoolean() && code != "true" && code != "false" {
		return nil, t.badValue(value, "true or false")
	}
	token.Code = &code
	return t.inCase(p.search, token), nil
}

// planNamed reads the modifier :text, a text that the name of a token begins
// with, at its beginning or at a later word.
func planNamed(t *term, value string) (fhir.Criterion, error) {
	if !t.some(func(e *take) bool { return e.typ == "Coding" || e.typ == "CodeableConcept" || e.typ == "Identifier" }) {
		return nil, t.unsupported("its values have no display and no text")
	}
	folded := Fold(unescape(value))
	if folded == "" {
		return nil, t.badValue(value, "a text with more than spaces and punctuation")
	}
	return fhir.Named{Param: t.code, Value: folded}, nil
}

// hasSystems reports whether some values of a token parameter have a system.
func (t *term) hasSystems() bool {
	return t.some(func(e *take) bool {
		switch e.typ {
		case "Coding", "CodeableConcept", "Identifier", "code":
			return true
		}
		return false
	})
}

func (t *term) isBoolean() bool {
	return !t.some(func(e *take) bool { return e.typ != "boolean" })
}

// some reports whether an element of the parameter is so; one whose type is
// not known before FHIRPath is evaluated may be.
func (t *term) some(is func(e *take) bool) bool {
	for _, of := range t.of {
		if of.dynamic {
			return true
		}
		for _, e := range of.elements {
			if is(e) {
				return true
			}
		}
	}
	return false
}

// inCase says whether the code is compared as it is or folded. Where the
// elements allow either, it is both.
func (t *term) inCase(s *Search, token fhir.Token) fhir.Criterion {
	exact, folded := false, false
	if token.System != nil {
		folded = s.foldsCase(*token.System)
		exact = !folded
	}
	for _, of := range t.of {
		exact = exact || of.dynamic
		for _, e := range of.elements {
			switch e.typ {
			case "Coding", "CodeableConcept":
				if token.System == nil {
					exact, folded = true, true
				}
			case "code":
				if token.System == nil {
					e, f := e.implied.cases()
					exact, folded = exact || e, folded || f
				}
			case "ContactPoint", "string", "markdown":
				folded = true
			default:
				exact = true
			}
		}
	}
	insensitive := token
	insensitive.FoldCase = true
	switch {
	case exact && folded:
		return fhir.Or{token, insensitive}
	case folded:
		return insensitive
	}
	return token
}

// cases reports which kinds of values a binding gives.
func (i *implied) cases() (exact, folded bool) {
	switch {
	case i == nil:
		return true, false
	case i.codes == nil:
		return !i.fold, i.fold
	}
	exact = true // a code the value set does not have
	for _, fold := range i.folds {
		folded = folded || fold
	}
	return exact, folded
}
