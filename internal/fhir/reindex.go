package fhir

import "context"

// ParameterState says how far a search parameter that was stored at run time is
// indexed.
type ParameterState struct {
	Param string // names its values in an Index
	Types []ResourceType
	// Version is that of the SearchParameter, whose versions may have the same
	// values, one after the other.
	Version int64
	// Lineage is that of the database when the state was read: a failover or a restore
	// may have lost it, and versions may be given out again.
	Lineage string
	// Done resources of about Total have been looked at.
	Done, Total int64
	Complete    bool
}

// ReindexStore indexes resources that are stored.
type ReindexStore interface {
	// ParameterStates lists the parameters that were ever asked for.
	ParameterStates(ctx context.Context) ([]ParameterState, error)
	// KeepParameters makes the states be those of the parameters given: others
	// are forgotten, new ones have nothing done, nor have those of which a version
	// was left out, since it may have had other values. A lower version changes
	// nothing.
	KeepParameters(ctx context.Context, params []ParameterState) error
	// IndexParameters adds the values of these parameters, which index gives, to all
	// resources that may have been written by an instance that did not know them,
	// and goes on where it was left. false: another instance is at it. It fails with
	// ErrStale when the states are changed meanwhile.
	IndexParameters(ctx context.Context, params []string, index func(*Resource) (*Index, error)) (bool, error)
	// Reindex replaces the index of all current resources of types; progress hears
	// how many are done, and of about how many. It goes on where one of the same
	// types was ended, and fails with ErrStale once basis does not
	// hold.
	Reindex(ctx context.Context, types []ResourceType, basis Basis, index func(*Resource) (*Index, error), progress func(done, total int64)) error
}
