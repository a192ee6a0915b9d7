package search

import (
	"starling/internal/fhir"
)

// planToken reads `code`, `system|code`, `|code` or `system|`
// (https://hl7.org/fhir/R4/search.html#token).
func planToken(p *planning, t *term, value string) (fhir.Criterion, error) {
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
