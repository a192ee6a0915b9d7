package interaction

import (
	"strconv"

	"starling/internal/fhir"
)

// statuses is the one table from kinds of error to HTTP statuses
// (https://hl7.org/fhir/R4/http.html#Status-Codes).
var statuses = [...]Status{
	fhir.KindInternal:           500,
	fhir.KindInvalid:            400,
	fhir.KindUnprocessable:      422,
	fhir.KindUnauthorized:       401,
	fhir.KindForbidden:          403,
	fhir.KindNotFound:           404,
	fhir.KindMethodNotAllowed:   405,
	fhir.KindNotAcceptable:      406,
	fhir.KindUnsupportedMedia:   415,
	fhir.KindGone:               410,
	fhir.KindConflict:           409,
	fhir.KindPreconditionFailed: 412,
	fhir.KindTooLarge:           413,
	fhir.KindThrottled:          429,
	fhir.KindUnavailable:        503,
	fhir.KindTimeout:            503,
	fhir.KindPreparing:          503,
}

// StatusOf is the HTTP status of a failure.
func StatusOf(kind fhir.Kind) Status {
	if int(kind) < len(statuses) {
		return statuses[kind]
	}
	return statuses[fhir.KindInternal]
}

var reasons = map[Status]string{
	200: "OK", 201: "Created", 202: "Accepted", 204: "No Content", 304: "Not Modified",
	400: "Bad Request", 401: "Unauthorized", 403: "Forbidden", 404: "Not Found",
	405: "Method Not Allowed", 406: "Not Acceptable", 409: "Conflict", 410: "Gone",
	412: "Precondition Failed", 413: "Content Too Large", 415: "Unsupported Media Type",
	422: "Unprocessable Content", 429: "Too Many Requests", 500: "Internal Server Error",
	503: "Service Unavailable",
}

// String is the status as Bundle.entry.response.status has it: "201 Created".
func (s Status) String() string { return strconv.Itoa(int(s)) + " " + reasons[s] }
