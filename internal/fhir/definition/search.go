package definition

import (
	"cmp"
	"encoding/json"
	"maps"
	"slices"
	"strings"

	"starling/internal/fhir"
)

// searchParameters indexes the parameters of the specification.
type searchParameters struct {
	byURL  map[string]*SearchParameter
	byCode map[fhir.ResourceType]map[string]*SearchParameter
	byType map[fhir.ResourceType][]*SearchParameter
	// unbound are those of no resource type, sorted by code.
	unbound []*SearchParameter
}

// parameterJSON is the JSON of a SearchParameter.
type parameterJSON struct {
	URL, Name, Code, Type       string
	Base                        []fhir.ResourceType
	Expression, Description     string
	Target                      []fhir.ResourceType
	MultipleOr, MultipleAnd     *bool
	Modifier, Comparator, Chain []string
	Component                   []Component
}

func (p *parameterJSON) parameter() *SearchParameter {
	s := &SearchParameter{
		URL: p.URL, Name: p.Name, Code: p.Code, Type: p.Type, Base: p.Base, Expression: p.Expression,
		Target: p.Target, Description: p.Description, Modifiers: p.Modifier, Comparators: p.Comparator,
		Chains: p.Chain, Components: p.Component,
	}
	s.Multiple.Or = p.MultipleOr == nil || *p.MultipleOr
	s.Multiple.And = p.MultipleAnd == nil || *p.MultipleAnd
	return s
}

// ParseSearchParameter reads the JSON of a SearchParameter resource.
func ParseSearchParameter(text []byte) (*SearchParameter, error) {
	var j parameterJSON
	if err := json.Unmarshal(text, &j); err != nil {
		return nil, err
	}
	return j.parameter(), nil
}

func (r *Registry) readSearchParameters() *searchParameters {
	s := &searchParameters{
		byURL:  map[string]*SearchParameter{},
		byCode: map[fhir.ResourceType]map[string]*SearchParameter{},
		byType: map[fhir.ResourceType][]*SearchParameter{},
	}
	byBase := map[fhir.ResourceType][]*SearchParameter{}
	r.file.each("SearchParameter", func(line []byte) {
		var j parameterJSON
		if err := json.Unmarshal(line, &j); err != nil {
			panic("definition: " + err.Error())
		}
		p := j.parameter()
		s.byURL[p.URL] = p
		if len(p.Base) == 0 {
			s.unbound = append(s.unbound, p)
		}
		for _, base := range p.Base {
			byBase[base] = append(byBase[base], p)
		}
	})
	slices.SortFunc(s.unbound, func(a, b *SearchParameter) int { return cmp.Or(cmp.Compare(a.Code, b.Code), cmp.Compare(a.URL, b.URL)) })
	for _, t := range r.resourceTypes {
		codes := map[string]*SearchParameter{}
		for _, base := range r.Lineage(t) {
			for _, p := range byBase[base] {
				codes[p.Code] = p
			}
		}
		list := make([]*SearchParameter, 0, len(codes))
		for _, p := range codes {
			list = append(list, p)
		}
		slices.SortFunc(list, func(a, b *SearchParameter) int { return cmp.Compare(a.Code, b.Code) })
		s.byCode[t], s.byType[t] = codes, list
	}
	return s
}

// SearchParameters lists the parameters of a type, those of Resource and
// DomainResource included, sorted by code.
func (r *Registry) SearchParameters(t fhir.ResourceType) []*SearchParameter {
	return r.search().byType[t]
}

// UnboundSearchParameters lists the parameters whose definitions name no resource
// type, sorted by code.
func (r *Registry) UnboundSearchParameters() []*SearchParameter { return r.search().unbound }

// SearchParameterURLs lists the canonicals of all parameters, in no order.
func (r *Registry) SearchParameterURLs() []string { return slices.Collect(maps.Keys(r.search().byURL)) }

// SearchParameter gives a type's parameter by its code; nil if there is none.
func (r *Registry) SearchParameter(t fhir.ResourceType, code string) *SearchParameter {
	return r.search().byCode[t][code]
}

// SearchParameterByURL gives a parameter by its canonical; nil if there is none.
func (r *Registry) SearchParameterByURL(url string) *SearchParameter {
	url, _, _ = strings.Cut(url, "|")
	return r.search().byURL[url]
}

// Lineage lists the types a resource type specializes, the most abstract
// first, and the type.
func (r *Registry) Lineage(t fhir.ResourceType) []fhir.ResourceType {
	var lineage []fhir.ResourceType
	for name := string(t); name != ""; name = r.types[name].base {
		lineage = append(lineage, fhir.ResourceType(name))
	}
	slices.Reverse(lineage)
	return lineage
}

// Specializes reports whether a type is another one or derives from it.
func (r *Registry) Specializes(t, base fhir.ResourceType) bool {
	for name := string(t); name != ""; name = r.types[name].base {
		if name == string(base) {
			return true
		}
	}
	return false
}
