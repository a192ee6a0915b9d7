package terminology

import (
	"encoding/json"
	"strings"

	"starling/internal/fhir"
)

// Concept is what is known of a code.
type Concept struct {
	System       *CodeSystem
	Code         string
	Display      string
	Definition   string
	Designations []Designation
	Properties   []Property // those the system gives, parent and child, and inactive
}

// Lookup tells what is known of a code
// (https://hl7.org/fhir/R4/codesystem-operation-lookup.html), supplements
// included. A code that does not exist: KindNotFound; a system that is not
// held: ErrNotHeld.
func (t *Terminology) Lookup(system *CodeSystem, code string) (*Concept, error) {
	n, ok := system.find(code)
	if !ok {
		failure := fhir.NewError(fhir.KindNotFound, fhir.IssueNotFound,
			"The code "+shorten(code)+" is not in the code system "+withVersion(system.URL, system.Version)+".")
		if !system.complete() {
			failure = failure.Because(ErrNotHeld)
		}
		return nil, failure
	}
	found := &system.concepts[n]
	c := &Concept{
		System: system, Code: found.Code, Display: found.Display, Definition: found.Definition,
		Designations: found.Designation[:len(found.Designation):len(found.Designation)],
	}
	c.Properties = append(c.Properties, Property{Code: "inactive", Member: "valueBoolean", Value: boolean(found.inactive)})
	told := map[string]bool{"inactive": true}
	for _, p := range found.Property {
		if p.Code != "inactive" {
			told[p.Code+" "+p.text()] = true
			c.Properties = append(c.Properties, p)
		}
	}
	for _, code := range []string{"parent", "child"} {
		for _, other := range system.values(found, code) {
			if !told[code+" "+other] {
				c.Properties = append(c.Properties, Property{Code: code, Member: "valueCode", Value: quoted(other)})
			}
		}
	}
	for _, s := range t.supplements[system.URL] {
		c.supplement(s, system)
	}
	return c, nil
}

// supplement adds what a supplement says of the concept.
func (c *Concept) supplement(s *source, of *CodeSystem) {
	if _, version, versioned := strings.Cut(s.supplements, "|"); versioned && version != of.Version {
		return
	}
	system, err := s.system()
	if err != nil {
		return
	}
	if n, ok := system.find(c.Code); ok {
		c.Designations = append(c.Designations, system.concepts[n].Designation...)
		c.Properties = append(c.Properties, system.concepts[n].Property...)
	}
}

func boolean(b bool) json.RawMessage {
	if b {
		return json.RawMessage("true")
	}
	return json.RawMessage("false")
}

func quoted(text string) json.RawMessage {
	value, err := json.Marshal(text)
	if err != nil {
		panic(err) // every string can be
	}
	return value
}
