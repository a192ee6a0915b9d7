package postgres

import (
	"encoding/base64"
	"encoding/binary"
	"encoding/json"
	"errors"

	"github.com/dchest/siphash"

	"starling/internal/fhir"
)

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

// signatureSize is the length of a cursor's signature.
const signatureSize = 8

var errSignature = errors.New("postgres: a cursor's signature is wrong")

// encodeSearchCursor signs the cursor together with the order it belongs to,
// with the database's own key: any instance can check it.
func (s *Store) encodeSearchCursor(query *fhir.SearchQuery, cursor *searchCursor) string {
	if cursor.total.matches >= 0 {
		cursor.Total, cursor.Estimated = &cursor.total.matches, cursor.total.estimated
	}
	b, err := json.Marshal(cursor)
	if err != nil {
		panic(err) // a cursor is a struct of numbers and text
	}
	b = binary.BigEndian.AppendUint64(b, s.hash.signature(query, b))
	return base64.RawURLEncoding.EncodeToString(b)
}

func (s *Store) decodeSearchCursor(query *fhir.SearchQuery) (*searchCursor, error) {
	b, err := base64.RawURLEncoding.DecodeString(query.Cursor)
	if err != nil {
		return nil, damagedLink(err)
	}
	if len(b) < signatureSize {
		return nil, damagedLink(errSignature)
	}
	b, signature := b[:len(b)-signatureSize], b[len(b)-signatureSize:]
	if binary.BigEndian.Uint64(signature) != s.hash.signature(query, b) {
		return nil, damagedLink(errSignature)
	}
	cursor := &searchCursor{total: total{matches: -1}}
	if err := json.Unmarshal(b, cursor); err != nil {
		return nil, damagedLink(err)
	}
	if cursor.Total != nil {
		cursor.total = total{*cursor.Total, cursor.Estimated}
	}
	if cursor.values, err = valuesOf(query.Sort, cursor.Keys); err != nil {
		return nil, damagedLink(err)
	}
	return cursor, nil
}

// signature is a keyed hash of a cursor and its order. What it begins with
// keeps it apart from the hashes of terms, which begin with a short length.
func (h hasher) signature(query *fhir.SearchQuery, cursor []byte) uint64 {
	b := append([]byte{0xff, 0xff}, "cursor"...)
	for _, key := range query.Sort {
		b = append(appendPart(b, key.Param), byte(key.Kind))
		if key.Descending {
			b = append(b, '-')
		}
	}
	return siphash.Hash(h.k0, h.k1, append(append(b, 0), cursor...))
}
