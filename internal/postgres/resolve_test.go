package postgres

import (
	"context"
	"testing"

	"starling/internal/fhir"
	"starling/internal/postgres/postgrestest"
)

// TestOutcomeIsTheTransactionsOwn: after a crash of the database the number of
// a transaction that was lost goes to another one, whose commit must not be
// taken for the lost one's.
func TestOutcomeIsTheTransactionsOwn(t *testing.T) {
	s := open(t, postgrestest.New(t))
	ctx := context.Background()
	if _, err := s.Write(ctx, patient("other", "")); err != nil {
		t.Fatal(err)
	}
	var reused uint64
	var rid int64
	if err := s.reserve.QueryRow(ctx, `SELECT writer::text::bigint, rid FROM version`).Scan(&reused, &rid); err != nil {
		t.Fatal(err)
	}
	lost, err := s.newItem(patient("lost", ""))
	if err != nil {
		t.Fatal(err)
	}
	lost.changes, lost.isNew, lost.rid = true, true, rid+1
	other, err := s.newItem(patient("other", ""))
	if err != nil {
		t.Fatal(err)
	}
	other.changes, other.isNew, other.rid = true, true, rid
	unchanged, err := s.newItem(as(patient("other", ""), fhir.OpDelete, func(*fhir.Write) {}))
	if err != nil {
		t.Fatal(err)
	}
	const noBackend = 1 << 30
	for _, c := range []struct {
		name               string
		item               *item
		xid                uint64
		pid                uint32
		settled, committed bool
	}{
		{"lost, its number used again", lost, reused, noBackend, true, false},
		{"lost, its number not known", lost, 0, noBackend, true, false},
		{"committed", other, reused, noBackend, true, true},
		{"committed, its number not known", other, 0, noBackend, true, true},
		{"another wrote the version", other, reused + 1, noBackend, true, false},
		{"nothing to lose", unchanged, reused, noBackend, true, true},
		{"lost or under way, the backend not known", lost, 0, 0, false, false},
		{"committed, the backend not known", other, reused, 0, true, true},
	} {
		settled, committed, err := s.outcome(ctx, []*item{c.item}, &commitState{sent: true, xid: c.xid, pid: c.pid})
		if err != nil || settled != c.settled || committed != c.committed {
			t.Errorf("%s: settled %v, committed %v, %v", c.name, settled, committed, err)
		}
	}
}
