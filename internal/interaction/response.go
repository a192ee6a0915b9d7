package interaction

import (
	"strconv"
	"time"

	"starling/internal/fhir"
)

// Status is how an interaction succeeded; its value is the HTTP status, which
// Bundle response entries carry as text.
type Status int

// The ways to succeed. Failures are *fhir.Error.
const (
	StatusOK          Status = 200
	StatusCreated     Status = 201
	StatusAccepted    Status = 202
	StatusNoContent   Status = 204
	StatusNotModified Status = 304
)

// Response is the answer of an interaction. At most one of Resource and Body
// is set; with neither the answer has no body.
type Response struct {
	Status Status
	// Resource is the stored version the answer shows.
	Resource *fhir.Resource
	// Body is JSON made for this answer: a Bundle, an OperationOutcome, a
	// CapabilityStatement, a reduced resource.
	Body []byte
	// VersionID and LastUpdated feed ETag and Last-Modified; 0 and zero if
	// they do not apply.
	VersionID   int64
	LastUpdated time.Time
	// ETag overrides the one made of VersionID (the CapabilityStatement's).
	ETag string
	// Location is relative to the base, "Patient/1/_history/2"; for creates
	// and updates, else empty.
	Location string
	// Issues are what the validation had to say of a resource it accepted, for
	// Prefer: return=OperationOutcome.
	Issues []fhir.Issue
	// Faults are the server's own failures within a batch that went on, for
	// the log.
	Faults error
	// CacheVersion is the version of the caches that a change of system resources
	// has made; empty if there was none.
	CacheVersion string
	// Changed says a write took place; false for a no-op.
	Changed bool
}

// ETagOf is the weak ETag of a version: W/"3".
func ETagOf(versionID int64) string {
	return `W/"` + strconv.FormatInt(versionID, 10) + `"`
}
