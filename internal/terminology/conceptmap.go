package terminology

import (
	"encoding/json"

	"starling/internal/fhir"
)

// conceptMapJSON is a ConceptMap, as far as it is used.
type conceptMapJSON struct {
	URL, Version               string
	SourceURI, SourceCanonical string
	TargetURI, TargetCanonical string
	Group                      []groupJSON
}

type groupJSON struct {
	Source, SourceVersion string
	Target, TargetVersion string
	Element               []elementJSON
	Unmapped              *struct{ Mode, Code, Display, URL string }
}

type elementJSON struct {
	Code, Display string
	Target        []targetJSON
}

type targetJSON struct {
	Code, Display, Equivalence, Comment string
	DependsOn, Product                  []OtherElement
}

// OtherElement is ConceptMap.group.element.target.dependsOn, or a product.
type OtherElement struct{ Property, System, Value, Display string }

// conceptMap is a concept map, indexed by the codes of either side.
type conceptMap struct {
	url, version   string
	source, target string // canonicals of the value sets; "": none
	groups         []*group
}

type group struct {
	*groupJSON
	bySource map[string][]int // code → elements
	byTarget map[string][]int // code → elements that have such a target
}

func newConceptMap(text []byte) (*conceptMap, error) {
	var j conceptMapJSON
	if err := json.Unmarshal(text, &j); err != nil {
		return nil, fhir.NewError(fhir.KindUnprocessable, fhir.IssueStructure, "A concept map cannot be read.").Because(err)
	}
	m := &conceptMap{url: j.URL, version: j.Version, source: j.SourceURI + j.SourceCanonical, target: j.TargetURI + j.TargetCanonical}
	for i := range j.Group {
		g := &group{groupJSON: &j.Group[i], bySource: map[string][]int{}, byTarget: map[string][]int{}}
		for n := range g.Element {
			e := &g.Element[n]
			g.bySource[e.Code] = append(g.bySource[e.Code], n)
			for k := range e.Target {
				code := e.Target[k].Code
				if known := g.byTarget[code]; len(known) == 0 || known[len(known)-1] != n {
					g.byTarget[code] = append(known, n)
				}
			}
		}
		m.groups = append(m.groups, g)
	}
	return m, nil
}
