package postgres

import (
	"context"
	"errors"
	"slices"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"starling/internal/fhir"
)

// The bounds of a search, unless Config says otherwise.
const (
	defaultSearchTimeout = 10 * time.Second
	// countShare is the part of its time a search may spend on its total.
	countShare = 3
)

// Search implements fhir.Store. A search that takes longer than its limit is
// cancelled in the database: pgx sends a cancel request when the context ends.
func (s *Store) Search(ctx context.Context, query *fhir.SearchQuery) (*fhir.SearchPage, error) {
	var page *fhir.SearchPage
	err := s.limited(ctx, func(ctx context.Context) error {
		var known *fhir.SearchQuery
		var sizes sizes
		err := s.withConn(ctx, func(conn *pgx.Conn) (err error) {
			// query stays as it is: this may run again.
			if known, err = s.awareOfContained(ctx, conn, query); err != nil {
				return err
			}
			sizes, err = s.sizesOf(ctx, conn, known)
			return err
		})
		if err != nil {
			return err
		}
		total, err := s.total(ctx, known, sizes)
		if err != nil {
			return err
		}
		return s.withConn(ctx, func(conn *pgx.Conn) (err error) {
			page, err = s.search(ctx, conn, known, sizes, total)
			return err
		})
	})
	return page, err
}

// limited runs a search, perhaps twice, within the bounds on searches: their
// number and their time.
func (s *Store) limited(outer context.Context, run func(ctx context.Context) error) error {
	ctx, cancel := context.WithTimeout(outer, s.searchTimeout)
	defer cancel()
	err := s.lanes.run(ctx, run)
	switch {
	case err == nil || outer.Err() != nil || errors.Is(err, errNoPlace):
		return report(outer, err)
	case ctx.Err() != nil || isCancelled(err):
		return tooLong(err)
	case isTooComplex(err):
		return tooCostly("The search asks for more at once than the database can work on; make it shorter.").Because(err)
	}
	return report(outer, err)
}

// isTooComplex reports whether a statement went over a limit of the database itself.
func isTooComplex(err error) bool {
	var failure *pgconn.PgError
	return errors.As(err, &failure) && strings.HasPrefix(failure.Code, "54")
}

// isCancelled reports whether the database ended a statement by its own limit.
func isCancelled(err error) bool {
	var failure *pgconn.PgError
	return errors.As(err, &failure) && failure.Code == "57014"
}

func tooLong(cause error) *fhir.Error {
	return fhir.NewError(fhir.KindTimeout, fhir.IssueTooCostly,
		"The search took longer than the server allows and was cancelled; narrow it.").Because(cause)
}

func tooCostly(diagnostics string) *fhir.Error {
	return fhir.NewError(fhir.KindInvalid, fhir.IssueTooCostly, diagnostics)
}

func (s *Store) withConn(ctx context.Context, use func(conn *pgx.Conn) error) error {
	conn, err := s.requests.Acquire(ctx)
	if err != nil {
		return err
	}
	defer conn.Release()
	done, err := transacting(ctx, conn.Conn().PgConn())
	if err != nil {
		return err
	}
	return done(use(conn.Conn()))
}

// searching is the work on one page of a search.
type searching struct {
	store  *Store
	conn   *pgx.Conn
	query  *fhir.SearchQuery
	sizes  sizes
	cursor *searchCursor // nil for the first page
	// found has the rids of the matches in the segments walked already.
	found map[int64]bool
}

// search finds a page on a connection. The total is counted already.
func (s *Store) search(ctx context.Context, conn *pgx.Conn, query *fhir.SearchQuery, sizes sizes, total total) (*fhir.SearchPage, error) {
	q := searching{store: s, conn: conn, query: query, sizes: sizes}
	if query.Cursor != "" {
		cursor, err := s.decodeSearchCursor(query)
		if err != nil {
			return nil, err
		}
		q.cursor = cursor
	}
	page := &fhir.SearchPage{Total: total.matches, Estimated: total.estimated}
	if query.Count <= 0 {
		return page, nil
	}
	var hits []hit
	var err error
	if len(query.Sort) == 0 {
		hits, err = q.unsorted(ctx)
	} else {
		hits, err = q.sorted(ctx)
	}
	if err != nil {
		return nil, err
	}
	return page, q.finish(ctx, page, hits, total)
}

// backward says that the page before a position is wanted: everything is then
// walked in the other direction.
func (q *searching) backward() bool { return q.cursor != nil && q.cursor.Before }

// wanted is how many matches are looked for: one more than the page has tells
// whether there are others behind it.
func (q *searching) wanted() int { return q.query.Count + 1 }

// finish makes the page of the matches found, which stand in the direction of
// the walk.
func (q *searching) finish(ctx context.Context, page *fhir.SearchPage, hits []hit, t total) error {
	more := len(hits) > q.query.Count
	hits = hits[:min(len(hits), q.query.Count)]
	if q.backward() {
		slices.Reverse(hits)
	}
	at := func(h *hit, before bool) string {
		return q.store.encodeSearchCursor(q.query, &searchCursor{RID: h.rid, Keys: textsOf(q.query.Sort, h.keys), Before: before, total: t})
	}
	// A page without matches still leads back to where it was reached from.
	first, last := q.edges(hits)
	if last != nil && (more || q.backward()) {
		page.Next = at(last, false)
	}
	if first != nil && (q.cursor != nil && !q.cursor.Before || q.backward() && more) {
		page.Previous = at(first, true)
	}
	return q.bodies(ctx, page, hits)
}

// edges gives the positions at the two ends of a page.
func (q *searching) edges(hits []hit) (first, last *hit) {
	switch {
	case len(hits) > 0:
		return &hits[0], &hits[len(hits)-1]
	case q.cursor == nil:
		return nil, nil
	}
	// The match at the cursor itself belongs to the page one came from.
	return &hit{rid: q.cursor.RID + 1, keys: q.cursor.values}, &hit{rid: q.cursor.RID - 1, keys: q.cursor.values}
}

// bodies reads the page's resources; hits without a body get theirs, in one
// statement. Versions are never changed, so it matters not that this is
// another snapshot.
func (q *searching) bodies(ctx context.Context, page *fhir.SearchPage, hits []hit) error {
	if err := q.load(ctx, hits); err != nil {
		return err
	}
	page.Matches = make([]*fhir.Resource, 0, len(hits))
	for i := range hits {
		if hits[i].resource == nil {
			return errors.New("postgres: a version of a match is missing")
		}
		page.Matches = append(page.Matches, hits[i].resource)
	}
	if q.query.AsContained {
		return q.within(ctx, page, hits)
	}
	return nil
}

// load reads the resources of those hits that have none yet.
func (q *searching) load(ctx context.Context, hits []hit) error {
	var rids []int64
	var numbers []int32
	of := map[int64]*hit{}
	for i := range hits {
		if h := &hits[i]; h.resource == nil {
			rids, of[h.rid] = append(rids, h.rid), h
			if !slices.Contains(numbers, h.version) {
				numbers = append(numbers, h.version)
			}
		}
	}
	if len(of) == 0 {
		return nil
	}
	rows, err := q.conn.Query(ctx, versionsOf(`v.rid`, `$1::bigint[]`, `$2::integer[]`), rids, numbers)
	if err != nil {
		return err
	}
	defer rows.Close()
	for rows.Next() {
		v := rows.RawValues()
		if h := of[getInt8(v[0])]; h.version == getInt4(v[1]) {
			h.resource = resourceOf(fhir.Key{Type: q.store.types.name[h.typ], ID: h.id}, v[1:6])
		}
	}
	return rows.Err()
}

// tests writes the condition on rows r of resource that are found already.
func (s *Store) tests(b *sqlBuilder, t fhir.ResourceType, criteria fhir.Criterion) error {
	typ, compiled, err := s.compile(b, t, criteria)
	if err != nil {
		return err
	}
	b.write(`r.type = `, b.arg(typ), ` AND NOT r.deleted AND `, compiled.test())
	return nil
}

func (s *Store) compile(b *sqlBuilder, t fhir.ResourceType, criteria fhir.Criterion) (typ int16, c compiled, err error) {
	typ, ok := s.types.number[t]
	if !ok && t != fhir.AnyType {
		return 0, compiled{}, fhir.NewError(fhir.KindNotFound, fhir.IssueNotSupported, "unknown resource type")
	}
	if criteria == nil {
		return typ, constant(true), nil
	}
	c, err = (&criterionCompiler{sql: b, hash: s.hash, typ: t, typeID: typ, types: s.types.number, followed: new(int)}).compile(criteria)
	return typ, c, err
}
