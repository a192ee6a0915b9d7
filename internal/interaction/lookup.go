package interaction

import (
	"context"
	"slices"
	"strings"

	"starling/internal/fhir"
	"starling/internal/terminology"
)

// lookup tells what a code system says of a code
// (https://hl7.org/fhir/R4/codesystem-operation-lookup.html).
func (s *Service) lookup(_ context.Context, t *terminologyCall) ([]byte, error) {
	coding, err := t.lookedUp()
	if err != nil {
		return nil, err
	}
	wanted, language := t.texts("property"), t.text("displayLanguage")
	if t.err != nil {
		return nil, t.err
	}
	system, err := t.codes.CodeSystem(canonicalOf(coding.System, coding.Version))
	if err != nil {
		return nil, err
	}
	concept, err := t.codes.Lookup(system, coding.Code)
	if err != nil {
		return nil, err
	}
	wants := func(name string, absent bool) bool {
		return len(wanted) == 0 && absent || slices.Contains(wanted, name) || slices.Contains(wanted, "*")
	}
	out := newParameters()
	out.text("name", "valueString", system.Name)
	out.text("version", "valueString", system.Version)
	display := inLanguage(language, concept.Display, concept.Designations)
	if display == "" {
		display = concept.Code // the display has to be there
	}
	out.text("display", "valueString", display)
	if wants("designation", true) {
		for i := range concept.Designations {
			appendDesignationPart(out, &concept.Designations[i])
		}
	}
	if concept.Definition != "" && wants("definition", true) {
		appendProperty(out, "definition", "valueString", appendString(nil, concept.Definition))
	}
	for _, p := range concept.Properties {
		if p.Member != "" && wants(p.Code, true) {
			appendProperty(out, p.Code, p.Member, p.Value)
		}
	}
	return out.end(), nil
}

// lookedUp is the code to look up: code and system, or coding.
func (t *terminologyCall) lookedUp() (terminology.Coding, error) {
	c := terminology.Coding{Code: t.text("code"), System: t.text("system"), Version: t.text("version")}
	coding := t.object("coding", "Coding")
	switch {
	case t.err != nil:
		return c, t.err
	case coding.Exists() && c.Code != "":
		return c, fhir.NewError(fhir.KindInvalid, fhir.IssueInvalid, "Either code or coding has to be given, not both.")
	case coding.Exists():
		c = codingOf(coding)
	}
	if c.Code == "" || c.System == "" {
		return c, fhir.NewError(fhir.KindInvalid, fhir.IssueRequired, "A code and its system have to be given.")
	}
	return c, nil
}

func appendDesignationPart(out *parametersOut, d *terminology.Designation) {
	out.open("designation")
	out.text("language", "valueCode", d.Language)
	if len(d.Use) > 0 {
		out.add("use", "valueCoding", d.Use)
	}
	out.text("value", "valueString", d.Value)
	out.close()
}

// appendProperty adds a property. Its value may be of a type that the
// operation's definition knows only as its text.
func appendProperty(out *parametersOut, code, member string, value []byte) {
	out.open("property")
	out.text("code", "valueCode", strings.TrimSpace(code))
	out.add("value", member, value)
	out.close()
}
