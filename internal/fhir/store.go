package fhir

import (
	"context"
	"time"
)

// Store keeps resources. Every method is safe for concurrent use. A write that
// returned without an error is durable: it survives the loss of the process
// and of the database server.
type Store interface {
	Finder
	// Read gives the current version, which may be a deletion.
	// An id never used: KindNotFound.
	Read(ctx context.Context, key Key) (*Resource, error)
	// ReadVersion gives one version, which may be a deletion.
	ReadVersion(ctx context.Context, key Key, versionID int64) (*Resource, error)
	// Write carries out one write of its own.
	Write(ctx context.Context, write *Write) (WriteResult, error)
	// Transact runs fn in one database transaction that holds the locks of
	// conditions: no other transaction with an overlapping condition runs
	// between its searches and its commit, on any instance. fn may run more
	// than once, when the database asks for a retry; it must have no effects
	// outside tx. An error of fn rolls everything back and is returned.
	Transact(ctx context.Context, conditions []Condition, fn func(tx Tx) error) error
	// History gives versions, newest first.
	History(ctx context.Context, query *HistoryQuery) (*HistoryPage, error)
	// KeepQuery keeps the text of a search, for links that would be too long
	// with it, and gives its name there. It is kept for at least a day after
	// its last use.
	KeepQuery(ctx context.Context, query string) (name string, err error)
	// KeptQuery gives the text back. A name not known: KindGone.
	KeptQuery(ctx context.Context, name string) (query string, err error)
}

// Finder finds resources, several at once.
type Finder interface {
	// Search gives current resources, deletions apart.
	Search(ctx context.Context, query *SearchQuery) (*SearchPage, error)
	// ReadAll gives versions, in no order. What does not exist or is a
	// deletion is left out.
	ReadAll(ctx context.Context, keys []VersionKey) ([]*Resource, error)
	// Missing gives those of the keys, in no order, that do not exist or are
	// deletions.
	Missing(ctx context.Context, keys []VersionKey) ([]VersionKey, error)
	// Referring gives current resources that have one of the links, at most
	// limit of them, the oldest first, each once.
	Referring(ctx context.Context, links []Link, limit int) ([]*Resource, error)
}

// Tx is an open transaction of Store.Transact. It is for one goroutine.
type Tx interface {
	Finder
	Read(ctx context.Context, key Key) (*Resource, error)
	// Apply carries out writes together, in the store's canonical lock order
	// whatever their order here; results stand in the order of writes. No Key
	// may occur twice. A failed precondition fails the whole call with a
	// *WriteError.
	Apply(ctx context.Context, writes []*Write) ([]WriteResult, error)
	// Amend replaces content and index of versions this transaction itself
	// made, without making new ones: for conditional references that had to
	// wait until the transaction's own writes could be searched.
	Amend(ctx context.Context, writes []*Write) error
}

// WriteOp is what a Write does.
type WriteOp uint8

// The operations. Update creates the resource where none is, and brings a
// deleted one back.
const (
	OpCreate WriteOp = iota + 1 // under an id the server assigned, never used before
	OpUpdate
	OpDelete // of a missing or deleted resource: no version, NoChange in the result
)

// Write is one resource to be written.
type Write struct {
	Op     WriteOp
	Method Method // how the client asked for it; history shows it
	Key
	Content // empty for OpDelete
	Index   *Index
	// IfMatch, unless 0, is the version that must be current.
	IfMatch int64
	// IfNoneMatch demands that no current resource exist.
	IfNoneMatch bool
	// Basis, unless zero, must hold when the write is committed: else it fails
	// with ErrStale.
	Basis Basis
}

// WriteResult says what a write did.
type WriteResult struct {
	VersionID   int64
	LastUpdated time.Time
	// Created: there was no current resource before (201 rather than 200).
	Created bool
	// NoChange: a deletion of what was already deleted or never existed. For
	// the latter VersionID is 0.
	NoChange bool
}

// WriteError is the failure of one of several writes.
type WriteError struct {
	Index int // in the slice given to Apply
	Err   error
}

func (e *WriteError) Error() string { return e.Err.Error() }

// Unwrap gives the write's own error.
func (e *WriteError) Unwrap() error { return e.Err }

// Condition is the criteria of a conditional interaction, to be locked.
type Condition struct {
	Type     ResourceType
	Criteria Criterion
}

// HistoryQuery asks for a page of versions
// (https://hl7.org/fhir/R4/http.html#history).
type HistoryQuery struct {
	Type  ResourceType // empty: the whole system
	ID    string       // empty: the whole type
	Since time.Time    // inclusive; zero: from the beginning
	At    TimeRange    // versions current at some time in it; zero: any
	Count int          // versions a page, at least 1
	// Cursor is HistoryPage.Next of the page before; empty for the first.
	Cursor string
}

// TimeRange is the half-open interval [Low, High). The zero value is no range.
type TimeRange struct{ Low, High time.Time }

// HistoryPage is a page of versions.
type HistoryPage struct {
	Versions []*Resource
	// Horizon is the time up to which this history is complete: the Bundle's
	// meta.lastUpdated, which a poller may pass as its next _since.
	Horizon time.Time
	Next    string // cursor of the next page; empty on the last
	Total   int64  // of all pages; -1 if not counted
}
