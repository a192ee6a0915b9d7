package parameter

import (
	"fmt"
	"sync/atomic"

	"starling/internal/fhir"
	"starling/internal/fhir/search"
)

// Progress is what an instance knows of how far parameters are indexed: what it
// does not know of is not.
type Progress struct {
	// Lineage gives that of the parameters in use: states of another one tell nothing of
	// them. nil: they are never of another.
	Lineage func() string

	states   atomic.Pointer[map[string]fhir.ParameterState]
	revision atomic.Int64 // raised by each change
}

// of gives the state of a version of a parameter. That of the version before serves,
// too: it had the same values.
func (p *Progress) of(param string, version int64) fhir.ParameterState {
	if states := p.states.Load(); states != nil {
		if state := (*states)[param]; state.Version+1 >= version && (p.Lineage == nil || state.Lineage == p.Lineage()) {
			return state
		}
	}
	return fhir.ParameterState{}
}

func (p *Progress) learn(all []fhir.ParameterState) {
	next, changed := make(map[string]fhir.ParameterState, len(all)), false
	for _, state := range all {
		old := p.of(state.Param, 0)
		changed = changed || old.Lineage != state.Lineage || old.Done != state.Done || old.Total != state.Total || old.Complete != state.Complete
		next[state.Param] = state
	}
	p.states.Store(&next)
	if changed {
		p.revision.Add(1)
	}
}

// text says how far a parameter is indexed; empty if it is.
func (p *Progress) text(param string, version int64) string {
	state := p.of(param, version)
	switch {
	case state.Complete:
		return ""
	case state.Total == 0:
		return "existing resources are about to be indexed for it"
	}
	return fmt.Sprintf("existing resources are being indexed for it: %d of about %d are done", state.Done, state.Total)
}

// refusal is the error of a query with a parameter that is not indexed.
func (p *Progress) refusal(param string, version int64) error {
	if p.of(param, version).Complete {
		return nil
	}
	return fhir.NewError(fhir.KindPreparing, fhir.IssueIncomplete,
		"The search parameter '"+search.CodeOf(param)+"' cannot be searched by yet: "+p.text(param, version)+". Try again later.")
}
