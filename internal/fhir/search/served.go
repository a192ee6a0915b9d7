package search

import (
	"slices"
	"strings"

	"starling/internal/fhir"
	"starling/internal/fhir/definition"
)

// planners are the types of search parameters that are served.
var planners = map[string]*planner{
	"token":     {takes: only("not", "text", "of-type", "in", "not-in", "above", "below"), value: planToken},
	"reference": {takes: ofReference, value: planReference},
	"string":    {takes: only("exact", "contains"), value: planString},
	"date":      {takes: only(), value: planDate},
	"number":    {takes: only(), value: planNumber},
	"quantity":  {takes: only(), value: planQuantity},
	"special":   {takes: only(), value: planNear},
	"uri":       {takes: only("above", "below"), value: planURI},
}

func init() {
	storeParameters["_filter"] = planFilter
	storeParameters["_text"], storeParameters["_content"] = planText, planText
	planners["composite"] = &planner{takes: only(), value: planComposite}
}

// storeParameters are the parameters on what the store itself knows of a
// resource.
var storeParameters = map[string]func(p *planning, q *queryParameter) (fhir.Criterion, error){
	"_id":          planID,
	"_list":        planList,
	"_lastUpdated": planLastUpdated,
}

// unserved are the parameters of the specification's text that no definition
// has, or none with an expression, and why they are refused.
var unserved = map[string]string{
	"_score": "matches are not ranked",
	"_query": "there are no named queries",
	"_type":  "it is for searches of the whole system",
}

// refuses says why a parameter is refused whatever its definition says; "" if it
// is not.
func (s *Search) refuses(code string) string {
	switch {
	case code == "_text" && s.text == TextOff:
		return "this server was told not to index narratives (--text-search)"
	case code == "_content" && s.text != TextAll:
		return "this server was not told to index all texts (--text-search=all)"
	}
	return unserved[code]
}

// whyNotServed says why a parameter that has a definition is refused.
func whyNotServed(d *definition.SearchParameter) string {
	switch {
	case d.Expression == "":
		return "its definition does not say which elements it looks at"
	case notIndexed[d.Code] != "":
		return notIndexed[d.Code]
	case planners[d.Type] == nil:
		return "parameters of the type " + d.Type + " are not served yet"
	}
	return "no element it looks at can be searched"
}

// serves reports whether Plan accepts a parameter of a type.
func (s *Search) serves(of *parameters, d *definition.SearchParameter) bool {
	return s.refuses(d.Code) == "" && (storeParameters[d.Code] != nil || of.byCode[d.Code] != nil && planners[d.Type] != nil)
}

// Served lists the parameters of a type that Plan accepts, sorted by code.
func (s *Search) Served(t fhir.ResourceType) []*definition.SearchParameter {
	compiled, err := s.parameters(t)
	if err != nil {
		return nil
	}
	var out []*definition.SearchParameter
	for _, d := range s.definitions(t) {
		if s.serves(compiled, d) {
			out = append(out, d)
		}
	}
	return out
}

// Unserved is a parameter that is defined and refused.
type Unserved struct{ URL, Code, Reason string }

// Unserved lists the parameters of a type that Plan refuses, sorted by code; with
// t empty those that are no type's.
func (s *Search) Unserved(t fhir.ResourceType) []Unserved {
	var out []Unserved
	if t == "" {
		for _, d := range s.registry.UnboundSearchParameters() {
			out = append(out, Unserved{d.URL, d.Code, "its definition names no resource type"})
		}
		return out
	}
	compiled, err := s.parameters(t)
	if err != nil {
		return nil
	}
	for _, d := range s.definitions(t) {
		if s.serves(compiled, d) {
			continue
		}
		reason := s.refuses(d.Code)
		if reason == "" {
			reason = whyNotServed(d)
		}
		out = append(out, Unserved{d.URL, d.Code, reason})
	}
	for _, r := range s.refused {
		if s.concerns(r.Definition, t) {
			out = append(out, Unserved{r.Definition.URL, r.Definition.Code, r.Reason})
		}
	}
	slices.SortStableFunc(out, func(a, b Unserved) int { return strings.Compare(a.Code, b.Code) })
	return out
}

func only(modifiers ...string) func(*planning, string) bool {
	return func(_ *planning, modifier string) bool {
		for _, m := range modifiers {
			if m == modifier {
				return true
			}
		}
		return false
	}
}

func ofReference(p *planning, modifier string) bool {
	return modifier == "identifier" || modifier == "above" || modifier == "below" || p.search.registry.IsResourceType(modifier)
}
