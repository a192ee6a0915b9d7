package interaction

import (
	"context"
	"net/url"
	"strings"

	"starling/internal/fhir"
)

// keptParameter stands in page links for the text of a search that is too long
// for them; the store keeps it.
const keptParameter = "_kept"

// longestQuery is how many bytes of a search's text a page link repeats.
const longestQuery = 1500

// recall gives the request of a page link its search back.
func (s *Service) recall(ctx context.Context, request *Request) (*Request, error) {
	name, err := onlyValue(request.Query, keptParameter)
	if err != nil || name == "" {
		return request, err
	}
	text, err := s.Store.KeptQuery(ctx, name)
	if err != nil {
		return nil, err
	}
	whole := *request
	whole.RawQuery = strings.TrimSuffix(text+"&"+without(request.RawQuery, keptParameter), "&")
	if whole.Query, err = ParseQuery(whole.RawQuery); err != nil {
		return nil, err
	}
	return &whole, nil
}

// searchLink is a link to a page of a search.
type searchLink struct{ relation, url string }

// pageLinks gives the links of a page. Each has all that another instance
// needs. self shows the search as it was understood, whatever its length.
func (s *Service) pageLinks(ctx context.Context, finder fhir.Finder, plan *searchPlan, page *fhir.SearchPage) ([]searchLink, error) {
	request := plan.request
	self := without(request.RawQuery, plan.unknown...)
	links := []searchLink{{"self", pageURL(request, self)}}
	if page.Next == "" && page.Previous == "" {
		return links, nil
	}
	search := without(self, cursorParameter)
	// Within a transaction no second connection may be waited for.
	if len(search) > longestQuery && finder == fhir.Finder(s.Store) {
		name, err := s.Store.KeepQuery(ctx, search)
		if err != nil {
			return nil, err
		}
		search = keptParameter + "=" + name
	}
	links = append(links, searchLink{"first", pageURL(request, search)})
	for _, to := range []searchLink{{"previous", page.Previous}, {"next", page.Next}} {
		if to.url != "" {
			at := strings.TrimPrefix(search+"&"+cursorParameter+"="+url.QueryEscape(to.url), "&")
			links = append(links, searchLink{to.relation, pageURL(request, at)})
		}
	}
	return links, nil
}
