package rest

import (
	"context"
	"io"
	"net/http"
	"strconv"
	"strings"

	"starling/internal/fhir"
	"starling/internal/interaction"
)

// exchange answers one request. It is all that stands between the front
// (net/http, in front.go) and the interactions, so the front can be changed,
// and the type every decorator wraps.
type exchange func(ctx context.Context, in *incoming, out *outgoing)

// incoming is a request as any front can give it.
type incoming struct {
	Method   string
	Path     string // percent-encoded
	RawQuery string
	Host     string
	Peer     string // "address:port" of the connection
	TLS      bool
	Header   http.Header // names in canonical form
	Body     io.Reader
	// ContentLength is -1 if unknown.
	ContentLength int64
	// RequestID is echoed in X-Request-Id and named in the log.
	RequestID string
}

// header gives a header's first value, "" if it is absent. name must be in
// canonical form.
func (in *incoming) header(name string) string {
	if values := in.Header[name]; len(values) > 0 {
		return values[0]
	}
	return ""
}

// list gives a header that is a list, all its lines joined.
func (in *incoming) list(name string) string {
	if values := in.Header[name]; len(values) > 1 {
		return strings.Join(values, ", ")
	}
	return in.header(name)
}

// outgoing is the answer being made. Status and Body are sent as they stand
// when the outermost exchange returns; Header is the front's own.
type outgoing struct {
	Status int
	Header http.Header
	Body   []byte

	// Interaction and Type are what the request was found to ask for, for
	// metrics and the log; empty if it never came so far.
	Interaction interaction.Name
	Type        fhir.ResourceType
	// BodyRead is how many bytes the request's body had, decompressed.
	BodyRead int
	// Err is the failure, nil on success.
	Err error

	place  place // of the request's body
	buffer *[]byte
	values [10]string
	used   int
}

// set gives a header its only value. name must be in canonical form. The
// values live in the answer itself, which saves an allocation for each.
func (out *outgoing) set(name, value string) {
	if out.used == len(out.values) {
		out.Header[name] = []string{value}
		return
	}
	out.values[out.used] = value
	out.Header[name] = out.values[out.used : out.used+1 : out.used+1]
	out.used++
}

// setLength gives Content-Length where the answer may have a body at all.
func (out *outgoing) setLength() {
	if out.Status != http.StatusNoContent && out.Status != http.StatusNotModified {
		out.set("Content-Length", strconv.Itoa(len(out.Body)))
	}
}
