package postgres

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"regexp"
	"strconv"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"starling/internal/fhir"
)

// historyCursor is the position after a page of history: the version last
// shown, and the snapshot of the first page, so that what is committed during
// the walk neither appears nor is missed.
type historyCursor struct {
	Snapshot string `json:"s"`
	Horizon  int64  `json:"h"` // microseconds since 2000
	Total    int64  `json:"t"`
	Updated  int64  `json:"u"`
	RID      int64  `json:"r"`
	Version  int32  `json:"v"`
}

// walkOf is whose history a walk is of, and of which time, as its cursors are signed with it: the total
// in them is of that alone. The first byte keeps it apart from orders of searches.
func walkOf(query *fhir.HistoryQuery) []byte {
	b := appendPart(appendPart([]byte{0xff}, string(query.Type)), query.ID)
	for _, bound := range []time.Time{query.Since, query.At.Low, query.At.High} {
		b = binary.BigEndian.AppendUint64(b, uint64(microsOf(bound)))
	}
	return b
}

var snapshotText = regexp.MustCompile(`^([0-9]{1,20}):([0-9]{1,20}):[0-9,]*$`)

// isSnapshot reports whether a text has the form of a snapshot, whose first number
// is not above the second.
func isSnapshot(text string) bool {
	parts := snapshotText.FindStringSubmatch(text)
	if parts == nil {
		return false
	}
	least, err := strconv.ParseUint(parts[1], 10, 64)
	most, errMost := strconv.ParseUint(parts[2], 10, 64)
	return err == nil && errMost == nil && least <= most
}

// horizonSQL gives the time before which no version will appear any more: the
// clock, or the start of the oldest transaction under way, whose writes carry
// its start as lastUpdated.
const horizonSQL = `SELECT date_trunc('milliseconds', least(clock_timestamp(),
  (SELECT min(xact_start) FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid() AND xact_start IS NOT NULL)))`

// History implements fhir.Store
// (https://hl7.org/fhir/R4/http.html#history).
func (s *Store) History(ctx context.Context, query *fhir.HistoryQuery) (*fhir.HistoryPage, error) {
	page, err := s.history(ctx, query)
	var pgErr *pgconn.PgError
	if query.Cursor != "" && errors.As(err, &pgErr) && pgErr.Code == "22P02" {
		err = damagedLink(err) // its snapshot is none
	}
	return page, report(ctx, err)
}

func (s *Store) history(ctx context.Context, query *fhir.HistoryQuery) (*fhir.HistoryPage, error) {
	var page *fhir.HistoryPage
	err := s.withConn(ctx, func(conn *pgx.Conn) (err error) {
		h := historyWalk{store: s, conn: conn, query: query}
		if err := h.prepare(ctx); err != nil {
			return err
		}
		page, err = h.page(ctx)
		return err
	})
	return page, err
}

type historyWalk struct {
	store  *Store
	conn   *pgx.Conn
	query  *fhir.HistoryQuery
	sql    sqlBuilder
	cursor historyCursor
	rid    int64 // of the instance, 0 for others
}

// prepare finds the instance and where the page starts. The horizon is read in
// a statement before the snapshot is taken.
func (h *historyWalk) prepare(ctx context.Context) error {
	typ, known := h.store.types.number[h.query.Type]
	if h.query.Type != "" && !known {
		return fhir.NewError(fhir.KindNotFound, fhir.IssueNotSupported, "unknown resource type")
	}
	if h.query.ID != "" {
		err := h.conn.QueryRow(ctx, `SELECT rid FROM resource WHERE type = $1 AND id = $2`, typ, h.query.ID).Scan(&h.rid)
		if err == pgx.ErrNoRows {
			return notFound(fhir.Key{Type: h.query.Type, ID: h.query.ID})
		}
		if err != nil {
			return err
		}
	}
	if h.query.Cursor != "" {
		if err := h.store.hash.decodeCursor(walkOf(h.query), h.query.Cursor, &h.cursor); err != nil {
			return err
		}
		if !isSnapshot(h.cursor.Snapshot) {
			return damagedLink(nil)
		}
		return nil
	}
	return h.start(ctx)
}

func (h *historyWalk) start(ctx context.Context) error {
	var horizon time.Time
	if err := h.conn.QueryRow(ctx, horizonSQL).Scan(&horizon); err != nil {
		return err
	}
	h.cursor = historyCursor{Horizon: microsOf(horizon), Total: -1}
	if err := h.conn.QueryRow(ctx, `SELECT pg_current_snapshot()::text`).Scan(&h.cursor.Snapshot); err != nil {
		return err
	}
	if h.rid == 0 {
		return nil
	}
	var b sqlBuilder
	b.write(`SELECT count(*) FROM version v WHERE `)
	h.conditions(&b)
	return h.conn.QueryRow(ctx, b.String(), b.args...).Scan(&h.cursor.Total)
}

// conditions writes what holds for all pages.
func (h *historyWalk) conditions(b *sqlBuilder) {
	// A subquery, so that the text is read once and not for each version.
	b.write(`pg_visible_in_snapshot(v.writer, (SELECT `, b.arg(h.cursor.Snapshot), `::text::pg_snapshot))`)
	if h.rid != 0 {
		b.write(` AND v.rid = `, b.arg(h.rid))
	}
	if !h.query.Since.IsZero() {
		b.write(` AND v.updated >= `, b.arg(h.query.Since))
	}
	if at := h.query.At; !at.High.IsZero() || !at.Low.IsZero() {
		if !at.High.IsZero() {
			b.write(` AND v.updated < `, b.arg(at.High))
		}
		b.write(` AND NOT EXISTS (SELECT FROM version n WHERE n.rid = v.rid AND n.version = v.version + 1 AND n.updated <= `, b.arg(at.Low), `)`)
	}
}

// page reads a page and one version more, which tells whether there is a next.
func (h *historyWalk) page(ctx context.Context) (*fhir.HistoryPage, error) {
	b := &h.sql
	limit := b.arg(int64(h.query.Count) + 1)
	b.write(`SELECT w.rid, w.type, w.version, w.updated, w.method, w.meta, w.body, r.id FROM (`)
	if h.query.Type != "" {
		h.walk(b, b.arg(h.store.types.number[h.query.Type]), limit)
	} else {
		// One short walk a type, merged: the index begins with the type.
		b.write(`SELECT m.* FROM resource_type t CROSS JOIN LATERAL (`)
		h.walk(b, `t.id`, limit)
		b.write(`) m ORDER BY m.updated DESC, m.rid DESC, m.version DESC LIMIT `, limit)
	}
	b.write(`) w JOIN resource r ON r.rid = w.rid ORDER BY w.updated DESC, w.rid DESC, w.version DESC`)
	rows, err := h.conn.Query(ctx, b.String(), b.args...)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	page := &fhir.HistoryPage{Horizon: timeOf(h.cursor.Horizon), Total: h.cursor.Total}
	for rows.Next() {
		if len(page.Versions) == h.query.Count {
			page.Next = h.store.hash.encodeCursor(walkOf(h.query), h.cursor)
			break
		}
		v := rows.RawValues()
		key := fhir.Key{Type: h.store.types.name[getInt2(v[1])], ID: string(v[7])}
		page.Versions = append(page.Versions, resourceOf(key, v[2:7]))
		h.cursor.RID, h.cursor.Version, h.cursor.Updated = getInt8(v[0]), getInt4(v[2]), getInt8(v[3])
	}
	rows.Close()
	return page, rows.Err()
}

// walk writes the walk of one type's versions, newest first.
func (h *historyWalk) walk(b *sqlBuilder, typ, limit string) {
	b.write(`SELECT v.* FROM version v WHERE v.type = `, typ, ` AND `)
	h.conditions(b)
	if h.cursor.Version != 0 {
		b.write(fmt.Sprintf(` AND (v.updated, v.rid, v.version) < (%s, %s, %s)`,
			b.arg(timeOf(h.cursor.Updated)), b.arg(h.cursor.RID), b.arg(h.cursor.Version)))
	}
	b.write(` ORDER BY v.updated DESC, v.rid DESC, v.version DESC LIMIT `, limit)
}
