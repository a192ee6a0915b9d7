package postgres

import (
	"encoding/binary"
	"errors"
	"math"
	"strconv"
	"strings"

	"github.com/jackc/pgx/v5/pgconn"

	"starling/internal/fhir"
)

// The fence keeps what was checked, indexed or matched by a system resource
// from being committed after that was replaced. Ordinary writes hold it shared;
// it is taken in a statement before the one that reads the versions, or a
// version committed in between would be missed. Writers of system resources
// hold it exclusively, taken last and for the commit alone. A transaction that
// holds it shared never asks for more: two such would deadlock. So whoever
// writes system resources takes another lock first, their mutex, and whoever
// writes both takes the fence exclusively from the beginning.
const (
	lockClassFence = 4 // see condition.go
	lockChanges    = 1 // the mutex of writers of system resources
	lockFence      = 2
)

// fencing is how a transaction meets the fence.
type fencing uint8

const (
	unfenced fencing = iota
	fencedWrites
	fencedChanges // of system resources
	fencedBoth
)

func (s *Store) fencingOf(items []*item) fencing {
	changes, others, fenced := false, false, false
	for _, it := range items {
		if s.types.system[it.typ] {
			changes = true
		} else {
			others = true
		}
		fenced = fenced || it.write.Basis != fhir.Basis{}
	}
	switch {
	case changes && others:
		return fencedBoth
	case changes:
		return fencedChanges
	case fenced:
		return fencedWrites
	}
	return unfenced
}

// enterFence queues the statement that reads the clock, with the locks, and for
// ordinary writes the one that fails if an item's basis has been replaced.
func enterFence(p *pipeline, f fencing, items []*item, clock func([][]byte)) {
	p.send([...]string{stmtNow, stmtNowFenced, stmtNowChanging, stmtNowBoth}[f], clock)
	if f == fencedWrites || f == fencedBoth {
		checkBasis(p, items)
	}
}

// leaveFence queues what comes last before COMMIT.
func leaveFence(p *pipeline, f fencing, items []*item) {
	if f == fencedChanges {
		p.send(stmtFenceChanges, nil)
		checkBasis(p, items)
	}
}

// checkBasis queues the statement that fails if the basis of any item has been
// replaced: every version has to be both the least and the greatest that items
// rest on.
func checkBasis(p *pipeline, items []*item) {
	var params [7][]byte
	low, high := [3]int64{math.MaxInt64, math.MaxInt64, math.MaxInt64}, [3]int64{}
	lineage := ""
	for _, it := range items {
		basis := &it.write.Basis
		if basis.Lineage > lineage {
			lineage = basis.Lineage
		}
		for i, version := range basis.Versions {
			if version != 0 {
				low[i], high[i] = min(low[i], version), max(high[i], version)
			}
		}
	}
	if lineage == "" {
		return
	}
	for i := range low {
		params[2*i], params[2*i+1] = int8Of(high[i]), int8Of(low[i])
	}
	params[6] = []byte(lineage)
	p.send(stmtCheckBasis, nil, params[:]...)
}

func int8Of(n int64) []byte { return binary.BigEndian.AppendUint64(nil, uint64(n)) }

// staleBasis is the SQLSTATE of refuse_stale.
const staleBasis = "ST002"

// replaced is what refuse_stale says: the version of a domain.
type replaced struct {
	domain  fhir.Domain
	version int64
	lineage string
}

// replacedBy reads an error of refuse_stale.
func replacedBy(err error) (r replaced, ok bool) {
	var pgErr *pgconn.PgError
	if !errors.As(err, &pgErr) || pgErr.Code != staleBasis {
		return r, false
	}
	fields := strings.Fields(pgErr.Detail)
	if len(fields) == 3 {
		r.domain, r.lineage = fhir.Domain(fields[0]), fields[2]
		r.version, _ = strconv.ParseInt(fields[1], 10, 64)
	}
	return r, true
}

// refuse fails the items whose basis has been replaced and gives the others,
// which may be tried again.
func (s *Store) refuse(items []*item, by replaced) []*item {
	var others []*item
	number := max(by.domain.Number(), 0)
	for _, it := range items {
		basis := &it.write.Basis
		used := basis.Versions[number]
		if basis.Lineage == "" || basis.Lineage == by.lineage && (used == 0 || used == by.version) {
			others = append(others, it)
			continue
		}
		it.result, it.err = fhir.WriteResult{}, stale()
	}
	if len(others) == len(items) { // what it said was not understood
		for _, it := range items {
			it.result, it.err = fhir.WriteResult{}, stale()
		}
		others = nil
	}
	s.metrics.retries.WithLabelValues("fence").Add(float64(len(items) - len(others)))
	return others
}

// stale is what a client sees if its write was overtaken again and again.
func stale() *fhir.Error {
	return fhir.NewError(fhir.KindUnavailable, fhir.IssueTransient,
		"the profiles, search parameters or subscriptions it was checked by keep being changed; try again").Because(fhir.ErrStale)
}
