package rest

import (
	"context"
	"errors"
	"net/http"
	"strings"

	"starling/internal/fhir"
	"starling/internal/interaction"
)

// retryAfter is the Retry-After of 429 and 503, in seconds.
const retryAfter = "1"

// fail makes the answer an OperationOutcome of err. What is no *fhir.Error is
// answered in neutral words; its text is only logged, by way of out.Err.
func (out *outgoing) fail(in *incoming, err error) {
	out.Err = err
	failure := clientError(err, in.RequestID)
	out.Status = int(interaction.StatusOf(failure.Kind))
	if out.Status == http.StatusTooManyRequests || out.Status == http.StatusServiceUnavailable {
		out.set("Retry-After", retryAfter)
	}
	if out.Status == http.StatusUnauthorized {
		out.set("Www-Authenticate", `Bearer realm="Starling"`)
	}
	if len(failure.Allow) > 0 {
		out.set("Allow", strings.Join(failure.Allow, ", ")+", "+http.MethodOptions)
	}
	if r := failure.Resource; r != nil {
		out.set("Etag", interaction.ETagOf(r.VersionID))
		out.set("Last-Modified", r.LastUpdated.UTC().Format(http.TimeFormat))
	}
	out.set("Content-Type", errorFormat(in))
	out.keep(interaction.AppendOutcome(out.scratch(), failure.Issues))
}

// clientError is what a client is told of err: always at least one issue.
func clientError(err error, requestID string) *fhir.Error {
	var known *fhir.Error
	switch {
	case errors.As(err, &known) && len(known.Issues) > 0:
		return known
	case errors.Is(err, context.DeadlineExceeded), errors.Is(err, context.Canceled):
		return fhir.NewError(fhir.KindTimeout, fhir.IssueTimeout, "The request took longer than its time limit.")
	}
	return fhir.NewError(fhir.KindInternal, fhir.IssueException,
		"The server failed to carry out the request. It was logged under request id "+requestID+".")
}
