package interaction

import (
	"context"
	"slices"

	"starling/internal/fhir"
)

// The cursors of the page that begins with the focus, and of the one right behind it
// where a page has the focus alone. Other pages have the store's.
const (
	atFocus     = "focus"
	behindFocus = "behind"
)

// everythingPage finds a page whose first match of all is the focus, wherever among
// the others it was created; query leaves it out. focus is nil if it is not asked for.
func (s *Service) everythingPage(ctx context.Context, query *fhir.SearchQuery, focus *fhir.Resource) (*fhir.SearchPage, error) {
	if focus == nil {
		return s.Store.Search(ctx, query)
	}
	others, first := *query, query.Cursor == "" || query.Cursor == atFocus
	if first || query.Cursor == behindFocus {
		others.Cursor = ""
	}
	if first && query.Count > 1 {
		others.Count--
	}
	page, err := s.Store.Search(ctx, &others)
	if err != nil {
		return nil, err
	}
	if page.Total >= 0 {
		page.Total++
	}
	switch {
	case query.Count == 0:
	case first && query.Count == 1:
		if page.Next = ""; len(page.Matches) > 0 {
			page.Next = behindFocus
		}
		page.Matches = []*fhir.Resource{focus}
	case first:
		page.Matches = slices.Insert(page.Matches, 0, focus)
	case page.Previous != "":
	case query.Cursor == behindFocus || len(page.Matches) == query.Count:
		page.Previous = atFocus
	default: // on the way back, with a place left
		page.Matches = slices.Insert(page.Matches, 0, focus)
	}
	return page, nil
}
