package interaction

import (
	"context"
	"strconv"

	"starling/internal/fhir"
	"starling/internal/fhir/element"
)

// maxLastN is how many Observations $lastn looks at.
const maxLastN = 10_000

// lastN answers Observation/$lastn: of the Observations a search finds the
// newest of each code (https://hl7.org/fhir/R4/observation-operation-lastn.html).
func (s *Service) lastN(ctx context.Context, c *call) (*Response, error) {
	request := c.asSearch()
	most, err := onlyValue(request.Query, "max")
	if err != nil {
		return nil, err
	}
	n := 1
	if most != "" {
		if n, err = strconv.Atoi(most); err != nil || n < 1 {
			return nil, fhir.NewError(fhir.KindInvalid, fhir.IssueValue, "max is "+quote(most)+"; a number from 1 on was expected.")
		}
	}
	if !request.Query.Has("patient") && !request.Query.Has("subject") {
		return nil, fhir.NewError(fhir.KindInvalid, fhir.IssueRequired, "$lastn needs the parameter patient or subject.")
	}
	f, err := parseForm(request.Query)
	if err != nil {
		return nil, err
	}
	query, unknown, err := s.Planner.Plan([]fhir.ResourceType{c.Type},
		without(request.RawQuery, "max", "_sort", "_count", "_total", "_summary", "_elements", "_format", "_pretty")+"&_sort=-date",
		request.Handling == HandlingStrict, request.Base)
	if err != nil {
		return nil, err
	}
	if err := unambiguous(ctx, s.Store, query); err != nil {
		return nil, err
	}
	found, err := s.newest(ctx, query, n)
	if err != nil {
		return nil, err
	}
	plan := &searchPlan{request, query, f, unknown}
	page := &fhir.SearchPage{Matches: found, Total: int64(len(found))}
	if f.summary == summaryCount {
		page.Matches = nil
	}
	added, err := s.included(ctx, s.Store, plan, page)
	if err != nil {
		return nil, err
	}
	body, err := s.searchset(plan, page, added, []searchLink{{"self", pageURL(request, without(request.RawQuery, unknown...))}})
	return &Response{Status: StatusOK, Body: body}, err
}

// newest gives the first n matches of each code, which stand newest first;
// those of a code stand together.
func (s *Service) newest(ctx context.Context, query *fhir.SearchQuery, n int) ([]*fhir.Resource, error) {
	var groups [][]*fhir.Resource
	byCode := map[string]int{}
	looked := 0
	for query.Count = maxCount; ; {
		page, err := s.Store.Search(ctx, query)
		if err != nil {
			return nil, err
		}
		for _, match := range page.Matches {
			codes, err := observedCodes(match)
			if err != nil {
				return nil, err
			}
			group := len(groups)
			for _, code := range codes {
				if known, ok := byCode[code]; ok {
					group = known
					break
				}
			}
			if group == len(groups) {
				groups = append(groups, nil)
			}
			for _, code := range codes {
				if _, ok := byCode[code]; !ok {
					byCode[code] = group
				}
			}
			if len(groups[group]) < n {
				groups[group] = append(groups[group], match)
			}
		}
		if looked += len(page.Matches); page.Next == "" {
			break
		}
		if looked >= maxLastN {
			return nil, fhir.NewError(fhir.KindInvalid, fhir.IssueTooCostly, "$lastn would look at more than 10,000 Observations; narrow it, such as by category or code.")
		}
		query.Cursor = page.Next
	}
	var all []*fhir.Resource
	for _, group := range groups {
		all = append(all, group...)
	}
	return all, nil
}

// observedCodes gives what an Observation's code is known by: each of its codings,
// or its text if it has none.
func observedCodes(observation *fhir.Resource) (codes []string, err error) {
	root, err := element.ParseStored(observation)
	if err != nil {
		return nil, err
	}
	code := root.Get("code")
	for coding := range code.Get("coding").Children() {
		if c := coding.Get("code").Str(); c != "" {
			codes = append(codes, coding.Get("system").Str()+"|"+c)
		}
	}
	if len(codes) == 0 {
		codes = append(codes, "text "+code.Get("text").Str())
	}
	return codes, nil
}
