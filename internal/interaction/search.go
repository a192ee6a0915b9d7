package interaction

import (
	"context"
	"slices"
	"strings"
	"time"
	"uuid"

	"starling/internal/fhir"
)

// search finds resources of a type, of several or of a compartment
// (https://hl7.org/fhir/R4/http.html#search).
func (s *Service) search(ctx context.Context, request *Request) (*Response, error) {
	plan, err := s.plan(ctx, request)
	if err != nil {
		return nil, err
	}
	return s.answerSearch(ctx, s.Store, plan)
}

// answerSearch runs a search where finder looks and answers it.
func (s *Service) answerSearch(ctx context.Context, finder fhir.Finder, plan *searchPlan) (*Response, error) {
	if plan.query.Cursor == "" {
		if err := unambiguous(ctx, finder, plan.query); err != nil {
			return nil, err
		}
	}
	page, err := finder.Search(ctx, plan.query)
	if err != nil {
		return nil, err
	}
	return s.answerPage(ctx, finder, plan, page)
}

// answerPage answers a search with the page that was found where finder looks.
func (s *Service) answerPage(ctx context.Context, finder fhir.Finder, plan *searchPlan, page *fhir.SearchPage) (*Response, error) {
	added, err := s.included(ctx, finder, plan, page)
	if err != nil {
		return nil, err
	}
	links, err := s.pageLinks(ctx, finder, plan, page)
	if err != nil {
		return nil, err
	}
	body, err := s.searchset(plan, page, added, links)
	return &Response{Status: StatusOK, Body: body}, err
}

// unambiguous refuses a search by an id without a type that resources of several
// types have (https://hl7.org/fhir/R4/search.html#reference).
func unambiguous(ctx context.Context, finder fhir.Finder, query *fhir.SearchQuery) error {
	var keys []fhir.VersionKey
	for _, id := range query.Untyped {
		for _, t := range id.Types {
			keys = append(keys, fhir.VersionKey{Key: fhir.Key{Type: t, ID: id.ID}})
		}
	}
	if len(keys) > maxUntyped {
		return fhir.NewError(fhir.KindInvalid, fhir.IssueTooCostly, "The search has too many ids without their types; say them, as in Patient/1.")
	}
	if len(keys) == 0 {
		return nil
	}
	found, err := finder.ReadAll(ctx, keys)
	if err != nil || len(found) < 2 {
		return err
	}
	for _, id := range query.Untyped {
		var of []string
		for _, resource := range found {
			if resource.ID == id.ID && slices.Contains(id.Types, resource.Type) && !slices.Contains(of, resource.Key.String()) {
				of = append(of, resource.Key.String())
			}
		}
		if len(of) > 1 {
			slices.Sort(of)
			return fhir.NewError(fhir.KindInvalid, fhir.IssueMultipleMatches, "The parameter "+quote(id.Param)+" has the id "+quote(id.ID)+
				", which "+strings.Join(of, " and ")+" have; say which is meant, as in "+of[0]+".")
		}
	}
	return nil
}

// maxUntyped bounds the resources that ids without types may be of.
const maxUntyped = 5000

// searchPlan is a search ready to be run.
type searchPlan struct {
	request *Request
	query   *fhir.SearchQuery
	form    form
	unknown []string // parameters that were ignored
}

// plan reads the parameters of a search. Those that concern the answer alone
// are not the planner's.
func (s *Service) plan(ctx context.Context, request *Request) (*searchPlan, error) {
	request, err := s.recall(ctx, request)
	if err != nil {
		return nil, err
	}
	f, err := parseForm(request.Query)
	if err != nil {
		return nil, err
	}
	types, err := s.searchedTypes(request)
	if err != nil {
		return nil, err
	}
	cursor, err := onlyValue(request.Query, cursorParameter)
	if err != nil {
		return nil, err
	}
	hidden := []string{"_format", "_pretty", "_summary", "_elements", cursorParameter}
	if request.Interaction != SearchType {
		hidden = append(hidden, "_type")
	}
	query, unknown, err := s.Planner.Plan(types, without(request.RawQuery, hidden...), request.Handling == HandlingStrict, request.Base)
	if err != nil {
		return nil, err
	}
	query.Cursor = cursor
	switch f.summary {
	case summaryCount:
		query.Count = 0
		if query.Total == fhir.TotalNone {
			query.Total = fhir.TotalAccurate
		}
	case summaryText:
		if len(query.Includes)+len(query.RevIncludes) > 0 {
			return nil, fhir.NewError(fhir.KindInvalid, fhir.IssueInvalid, "_summary=text excludes _include and _revinclude.")
		}
	}
	if request.Interaction == SearchCompartment {
		if query.Types[0] == fhir.AnyType {
			return nil, fhir.NewError(fhir.KindInvalid, fhir.IssueNotSupported, "Contained resources are not searched in compartments.")
		}
		query.Criteria = s.within(request, query)
	}
	return &searchPlan{request, query, f, unknown}, nil
}

// searchedTypes gives the types a search is about.
func (s *Service) searchedTypes(request *Request) ([]fhir.ResourceType, error) {
	switch {
	case request.Interaction == SearchType:
		return []fhir.ResourceType{request.Type}, nil
	case request.Interaction == SearchCompartment && request.CompartmentType != "*":
		t := fhir.ResourceType(request.CompartmentType)
		if len(s.Definitions.Compartment(request.Type).Params[t]) == 0 {
			return nil, fhir.NewError(fhir.KindNotFound, fhir.IssueNotFound,
				"The compartment "+string(request.Type)+" has no resources of type "+string(t)+".")
		}
		return []fhir.ResourceType{t}, nil
	}
	var chosen []fhir.ResourceType
	for _, list := range request.Query["_type"] {
		for name := range strings.SplitSeq(list, ",") {
			if name == "" {
				continue
			}
			if !s.hasEndpoint(name) {
				return nil, fhir.NewError(fhir.KindInvalid, fhir.IssueValue, "_type names "+quote(name)+", which is no resource type here.")
			}
			chosen = append(chosen, fhir.ResourceType(name))
		}
	}
	if len(chosen) > 0 {
		return chosen, nil
	}
	for _, t := range s.Definitions.ResourceTypes() {
		if t == "Parameters" || t == "Binary" {
			continue
		}
		if request.Interaction == SearchCompartment && len(s.Definitions.Compartment(request.Type).Params[t]) == 0 {
			continue
		}
		chosen = append(chosen, t)
	}
	return chosen, nil
}

// within narrows a search to a compartment: to resources that refer to its
// focus by one of the parameters that make the compartment, or are the focus
// (https://hl7.org/fhir/R4/compartmentdefinition.html).
func (s *Service) within(request *Request, query *fhir.SearchQuery) fhir.Criterion {
	compartment := s.Definitions.Compartment(request.Type)
	links := make(fhir.Or, 0, len(query.Types))
	for _, t := range query.Types {
		var link fhir.Or
		for _, param := range compartment.Params[t] {
			if param == "{def}" {
				link = append(link, fhir.IDIn{request.ID})
			} else {
				link = append(link, fhir.ReferenceTo{Param: param, Type: request.Type, ID: request.ID})
			}
		}
		if len(query.Types) == 1 {
			links = link
		} else {
			links = append(links, fhir.And{fhir.TypeIs(t), link})
		}
	}
	if query.Criteria == nil {
		return links
	}
	return fhir.And{query.Criteria, links}
}

// entryOverhead is about what an entry has beside its resource's own text.
const entryOverhead = 384

// searchset answers a search: the matches, what was included with them, and
// what is to be said about the search.
func (s *Service) searchset(plan *searchPlan, page *fhir.SearchPage, added *inclusion, links []searchLink) (body []byte, err error) {
	b := newBundle("searchset", time.Time{})
	size := 4096
	for _, resources := range [][]*fhir.Resource{page.Matches, added.found} {
		for _, r := range resources {
			size += len(r.Content.Meta) + len(r.Content.Body) + entryOverhead
		}
	}
	b.json = slices.Grow(b.json, size)
	b.total(page.Total)
	for _, link := range links {
		b.link(link.relation, link.url)
	}
	if plan.query.AsContained {
		if err := s.addContained(b, plan, page); err != nil {
			return nil, err
		}
		page.Matches = nil
	}
	add := func(resource *fhir.Resource, mode string) error {
		b.entry()
		b.fullURL(plan.request.Base, resource.Key)
		b.member("resource")
		if b.json, err = s.appendForm(b.json, resource, plan.form); err != nil {
			return err
		}
		b.member("search")
		b.json = append(b.json, `{"mode":"`+mode+`"}`...)
		b.close()
		return nil
	}
	for _, match := range page.Matches {
		if err := add(match, "match"); err != nil {
			return nil, err
		}
	}
	for _, resource := range added.found {
		if err := add(resource, "include"); err != nil {
			return nil, err
		}
	}
	if issues := remarks(plan, page, added); len(issues) > 0 {
		b.entry()
		b.member("fullUrl")
		b.json = append(b.json, `"urn:uuid:`+uuid.NewV4().String()+`"`...)
		b.member("resource")
		b.json = AppendOutcome(b.json, issues)
		b.member("search")
		b.json = append(b.json, `{"mode":"outcome"}`...)
		b.close()
	}
	return b.end(), nil
}

// remarks are the issues of a search that was answered.
func remarks(plan *searchPlan, page *fhir.SearchPage, added *inclusion) []fhir.Issue {
	issues := ignored(plan.unknown)
	if page.Estimated && plan.query.Total == fhir.TotalAccurate {
		issues = append(issues, fhir.Issue{
			Severity: fhir.SeverityWarning, Code: fhir.IssueTooCostly,
			Diagnostics: "Counting the matches would take too long; the total is an estimate.",
		})
	}
	if added.incomplete {
		issues = append(issues, fhir.Issue{
			Severity: fhir.SeverityWarning, Code: fhir.IssueIncomplete,
			Diagnostics: "There is more to be included than a page may have; some of it is left out.",
		})
	}
	return issues
}

// ignored names the parameters a search went without.
func ignored(unknown []string) []fhir.Issue {
	issues := make([]fhir.Issue, len(unknown))
	for i, name := range unknown {
		issues[i] = fhir.Issue{
			Severity: fhir.SeverityWarning, Code: fhir.IssueNotSupported,
			Diagnostics: "The parameter " + quote(name) + " is not known here and was ignored.",
		}
	}
	return issues
}
