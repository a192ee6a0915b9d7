package interaction

import (
	"net/url"
	"time"

	"starling/internal/fhir"
	"starling/internal/fhir/element"
)

// Name is an interaction's code in
// http://hl7.org/fhir/restful-interaction, with the conditional ones apart
// and "operation" for $operations.
type Name string

// The interactions.
const (
	Read              Name = "read"
	VRead             Name = "vread"
	Create            Name = "create"
	Update            Name = "update"
	Patch             Name = "patch"
	Delete            Name = "delete"
	ConditionalUpdate Name = "conditional-update"
	ConditionalPatch  Name = "conditional-patch"
	ConditionalDelete Name = "conditional-delete"
	HistoryInstance   Name = "history-instance"
	HistoryType       Name = "history-type"
	HistorySystem     Name = "history-system"
	SearchType        Name = "search-type"
	SearchSystem      Name = "search-system"
	SearchCompartment Name = "search-compartment"
	Capabilities      Name = "capabilities"
	Batch             Name = "batch" // or transaction: the Bundle's type decides
	Operation         Name = "operation"
)

// Request is one interaction asked for, whether by HTTP or by an entry of a
// Bundle. Route fills Interaction and what the URL says; the caller adds the
// rest.
type Request struct {
	Interaction Name
	Type        fhir.ResourceType
	ID          string
	VersionID   string
	// CompartmentType is the target type of a compartment search, "*" for
	// all; Type and ID are then the compartment's.
	CompartmentType string
	Operation       string // its code: of "$validate", "validate"
	// Query holds the parameters of the URL, and of the form for POST _search;
	// RawQuery the same as sent, in order, joined by &.
	Query    url.Values
	RawQuery string

	Body []byte // JSON; for raw Binary content and patches see ContentType
	// ContentType is set for a Binary sent as its raw content, and for a
	// patch; Body is then that.
	ContentType string
	// SecurityContext is the reference of X-Security-Context, for raw Binary.
	SecurityContext string

	IfMatch         string // header text: W/"3"
	IfNoneMatch     string
	IfNoneExist     string // criteria of a conditional create
	IfModifiedSince time.Time

	Return   Return
	Handling Handling
	// RespondAsync: an answer need not wait until all instances know of the change.
	RespondAsync bool
	// CacheVersion is a Response.CacheVersion that the answer must know of.
	CacheVersion string
	// Operator: who asks has shown to be one.
	Operator bool
	// Base is the server's base URL for absolute links, without a trailing
	// slash: "http://127.0.0.1:8080/fhir".
	Base string

	// resource stands for Body in an entry of a Bundle: parsed already.
	resource element.Node
	// operation is what Operation names here.
	operation *operation
	// head says that only what goes before a body is wanted, in an entry.
	head bool
}

// Return is the preference Prefer: return=….
type Return string

// The values of Return. Where the client stated none, Return is empty: a create
// or update then answers with the representation, an entry of a Bundle without.
const (
	ReturnRepresentation   Return = "representation"
	ReturnMinimal          Return = "minimal"
	ReturnOperationOutcome Return = "OperationOutcome"
)

// Handling is the preference Prefer: handling=….
type Handling string

// The values of Handling. The default is lenient.
const (
	HandlingLenient Handling = "lenient"
	HandlingStrict  Handling = "strict"
)
