package interaction

import (
	"context"

	"starling/internal/fhir"
	"starling/internal/terminology"
)

// translate gives the codes of another system that a concept map has for one
// (https://hl7.org/fhir/R4/conceptmap-operation-translate.html). Without a map
// named, all that are known are looked through.
func (s *Service) translate(ctx context.Context, t *terminologyCall) ([]byte, error) {
	codings, err := t.codings("code", "system", "version")
	if err != nil {
		return nil, err
	}
	asked := terminology.Translation{
		Codes: codings, Source: t.text("source"), Target: t.text("target"), TargetSystem: t.text("targetsystem"),
		Reverse: t.flag("reverse", false), Dependencies: t.dependencies(),
	}
	maps, err := t.maps(ctx, &asked)
	if err != nil {
		return nil, err
	}
	matches, err := t.codes.Translate(maps, &asked)
	if err != nil {
		return nil, err
	}
	result := false
	for i := range matches {
		m := &matches[i]
		result = result || m.Equivalence != "unmatched" && m.Equivalence != "disjoint"
	}
	out := newParameters()
	out.flag("result", result)
	if !result {
		out.text("message", "valueString", "There is no match.")
	}
	for i := range matches {
		appendMatch(out, &matches[i])
	}
	return out.end(), nil
}

// maps are the concept maps to look in.
func (t *terminologyCall) maps(ctx context.Context, asked *terminology.Translation) ([]terminology.Map, error) {
	url, root := t.text("url"), t.resourceOf(t.Service, "conceptMap")
	if t.err != nil {
		return nil, t.err
	}
	if url == "" && !root.Exists() && t.ID == "" {
		if asked.Source == "" && asked.Target == "" && asked.TargetSystem == "" && asked.Codes[0].System == "" {
			return nil, fhir.NewError(fhir.KindInvalid, fhir.IssueRequired,
				"Which ConceptMap is not said: give its url, or what it should map from and to.")
		}
		return t.codes.Maps(), nil
	}
	one, err := subject(ctx, t, canonicalOf(url, t.text("conceptMapVersion")), "conceptMap",
		t.codes.StoredConceptMap, t.codes.ConceptMapOf, t.codes.ConceptMap)
	return []terminology.Map{one}, err
}

// dependencies are other elements that the translation may depend on.
func (t *terminologyCall) dependencies() []terminology.OtherElement {
	var all []terminology.OtherElement
	for i := range t.parameters {
		p := &t.parameters[i]
		if p.name != "dependency" {
			continue
		}
		if p.kind != ofParts {
			t.wrong(p, fhir.IssueValue, "has to have parts")
			continue
		}
		var d terminology.OtherElement
		for part := range p.node.Get("part").Children() {
			value, err := newParameter(part)
			if err != nil {
				t.err = err
				return nil
			}
			switch value.name {
			case "element":
				d.Property = value.text
			case "concept":
				coding := value.node
				if coding.Name() == "valueCodeableConcept" {
					coding = coding.Get("coding").At(0)
				}
				c := codingOf(coding)
				d.System, d.Value = c.System, c.Code
			}
		}
		all = append(all, d)
	}
	return all
}

func appendMatch(out *parametersOut, m *terminology.Match) {
	out.open("match")
	out.text("equivalence", "valueCode", m.Equivalence)
	if c := &m.Concept; c.Code != "" {
		out.add("concept", "valueCoding", appendCoding(nil, c.System, c.Version, c.Code, c.Display))
	}
	for _, p := range m.Products {
		out.open("product")
		out.text("element", "valueUri", p.Property)
		out.add("concept", "valueCoding", appendCoding(nil, p.System, "", p.Value, p.Display))
		out.close()
	}
	out.text("source", "valueUri", m.Source)
	out.close()
}
