package interaction

import (
	"context"
	"slices"
	"strings"

	"starling/internal/fhir"
)

// everything answers $everything of a Patient or an Encounter, or of all
// patients: the resources of the compartment, the focus among them, and what
// these refer to outside it
// (https://hl7.org/fhir/R4/patient-operation-everything.html).
func (s *Service) everything(ctx context.Context, c *call) (*Response, error) {
	focus, err := s.focus(ctx, c)
	if err != nil {
		return nil, err
	}
	request, err := s.recall(ctx, c.asSearch())
	if err != nil {
		return nil, err
	}
	since, err := dateRange(request.Query, "_since")
	if err != nil {
		return nil, err
	}
	query, err := s.everythingQuery(request, since)
	if err != nil {
		return nil, err
	}
	if focus != nil && (!slices.Contains(query.Types, focus.Type) || focus.LastUpdated.Before(since.Low)) {
		focus = nil
	}
	f, err := parseForm(request.Query)
	if err != nil {
		return nil, err
	}
	if query.Count == 0 || f.summary == summaryCount {
		query.Count, query.Total = 0, fhir.TotalAccurate
	}
	page, err := s.everythingPage(ctx, query, focus)
	if err != nil {
		return nil, err
	}
	return s.answerPage(ctx, s.Store, &searchPlan{request, query, f, c.unknown}, page)
}

// focus is the resource that the URL names; nil if it names a type.
func (s *Service) focus(ctx context.Context, c *call) (*fhir.Resource, error) {
	if c.ID == "" {
		return nil, nil
	}
	focus, err := s.Store.Read(ctx, fhir.Key{Type: c.Type, ID: c.ID})
	if err != nil {
		return nil, err
	}
	if focus.Deleted() {
		return nil, gone(focus)
	}
	return focus, nil
}

// everythingQuery is the search that $everything stands for, without the focus. With
// no _count a page has as much as one may.
func (s *Service) everythingQuery(request *Request, since fhir.TimeRange) (*fhir.SearchQuery, error) {
	query := &fhir.SearchQuery{Count: maxCount}
	var err error
	if request.Query.Has("_count") {
		if query.Count, err = count(request.Query); err != nil {
			return nil, err
		}
	}
	if query.Cursor, err = onlyValue(request.Query, cursorParameter); err != nil {
		return nil, err
	}
	var care fhir.TimeRange
	for name, end := range map[string]bool{"start": false, "end": true} {
		r, err := dateRange(request.Query, name)
		if err != nil {
			return nil, err
		}
		if end {
			care.High = r.High
		} else {
			care.Low = r.Low
		}
	}
	chosen, err := s.chosenTypes(request)
	if err != nil {
		return nil, err
	}
	var members fhir.Or
	compartment := s.Definitions.Compartment(request.Type)
	for _, t := range s.Definitions.ResourceTypes() {
		inside := t == request.Type || len(compartment.Params[t]) > 0
		switch {
		case !s.hasEndpoint(string(t)) || len(chosen) > 0 && !slices.Contains(chosen, t):
		case !inside:
			query.Includes = append(query.Includes, fhir.Include{Target: t})
		default:
			query.Types = append(query.Types, t)
			all := fhir.And{fhir.TypeIs(t), s.memberOf(request, t)}
			if t != request.Type {
				all = append(all, s.caredFor(t, care)...)
			}
			members = append(members, all)
		}
	}
	if len(query.Types) == 0 {
		return nil, fhir.NewError(fhir.KindInvalid, fhir.IssueValue, "_type names no type of the compartment "+string(request.Type)+".")
	}
	query.Criteria = members
	if !since.Low.IsZero() {
		query.Criteria = fhir.And{members, fhir.Updated{Prefix: fhir.PrefixGreaterOrEqual, Range: since}}
	}
	return query, nil
}

// chosenTypes reads _type; none if it is not there.
func (s *Service) chosenTypes(request *Request) (chosen []fhir.ResourceType, err error) {
	for _, list := range request.Query["_type"] {
		for name := range strings.SplitSeq(list, ",") {
			if name != "" && !s.hasEndpoint(name) {
				return nil, fhir.NewError(fhir.KindInvalid, fhir.IssueValue, "_type names "+quote(name)+", which is no resource type here.")
			}
			if name != "" {
				chosen = append(chosen, fhir.ResourceType(name))
			}
		}
	}
	return chosen, nil
}

// memberOf holds for the resources of a type in the focus's compartment, but the
// focus; with no focus, in the compartment of any.
func (s *Service) memberOf(request *Request, t fhir.ResourceType) fhir.Criterion {
	if request.ID == "" && t == request.Type {
		return fhir.And{}
	}
	var links fhir.Or
	for _, param := range s.Definitions.Compartment(request.Type).Params[t] {
		switch {
		case param == "{def}":
		case request.ID == "":
			links = append(links, fhir.Missing{Param: param})
		default:
			links = append(links, fhir.ReferenceTo{Param: param, Type: request.Type, ID: request.ID})
		}
	}
	if t == request.Type {
		return fhir.And{links, fhir.Not{Criterion: fhir.IDIn{request.ID}}}
	}
	return links
}

// careDates are the parameters that say when care took place, the first that a
// type has counting.
var careDates = []string{
	"authoredon", "date", "occurrence", "onset-date", "effective", "effective-time", "whenhandedover", "started", "sent",
	"identified", "start-date", "created", "authored", "collected", "datetime", "datewritten", "period", "issued",
}

// caredFor holds for resources of a type whose care overlaps the range, and
// for those that say nothing of it.
func (s *Service) caredFor(t fhir.ResourceType, care fhir.TimeRange) fhir.And {
	if care.Low.IsZero() && care.High.IsZero() {
		return nil
	}
	dates := map[string]bool{}
	for _, p := range s.Served(t) {
		if p.Type == "date" {
			dates[p.Code] = p.Generation == "" // by the specification's own
		}
	}
	for _, code := range careDates {
		if dates[code] {
			return fhir.And{fhir.Or{
				fhir.Missing{Param: code, Missing: true},
				fhir.Date{Param: code, Prefix: fhir.PrefixApproximate, Range: care},
			}}
		}
	}
	return nil
}
