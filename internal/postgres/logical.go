package postgres

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/jackc/pglogrepl"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgproto3"

	"starling/internal/fhir"
)

const (
	publication = "starling_cache"
	// slotPatience is how long the making of a slot may take: it waits for the
	// writing transactions under way.
	slotPatience = 30 * time.Second
	// slotSilence is after how much silence of this instance the server drops its
	// slot, with the WAL that it holds back.
	slotSilence = 10 * time.Second
	// helloPrefix marks the messages of Logical.test.
	helloPrefix = "starling_test"
)

// Logical is the transport `logical` of a store: logical replication of the
// table of versions alone, from a temporary slot, which ends with its connection.
func (s *Store) Logical() Logical { return Logical{s, slotSilence} }

// Logical implements cache.Transport.
type Logical struct {
	store   *Store
	silence time.Duration
}

// Name implements cache.Transport.
func (Logical) Name() string { return "logical" }

// Listen implements cache.Transport.
func (l Logical) Listen(ctx context.Context, ready func() error, changed func(fhir.DomainVersions)) error {
	if err := l.publish(ctx); err != nil {
		return err
	}
	conn, err := l.store.listener(ctx, map[string]string{"replication": "database", "wal_sender_timeout": strconv.FormatInt(l.silence.Milliseconds(), 10)})
	if err != nil {
		return unheard(err, "no connection for replication (it needs a role with REPLICATION, a free place of max_wal_senders, and to go past any pooler, with --listen-database-url)")
	}
	defer closeListener(ctx, conn)
	stream, err := startStream(ctx, conn.PgConn())
	if err != nil {
		return err
	}
	if err := l.test(ctx, stream); err != nil {
		return err
	}
	if err := ready(); err != nil {
		return err
	}
	for {
		versions, _, err := stream.next(ctx)
		if err != nil {
			return err
		}
		if len(versions) > 0 {
			changed(versions)
		}
	}
}

// publish makes the publication if there is none.
func (l Logical) publish(ctx context.Context) error {
	level, published, err := l.published(ctx)
	switch {
	case err != nil:
		return err
	case level != "logical":
		return fmt.Errorf("%w: the setting wal_level of PostgreSQL is %s, and has to be logical", fhir.ErrUnheard, level)
	case published:
		return nil
	}
	_, err = l.store.reserve.Exec(ctx, createPublication)
	var pgErr *pgconn.PgError
	if errors.As(err, &pgErr) && (pgErr.Code == "42710" || pgErr.Code == "23505") {
		// Another instance was faster, or somebody has made one of that name.
		if _, published, err := l.published(ctx); published || err != nil {
			return err
		}
	}
	return unheard(err, "the publication cannot be made; have the owner of the database do it: "+createPublication)
}

// published reports whether the publication has the table of versions, and the level of the WAL.
func (l Logical) published(ctx context.Context) (level string, is bool, err error) {
	err = l.store.reserve.QueryRow(ctx, `SELECT current_setting('wal_level'), EXISTS (SELECT FROM pg_publication_tables
		JOIN pg_publication USING (pubname) WHERE pubname = $1 AND tablename = 'cache_version' AND pubupdate)`, publication).Scan(&level, &is)
	return level, is, err
}

const createPublication = `CREATE PUBLICATION ` + publication + ` FOR TABLE cache_version WITH (publish = 'update')`

// test makes sure that what the store commits comes out of the slot.
func (l Logical) test(ctx context.Context, stream *stream) error {
	heard, err := hello(ctx, func(text string) error {
		_, err := l.store.reserve.Exec(ctx, `SELECT pg_logical_emit_message(true, $1, $2::text)`, helloPrefix, text)
		return err
	}, func(ctx context.Context) (string, error) {
		_, text, err := stream.next(ctx)
		return text, err
	})
	if err == nil && !heard {
		err = fmt.Errorf("%w: what is committed is not heard within %s; --listen-database-url may lead to another database", fhir.ErrUnheard, helloTries*listenPatience)
	}
	return err
}

// stream reads what a slot sends.
type stream struct {
	conn    *pgconn.PgConn
	columns map[uint32][]string // of each table announced
	reached pglogrepl.LSN
	heard   time.Time // when anything last came
	asked   time.Time // when a sign of life was last asked for
}

// startStream makes a slot and starts it.
func startStream(ctx context.Context, conn *pgconn.PgConn) (*stream, error) {
	slot := "starling_" + strings.ToLower(rand.Text())
	making, cancel := context.WithTimeout(ctx, slotPatience)
	defer cancel()
	_, err := pglogrepl.CreateReplicationSlot(making, conn, slot, "pgoutput",
		pglogrepl.CreateReplicationSlotOptions{Temporary: true, SnapshotAction: "NOEXPORT_SNAPSHOT", Mode: pglogrepl.LogicalReplication})
	if err != nil {
		return nil, unheard(err, "no replication slot (max_replication_slots may have to be raised)")
	}
	err = pglogrepl.StartReplication(making, conn, slot, 0, pglogrepl.StartReplicationOptions{
		Mode: pglogrepl.LogicalReplication, PluginArgs: []string{"proto_version '1'", "publication_names '" + publication + "'", "messages 'true'"},
	})
	if err != nil {
		return nil, err
	}
	return &stream{conn: conn, columns: map[uint32][]string{}, heard: time.Now()}, nil
}

// errSilent says that a sign of life did not come.
var errSilent = errors.New("postgres: the replication connection has gone silent")

// next gives the versions or the text that comes next; none of both for
// anything else. It tells the server what has been received, so that it holds
// nothing back, and asks for a sign of life if it is silent.
func (s *stream) next(ctx context.Context) (fhir.DomainVersions, string, error) {
	for {
		if time.Since(s.asked) >= listenSilence {
			if err := s.confirm(); err != nil {
				return nil, "", err
			}
		}
		waiting, cancel := context.WithTimeout(ctx, listenSilence)
		message, err := s.conn.ReceiveMessage(waiting)
		cancel()
		switch {
		case err == nil:
			s.heard = time.Now()
			return s.take(message)
		case ctx.Err() != nil:
			return nil, "", ctx.Err()
		case !pgconn.Timeout(err):
			return nil, "", err
		case time.Since(s.heard) > listenSilence+listenPatience:
			return nil, "", errSilent
		}
	}
}

// confirm tells the server how far this is, and asks for an answer. All that has
// come is confirmed at once: a slot made anew starts at the present anyway.
func (s *stream) confirm() error {
	s.asked = time.Now()
	if err := s.conn.Conn().SetWriteDeadline(s.asked.Add(listenPatience)); err != nil {
		return err
	}
	return pglogrepl.SendStandbyStatusUpdate(context.Background(), s.conn, pglogrepl.StandbyStatusUpdate{WALWritePosition: s.reached, ReplyRequested: true})
}

func (s *stream) take(message pgproto3.BackendMessage) (fhir.DomainVersions, string, error) {
	switch m := message.(type) {
	case *pgproto3.ErrorResponse:
		return nil, "", pgconn.ErrorResponseToPgError(m)
	case *pgproto3.CopyDone:
		return nil, "", errSilent // the server is shutting down
	case *pgproto3.CopyData:
		return s.unpack(m.Data)
	}
	return nil, "", nil
}

func (s *stream) unpack(data []byte) (fhir.DomainVersions, string, error) {
	if len(data) == 0 {
		return nil, "", nil
	}
	switch data[0] {
	case pglogrepl.PrimaryKeepaliveMessageByteID:
		m, err := pglogrepl.ParsePrimaryKeepaliveMessage(data[1:])
		if err != nil {
			return nil, "", err
		}
		s.reached = max(s.reached, m.ServerWALEnd)
		if m.ReplyRequested {
			s.asked = time.Time{} // confirm at once
		}
	case pglogrepl.XLogDataByteID:
		m, err := pglogrepl.ParseXLogData(data[1:])
		if err != nil {
			return nil, "", err
		}
		s.reached = max(s.reached, m.WALStart)
		change, err := pglogrepl.Parse(m.WALData)
		if err != nil {
			return nil, "", err
		}
		versions, text := s.read(change)
		return versions, text, nil
	}
	return nil, "", nil
}

// read takes the version out of a change of cache_version, the text out of a
// message of test.
func (s *stream) read(change pglogrepl.Message) (fhir.DomainVersions, string) {
	switch m := change.(type) {
	case *pglogrepl.RelationMessage:
		names := make([]string, len(m.Columns))
		for i, column := range m.Columns {
			names[i] = column.Name
		}
		s.columns[m.RelationID] = names
	case *pglogrepl.LogicalDecodingMessage:
		if m.Prefix == helloPrefix {
			return nil, string(m.Content)
		}
	case *pglogrepl.UpdateMessage:
		row := map[string]string{}
		for i, name := range s.columns[m.RelationID] {
			if m.NewTuple != nil && i < len(m.NewTuple.Columns) {
				row[name] = string(m.NewTuple.Columns[i].Data)
			}
		}
		if version, err := strconv.ParseInt(row["version"], 10, 64); err == nil {
			return fhir.DomainVersions{fhir.Domain(row["domain"]): version}, ""
		}
	}
	return nil, ""
}
