package terminology

import (
	"context"
	"errors"

	"starling/internal/fhir"
)

// Remote is a terminology server that knows code systems which are not held
// here.
type Remote interface {
	// Contains asks whether a code is in the value set whose composition is
	// the include given, in JSON, and what it is called. An error, or Unknown,
	// is that it could not be told; it has no other consequence.
	Contains(ctx context.Context, include []byte, system, code string) (Answer, string, error)
	// Ask carries out an operation of a resource type, "$lookup" of
	// "CodeSystem", on Parameters in JSON, and gives the resource that
	// answers. Its error is an *fhir.Error.
	Ask(ctx context.Context, resourceType fhir.ResourceType, operation string, parameters []byte) ([]byte, error)
}

// ErrNotHeld is the cause of failures that another terminology server may be
// able to help out of: a code system, value set or concept map is not held.
var ErrNotHeld = errors.New("not held")

func notHeld(what, canonical string) *fhir.Error {
	return fhir.NewError(fhir.KindNotFound, fhir.IssueNotFound, "The "+what+" "+shorten(canonical)+" is not known here.").Because(ErrNotHeld)
}

// Ask carries out an operation on the remote server, of which there must be
// one.
func (t *Terminology) Ask(ctx context.Context, resourceType fhir.ResourceType, operation string, parameters []byte) ([]byte, error) {
	return t.remote.Ask(ctx, resourceType, operation, parameters)
}

// HasRemote reports whether there is a remote server.
func (t *Terminology) HasRemote() bool { return t.remote != nil }
