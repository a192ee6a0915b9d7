package search

import (
	"errors"

	"starling/internal/fhir"
)

// Terminology knows the codes of value sets and the hierarchies of code systems.
// Each list is whole, or the answer an error.
type Terminology interface {
	// Members lists the codes of a value set, by its canonical URL.
	Members(valueSet string) ([]Coding, error)
	// Subsumed lists the codes below one of a code system or, with above, above
	// it; the code itself is among them.
	Subsumed(system, code string, above bool) ([]Coding, error)
}

// Coding is a code of a code system.
type Coding struct{ System, Code string }

// maxCodes bounds the codes that one value of a search stands for.
const maxCodes = 10_000

// planCodes plans :in, :not-in, :above and :below
// (https://hl7.org/fhir/R4/search.html#token). The contrary of :in is put
// around by the caller.
func (p *planning) planCodes(t *term, value string) (fhir.Criterion, error) {
	terminology := p.search.terminology
	if terminology == nil {
		return nil, t.unsupported("there is no terminology to ask")
	}
	if !t.hasSystems() || t.some(func(e *take) bool { return e.typ == "Identifier" }) {
		return nil, t.unsupported("its values are of no code system")
	}
	var codes []Coding
	var err error
	switch t.modifier {
	case "in", "not-in":
		codes, err = terminology.Members(unescape(value))
	default:
		parts := splitEscaped(value, '|')
		if len(parts) != 2 || parts[0] == "" || parts[1] == "" {
			return nil, t.badValue(value, "system|code")
		}
		codes, err = terminology.Subsumed(unescape(parts[0]), unescape(parts[1]), t.modifier == "above")
	}
	if err != nil {
		var refused *fhir.Error
		if errors.As(err, &refused) {
			return nil, t.badValue(value, "what the terminology knows ("+refused.Issues[0].Diagnostics+")").Because(err)
		}
		return nil, err
	}
	if len(codes) > maxCodes {
		return nil, fhir.NewError(fhir.KindInvalid, fhir.IssueTooCostly, "The value of the parameter "+quote(t.name)+" stands for too many codes.")
	}
	in := fhir.TokenIn{Param: t.code}
	for _, c := range codes {
		in.Codes = append(in.Codes, fhir.TokenValue{System: c.System, Code: c.Code, FoldCase: p.search.foldsCase(c.System)})
	}
	return in, nil
}

// planOfType reads `type-system|type-code|value`.
func planOfType(t *term, value string) (fhir.Criterion, error) {
	if !t.some(func(e *take) bool { return e.typ == "Identifier" }) {
		return nil, t.unsupported("its values are no identifiers")
	}
	parts := splitEscaped(value, '|')
	if len(parts) != 3 || parts[0] == "" || parts[1] == "" || parts[2] == "" {
		return nil, t.badValue(value, "type-system|type-code|value")
	}
	return fhir.OfType{Param: t.code, System: unescape(parts[0]), Code: unescape(parts[1]), Value: unescape(parts[2])}, nil
}
