package fhir

import "strings"

// IssueType is a code of http://hl7.org/fhir/issue-type.
type IssueType string

// The issue types the server uses.
const (
	IssueInvalid         IssueType = "invalid"
	IssueStructure       IssueType = "structure"
	IssueRequired        IssueType = "required"
	IssueValue           IssueType = "value"
	IssueInvariant       IssueType = "invariant"
	IssueCodeInvalid     IssueType = "code-invalid"
	IssueExtension       IssueType = "extension"
	IssueBusinessRule    IssueType = "business-rule"
	IssueNotFound        IssueType = "not-found"
	IssueDeleted         IssueType = "deleted"
	IssueConflict        IssueType = "conflict"
	IssueDuplicate       IssueType = "duplicate"
	IssueMultipleMatches IssueType = "multiple-matches"
	IssueTooLong         IssueType = "too-long"
	IssueTooCostly       IssueType = "too-costly"
	IssueNotSupported    IssueType = "not-supported"
	IssueSecurity        IssueType = "security"
	IssueLogin           IssueType = "login"
	IssueForbidden       IssueType = "forbidden"
	IssueThrottled       IssueType = "throttled"
	IssueTransient       IssueType = "transient"
	IssueTimeout         IssueType = "timeout"
	IssueIncomplete      IssueType = "incomplete"
	IssueException       IssueType = "exception"
	IssueInformational   IssueType = "informational"
)

// Severity is a code of http://hl7.org/fhir/issue-severity.
type Severity string

// The severities, worst first.
const (
	SeverityFatal       Severity = "fatal"
	SeverityError       Severity = "error"
	SeverityWarning     Severity = "warning"
	SeverityInformation Severity = "information"
)

// Issue is one OperationOutcome.issue
// (https://hl7.org/fhir/R4/operationoutcome.html).
type Issue struct {
	Severity Severity
	Code     IssueType
	// Diagnostics is one sentence for the reader: what was found and what was
	// expected. It never holds internal text such as SQL or a stack.
	Diagnostics string
	// Expression is the FHIRPath of the element at fault, "Patient.name[0]";
	// empty if none applies.
	Expression string
	// Constraint is the key of the invariant that does not hold, "obs-6";
	// empty for other issues.
	Constraint string
}

// Kind groups errors by how a request failed. The one table from Kind to HTTP
// status is internal/interaction's StatusOf, since entries of a Bundle have one
// too.
type Kind uint8

// The kinds of error.
const (
	KindInternal           Kind = iota // the server's own fault
	KindInvalid                        // the request or resource is malformed
	KindUnprocessable                  // well formed, but breaks a rule of FHIR or of the server
	KindUnauthorized                   // no valid credentials
	KindForbidden                      // valid credentials, but not for this
	KindNotFound                       // no such type, resource or version
	KindMethodNotAllowed               // the interaction is not served here
	KindNotAcceptable                  // no format the client accepts is served
	KindUnsupportedMedia               // the body's format is not served
	KindGone                           // the resource was deleted
	KindConflict                       // collides with the state of the server
	KindPreconditionFailed             // If-Match or a conditional interaction did not hold
	KindTooLarge                       // over the size limit
	KindThrottled                      // too many requests
	KindUnavailable                    // try again later
	KindTimeout                        // took longer than its limit
	KindPreparing                      // try again later: nothing failed, it is being made ready
)

// Error is every failure a client is told of: a kind, and one or more issues.
// Anything that reaches the HTTP layer and is not an *Error is answered as an
// internal error whose text is only logged.
type Error struct {
	Kind   Kind
	Issues []Issue
	// Resource is the resource concerned, where an answer needs its ETag
	// (a deletion read back). Usually nil.
	Resource *Resource
	// Allow lists the methods that are allowed, for KindMethodNotAllowed.
	Allow []string
	// Cause is logged and never shown.
	Cause error
}

// NewError makes an Error with one issue of severity error.
func NewError(kind Kind, code IssueType, diagnostics string) *Error {
	return &Error{Kind: kind, Issues: []Issue{{Severity: SeverityError, Code: code, Diagnostics: diagnostics}}}
}

// At names the element or request part at fault in every issue that names none.
func (e *Error) At(expression string) *Error {
	for i := range e.Issues {
		if e.Issues[i].Expression == "" {
			e.Issues[i].Expression = expression
		}
	}
	return e
}

// Because records the cause, for the log.
func (e *Error) Because(cause error) *Error {
	e.Cause = cause
	return e
}

// Error joins the diagnostics.
func (e *Error) Error() string {
	texts := make([]string, 0, len(e.Issues)+1)
	for _, issue := range e.Issues {
		texts = append(texts, string(issue.Code)+": "+issue.Diagnostics)
	}
	if e.Cause != nil {
		texts = append(texts, e.Cause.Error())
	}
	return strings.Join(texts, "; ")
}

// Unwrap gives the cause.
func (e *Error) Unwrap() error { return e.Cause }
