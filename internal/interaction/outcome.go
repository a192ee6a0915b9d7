package interaction

import (
	"errors"

	"starling/internal/fhir"
)

// AppendOutcome appends an OperationOutcome with these issues
// (https://hl7.org/fhir/R4/operationoutcome.html). With none it says that all
// is well, since an outcome needs an issue.
func AppendOutcome(dst []byte, issues []fhir.Issue) []byte {
	if len(issues) == 0 {
		issues = []fhir.Issue{{Severity: fhir.SeverityInformation, Code: fhir.IssueInformational, Diagnostics: "All OK"}}
	}
	dst = append(dst, `{"resourceType":"OperationOutcome","issue":[`...)
	for i := range issues {
		issue := &issues[i]
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = appendString(append(dst, `{"severity":`...), string(issue.Severity))
		dst = appendString(append(dst, `,"code":`...), string(issue.Code))
		if issue.Constraint != "" {
			// The key of the constraint that does not hold, for programs.
			dst = append(appendString(append(dst, `,"details":{"coding":[{"code":`...), issue.Constraint), "}]}"...)
		}
		if issue.Diagnostics != "" {
			dst = appendString(append(dst, `,"diagnostics":`...), issue.Diagnostics)
		}
		if issue.Expression != "" {
			dst = appendString(append(dst, `,"expression":[`...), issue.Expression)
			dst = append(dst, ']')
		}
		dst = append(dst, '}')
	}
	return append(dst, "]}"...)
}

// Failure gives the error a client may be told of: err itself if it is an
// *fhir.Error, else an internal error that shows nothing of it.
func Failure(err error) *fhir.Error {
	var failure *fhir.Error
	if errors.As(err, &failure) {
		return failure
	}
	return fhir.NewError(fhir.KindInternal, fhir.IssueException, "The server failed to carry out the request.").Because(err)
}
