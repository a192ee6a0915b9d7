package postgres

import (
	"cmp"
	"math"
	"slices"
	"strconv"
	"time"

	"starling/internal/fhir"
)

// item is a write on its way through a batch.
type item struct {
	write   *fhir.Write
	typ     int16
	self    int64
	entries entries
	ranges  []byte // encoded
	// wordTerms are those of entries.words. keepWords leaves the words of before.
	wordTerms wordTerms
	keepWords bool

	// The state found under the lock; rid is set for new resources, too.
	found   bool
	rid     int64
	version int32
	updated int64 // microseconds since 2000
	deleted bool
	before  entries

	changes bool // there is a version to write
	isNew   bool
	result  fhir.WriteResult
	err     error // the write's own failure
	again   bool  // another transaction made the resource: decide anew
}

// newItem prepares a write. Its error is the client's.
func (s *Store) newItem(w *fhir.Write) (*item, error) {
	typ, ok := s.types.number[w.Type]
	if !ok {
		return nil, fhir.NewError(fhir.KindNotFound, fhir.IssueNotSupported, "unknown resource type "+strconv.Quote(string(w.Type)))
	}
	if !validText(w.Meta) || !validText(w.Body) {
		return nil, fhir.NewError(fhir.KindInvalid, fhir.IssueValue, "the resource holds a NUL character or text that is not UTF-8")
	}
	it := &item{write: w, typ: typ, self: s.hash.self(w.Type, w.ID)}
	if w.Op != fhir.OpDelete {
		it.entries = s.hash.entriesOf(w.Type, w.Index)
		it.ranges = it.entries.ranges.encode()
	}
	it.wordTerms = s.hash.wordTerms(w.Type, it.entries.words)
	return it, nil
}

func (it *item) reset() {
	*it = item{write: it.write, typ: it.typ, self: it.self, entries: it.entries, ranges: it.ranges, wordTerms: it.wordTerms}
}

func (it *item) size() int { return len(it.write.Meta) + len(it.write.Body) + 8*len(it.entries.terms) }

// compareItems is the canonical order of locks: type, then id by bytes, which
// is the order of the database's collation "C".
func compareItems(a, b *item) int {
	return cmp.Or(cmp.Compare(a.typ, b.typ), cmp.Compare(a.write.ID, b.write.ID))
}

func sortItems(items []*item) { slices.SortFunc(items, compareItems) }

// decide settles what a write does to the state found. It needs no database,
// since the state is locked.
func (it *item) decide(now int64) {
	w := it.write
	current := it.found && !it.deleted
	switch {
	case w.IfMatch != 0 && !current:
		it.err = preconditionFailed("If-Match names version " + strconv.FormatInt(w.IfMatch, 10) + ", but there is no current " + w.Key.String())
		return
	case w.IfMatch != 0 && int64(it.version) != w.IfMatch:
		it.err = preconditionFailed("If-Match names version " + strconv.FormatInt(w.IfMatch, 10) + ", but the current one is " + strconv.Itoa(int(it.version)))
		return
	case w.IfNoneMatch && current:
		it.err = preconditionFailed(w.Key.String() + " exists already")
		return
	case w.Op == fhir.OpCreate && it.found:
		it.err = fhir.NewError(fhir.KindConflict, fhir.IssueDuplicate, "a resource with this id exists")
		return
	}
	if w.Op == fhir.OpDelete && !current {
		it.result = fhir.WriteResult{NoChange: true}
		if it.found {
			it.result.VersionID, it.result.LastUpdated = int64(it.version), timeOf(it.updated)
		}
		return
	}
	it.changes = true
	it.isNew = !it.found
	if it.isNew {
		it.version, it.updated = 0, math.MinInt64
	}
	it.result = fhir.WriteResult{
		VersionID:   int64(it.version) + 1,
		LastUpdated: timeOf(max(now, it.updated)),
		Created:     !current,
	}
}

func preconditionFailed(text string) error {
	return fhir.NewError(fhir.KindPreconditionFailed, fhir.IssueConflict, text)
}

// lastUpdated sets the time of a write that was decided before the
// transaction's clock was known.
func (it *item) lastUpdated(now int64) time.Time { return timeOf(max(now, it.updated)) }
