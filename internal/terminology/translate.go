package terminology

import (
	"strings"

	"starling/internal/fhir"
)

// Translation asks what codes mean in another system
// (https://hl7.org/fhir/R4/conceptmap-operation-translate.html).
type Translation struct {
	Codes          []Coding
	Source, Target string // canonicals of value sets; "": any
	TargetSystem   string // "": any
	Reverse        bool   // from targets to sources
	Dependencies   []OtherElement
}

// Match is a code found.
type Match struct {
	Equivalence string
	Concept     Coding // without a code: it is known that there is none
	Source      string // canonical of the map
	Products    []OtherElement
}

// Map is a concept map to translate with.
type Map struct{ source *source }

// ConceptMap gives the concept map with a canonical. One that is not known:
// KindNotFound, with ErrNotHeld.
func (t *Terminology) ConceptMap(canonical string) (Map, error) {
	s := t.find("ConceptMap", canonical)
	if s == nil {
		return Map{}, notHeld("concept map", canonical)
	}
	return Map{s}, nil
}

// ConceptMapOf gives the concept map that a resource is, which need not be
// stored.
func (t *Terminology) ConceptMapOf(resource []byte) (Map, error) {
	s, err := newSource(resource)
	return Map{s}, err
}

// StoredConceptMap gives the concept map that a stored resource is.
func (t *Terminology) StoredConceptMap(resource *fhir.Resource) (Map, error) {
	if s := t.stored(resource); s != nil {
		return Map{s}, nil
	}
	return t.ConceptMapOf(resource.AppendJSON(nil))
}

// Maps lists all concept maps that are known.
func (t *Terminology) Maps() []Map {
	var all []Map
	for _, list := range [][]*source{t.maps, t.specification.maps()} {
		for _, s := range list {
			all = append(all, Map{s})
		}
	}
	return all
}

// Translate looks codes up in concept maps, and gives each match once.
func (t *Terminology) Translate(maps []Map, q *Translation) ([]Match, error) {
	x := translator{Terminology: t, Translation: q, seen: map[matchKey]bool{}}
	for _, m := range maps {
		cm, err := m.source.conceptMap()
		if err != nil {
			return nil, err
		}
		if !x.asksFor(cm) {
			continue
		}
		for _, code := range q.Codes {
			x.translate(cm, code, 0)
		}
	}
	return x.found, nil
}

// maxOtherMaps is how often an unmapped code may be passed on to another map.
const maxOtherMaps = 8

type translator struct {
	*Terminology
	*Translation
	found []Match
	seen  map[matchKey]bool
}

type matchKey struct{ equivalence, system, code, source string }

// asksFor reports whether the map is between the value sets asked for.
func (x *translator) asksFor(m *conceptMap) bool {
	from, to := m.source, m.target
	if x.Reverse {
		from, to = to, from
	}
	return sameCanonical(x.Source, from) && sameCanonical(x.Target, to)
}

// sameCanonical reports whether a canonical asked for, if there is one, is
// that; a version counts if both have one.
func sameCanonical(asked, canonical string) bool {
	if asked == "" || asked == canonical {
		return true
	}
	a, versionA, hasA := strings.Cut(asked, "|")
	b, versionB, hasB := strings.Cut(canonical, "|")
	return a == b && (!hasA || !hasB || versionA == versionB)
}

func (x *translator) translate(m *conceptMap, code Coding, depth int) {
	for _, g := range m.groups {
		from, to := g.Source, g.Target
		if x.Reverse {
			from, to = to, from
		}
		if code.System != "" && !sameCanonical(code.System, from) || !sameCanonical(x.TargetSystem, to) {
			continue
		}
		if x.Reverse {
			x.back(m, g, code)
			continue
		}
		elements := g.bySource[code.Code]
		for _, n := range elements {
			x.forth(m, g, &g.Element[n])
		}
		if len(elements) == 0 {
			x.unmapped(m, g, code, depth)
		}
	}
}

// forth adds the targets of an element.
func (x *translator) forth(m *conceptMap, g *group, e *elementJSON) {
	for i := range e.Target {
		target := &e.Target[i]
		if !x.fulfils(target.DependsOn) {
			continue
		}
		match := Match{Equivalence: target.Equivalence, Source: withVersion(m.url, m.version), Products: target.Product}
		if target.Code != "" {
			match.Concept = Coding{System: g.Target, Version: g.TargetVersion, Code: target.Code, Display: x.displayOf(g.Target, target.Code, target.Display)}
		}
		x.add(match)
	}
}

// back adds the sources of a target. What is wider seen from one side is
// narrower from the other.
func (x *translator) back(m *conceptMap, g *group, code Coding) {
	for _, n := range g.byTarget[code.Code] {
		e := &g.Element[n]
		for i := range e.Target {
			if target := &e.Target[i]; target.Code == code.Code && x.fulfils(target.DependsOn) {
				x.add(Match{
					Equivalence: reversed(target.Equivalence), Source: withVersion(m.url, m.version),
					Concept: Coding{System: g.Source, Version: g.SourceVersion, Code: e.Code, Display: x.displayOf(g.Source, e.Code, e.Display)},
				})
			}
		}
	}
}

func reversed(equivalence string) string {
	switch equivalence {
	case "wider":
		return "narrower"
	case "narrower":
		return "wider"
	case "subsumes":
		return "specializes"
	case "specializes":
		return "subsumes"
	}
	return equivalence
}

// unmapped does for a code without an element what the group says
// (https://hl7.org/fhir/R4/conceptmap.html#unmapped).
func (x *translator) unmapped(m *conceptMap, g *group, code Coding, depth int) {
	u := g.Unmapped
	if u == nil {
		return
	}
	match := Match{Equivalence: "relatedto", Source: withVersion(m.url, m.version)}
	switch u.Mode {
	case "provided":
		match.Equivalence, match.Concept = "equal", Coding{System: g.Target, Code: code.Code, Display: x.displayOf(g.Target, code.Code, "")}
		x.add(match)
	case "fixed":
		match.Concept = Coding{System: g.Target, Code: u.Code, Display: x.displayOf(g.Target, u.Code, u.Display)}
		x.add(match)
	case "other-map":
		other, err := x.ConceptMap(u.URL)
		if err != nil || depth == maxOtherMaps {
			return
		}
		if next, err := other.source.conceptMap(); err == nil {
			x.translate(next, code, depth+1)
		}
	}
}

// fulfils reports whether what a target depends on was given.
func (x *translator) fulfils(needed []OtherElement) bool {
	for _, need := range needed {
		given := false
		for _, d := range x.Dependencies {
			given = given || d.Property == need.Property && d.Value == need.Value && (d.System == "" || d.System == need.System)
		}
		if !given {
			return false
		}
	}
	return true
}

func (x *translator) displayOf(system, code, display string) string {
	if display != "" || system == "" {
		return display
	}
	if s, err := x.CodeSystem(system); err == nil {
		return s.display(code)
	}
	return ""
}

// maxMatches is the most matches that are given.
const maxMatches = 1000

func (x *translator) add(match Match) {
	key := matchKey{match.Equivalence, match.Concept.System, match.Concept.Code, match.Source}
	if !x.seen[key] && len(x.found) < maxMatches {
		x.seen[key] = true
		x.found = append(x.found, match)
	}
}
