package fhir

import (
	"strconv"
	"time"
)

// ResourceType is the name of an R4 resource type, such as "Patient".
type ResourceType string

// Key is the identity of a resource: unique in a server, and never reused for
// another resource (https://hl7.org/fhir/R4/resource.html#id).
type Key struct {
	Type ResourceType
	ID   string
}

// String gives the relative reference, "Patient/123".
func (k Key) String() string { return string(k.Type) + "/" + k.ID }

// Method says which interaction made a version; history entries show it.
type Method uint8

// The methods a version can come from. Conditional interactions are stored as
// the direct one they became.
const (
	MethodPost Method = iota + 1
	MethodPut
	MethodPatch
	MethodDelete
)

// String gives the HTTP verb, as Bundle.entry.request.method has it.
func (m Method) String() string {
	switch m {
	case MethodPost:
		return "POST"
	case MethodPut:
		return "PUT"
	case MethodPatch:
		return "PATCH"
	case MethodDelete:
		return "DELETE"
	}
	return ""
}

// Content is a resource's JSON less the parts the server owns. Both fields are
// runs of JSON members, each preceded by its comma, so a resource is put
// together by concatenation and what the client sent is never encoded again:
//
//	{"resourceType":T,"id":I,"meta":{"versionId":V,"lastUpdated":L + Meta + } + Body + }
type Content struct {
	// Meta holds the members of meta other than versionId and lastUpdated:
	// `,"profile":["…"]`. Empty if there are none.
	Meta []byte
	// Body holds the members other than resourceType, id and meta, in the
	// order they were sent: `,"active":true,"name":[…]`.
	Body []byte
}

// Resource is one version of a resource as the store keeps it.
type Resource struct {
	Key
	VersionID   int64     // 1, 2, 3, …; never starts again after a deletion
	LastUpdated time.Time // UTC, to the millisecond; set by the store
	Method      Method
	Content     // empty for a deletion
}

// Deleted reports whether this version is a deletion.
func (r *Resource) Deleted() bool { return r.Method == MethodDelete }

// InstantFormat is the layout of a FHIR instant at the store's precision.
const InstantFormat = "2006-01-02T15:04:05.000Z07:00"

// AppendJSON appends the resource as a client reads it.
func (r *Resource) AppendJSON(dst []byte) []byte {
	dst = append(dst, `{"resourceType":"`...)
	dst = append(dst, r.Type...)
	dst = append(dst, `","id":"`...)
	dst = append(dst, r.ID...)
	dst = append(dst, `","meta":{"versionId":"`...)
	dst = strconv.AppendInt(dst, r.VersionID, 10)
	dst = append(dst, `","lastUpdated":"`...)
	dst = r.LastUpdated.UTC().AppendFormat(dst, InstantFormat)
	dst = append(dst, '"')
	dst = append(dst, r.Meta...)
	dst = append(dst, '}')
	dst = append(dst, r.Body...)
	return append(dst, '}')
}
