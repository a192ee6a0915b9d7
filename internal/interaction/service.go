package interaction

import (
	"context"
	"sync/atomic"
	"time"

	"starling/internal/fhir"
	"starling/internal/fhir/definition"
	"starling/internal/fhir/element"
	"starling/internal/fhir/search"
	"starling/internal/terminology"
)

// Validator checks a resource before it is stored.
type Validator interface {
	// Validate gives what is wrong with a resource of type t, none if it is
	// acceptable. Issues of severity error or fatal refuse it.
	Validate(t fhir.ResourceType, root element.Node) []fhir.Issue
}

// ProfileValidator is a Validator that also knows profiles.
type ProfileValidator interface {
	Validator
	// ValidateProfile is Validate against the profiles named as well, each a
	// canonical. mode is one of http://hl7.org/fhir/resource-validation-mode,
	// or "". A profile it does not have is an issue.
	ValidateProfile(t fhir.ResourceType, root element.Node, profiles []string, mode string) []fhir.Issue
}

// Indexer extracts the values a resource is searched by.
type Indexer interface {
	// Index reads the resource whose references to base are local.
	Index(t fhir.ResourceType, root element.Node, base string) (*fhir.Index, error)
}

// Planner turns the text of a search into a query.
type Planner interface {
	// Plan parses rawQuery for the given types. What it ignored (lenient
	// handling) it names in unknown; strict refuses it.
	Plan(types []fhir.ResourceType, rawQuery string, strict bool, base string) (query *fhir.SearchQuery, unknown []string, err error)
	// PlanConditional parses the criteria of a conditional interaction, where
	// anything not understood, and no criteria at all, is an error.
	PlanConditional(t fhir.ResourceType, rawQuery string, base string) (fhir.Criterion, error)
	// Includes lists the links that resources of a type have to others, as
	// _include names them; RevIncludes those that others have to them.
	Includes(t fhir.ResourceType) []string
	RevIncludes(t fhir.ResourceType) []fhir.Include
	// Canonicals gives the types whose resources a reference parameter of a type
	// names by their canonicals; none if it does not.
	Canonicals(source fhir.ResourceType, param string) []fhir.ResourceType
	// Unserved lists the search parameters of a type that are defined and
	// refused, sorted by code, and with t empty those that are no type's.
	Unserved(t fhir.ResourceType) []search.Unserved
}

// Service carries out interactions against a store.
type Service struct {
	Store       fhir.Store
	Definitions *definition.Registry
	Validator   Validator
	// Checker is what $validate checks with, whatever the level of validation
	// that writes go through.
	Checker Validator
	// Profiles are those that the CapabilityStatement names for types, which the
	// Validator holds their resources to; the types' own for others.
	Profiles map[fhir.ResourceType]string
	// Supported gives the profiles of a type that the CapabilityStatement names as
	// supported, sorted: those that resources may name in meta.profile. Nil: none.
	Supported func(t fhir.ResourceType) []string
	// MissingTargets is the severity of a reference to a resource that this server
	// does not have; empty: where references lead is not looked at.
	MissingTargets fhir.Severity
	// Caches are what Validator, Indexer, Planner and Terminology rest on; nil:
	// nothing that changes.
	Caches Caches
	// Terminology gives the current snapshot of what is known of codes.
	Terminology func() *terminology.Terminology
	Indexer     Indexer
	Planner     Planner
	Limits      element.Limits
	// Served lists the search parameters that searches of a type answer, for
	// the CapabilityStatement.
	Served func(t fhir.ResourceType) []*definition.SearchParameter
	// Note says of a parameter what is to be known of searches by it, for the
	// CapabilityStatement; empty: nothing. Nil: of none.
	Note func(p *definition.SearchParameter) string
	// Revision changes with what the functions above say of search parameters and
	// profiles; nil: never.
	Revision func() string
	// Cluster is asked by $cache-status; nil: there is no such operation.
	Cluster Cluster
	// Operators says that a Request may come from an operator, so the
	// CapabilityStatement names what is theirs.
	Operators bool
	// Software is what the CapabilityStatement says of the program.
	Software Software

	statement  atomic.Pointer[statement]
	operations operations
}

// Software names a release of the server.
type Software struct {
	Version string
	Date    time.Time // when it was released
}

func (s *Service) serve(ctx context.Context, request *Request) (*Response, error) {
	switch request.Interaction {
	case Read:
		return s.read(ctx, request)
	case VRead:
		return s.vread(ctx, request)
	case Create:
		return s.create(ctx, request)
	case Update:
		return s.update(ctx, request)
	case Patch:
		return s.patch(ctx, request)
	case ConditionalPatch:
		return s.conditionalPatch(ctx, request)
	case Delete:
		return s.delete(ctx, request)
	case ConditionalUpdate:
		return s.conditionalUpdate(ctx, request)
	case ConditionalDelete:
		return s.conditionalDelete(ctx, request)
	case HistoryInstance, HistoryType, HistorySystem:
		return s.history(ctx, request)
	case SearchType, SearchSystem, SearchCompartment:
		return s.search(ctx, request)
	case Capabilities:
		return s.capabilities(request)
	case Batch:
		return s.process(ctx, request)
	case Operation:
		return s.operate(ctx, request)
	}
	return nil, fhir.NewError(fhir.KindNotFound, fhir.IssueNotSupported, string(request.Interaction)+" is not served here.")
}
