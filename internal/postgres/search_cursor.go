package postgres

import "starling/internal/fhir"

// searchCursor is a position in the order of a search: that of a match, with
// its values of the sort keys. It does not depend on other matches, so a
// resource that stays unchanged during the walk appears once.
type searchCursor struct {
	RID int64 `json:"r"`
	// Keys are the values of the sort keys; null for none.
	Keys []*string `json:"k,omitempty"`
	// Before asks for the page that ends before the position.
	Before bool `json:"b,omitempty"`
	// Total and Estimated are carried along, so that matches are counted once.
	Total     *int64 `json:"t,omitempty"`
	Estimated bool   `json:"e,omitempty"`

	total  total
	values []sortValue
}

// encodeSearchCursor signs the cursor together with the order it belongs to.
func (s *Store) encodeSearchCursor(query *fhir.SearchQuery, cursor *searchCursor) string {
	if cursor.total.matches >= 0 {
		cursor.Total, cursor.Estimated = &cursor.total.matches, cursor.total.estimated
	}
	return s.hash.encodeCursor(orderOf(query), cursor)
}

func (s *Store) decodeSearchCursor(query *fhir.SearchQuery) (*searchCursor, error) {
	cursor := &searchCursor{total: total{matches: -1}}
	if err := s.hash.decodeCursor(orderOf(query), query.Cursor, cursor); err != nil {
		return nil, err
	}
	if cursor.Total != nil {
		cursor.total = total{*cursor.Total, cursor.Estimated}
	}
	var err error
	if cursor.values, err = valuesOf(query.Sort, cursor.Keys); err != nil {
		return nil, damagedLink(err)
	}
	return cursor, nil
}

// orderOf is the order of a search, as its cursors are signed with it.
func orderOf(query *fhir.SearchQuery) []byte {
	var b []byte
	for _, key := range query.Sort {
		b = append(appendPart(b, key.Param), byte(key.Kind))
		if key.Descending {
			b = append(b, '-')
		}
	}
	return b
}
