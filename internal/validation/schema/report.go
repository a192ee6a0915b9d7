package schema

import (
	"strings"

	"github.com/santhosh-tekuri/jsonschema/v5"

	"starling/internal/fhir"
)

// report adds an issue for each rule that was broken by itself, not through
// another.
func report(issues []fhir.Issue, e *jsonschema.ValidationError, path string) []fhir.Issue {
	for _, cause := range e.Causes {
		if issues = report(issues, cause, path); len(issues) >= maxIssues {
			return issues
		}
	}
	if len(e.Causes) > 0 {
		return issues
	}
	return append(issues, fhir.Issue{
		Severity: fhir.SeverityError, Code: codeOf(e.KeywordLocation), Diagnostics: e.Message, Expression: path + fhirPath(e.InstanceLocation),
	})
}

// codeOf gives the issue type of a keyword of JSON Schema.
func codeOf(location string) fhir.IssueType {
	switch location[strings.LastIndexByte(location, '/')+1:] {
	case "required":
		return fhir.IssueRequired
	case "pattern", "const":
		return fhir.IssueValue
	case "enum":
		return fhir.IssueCodeInvalid
	}
	return fhir.IssueStructure
}

// fhirPath makes a JSON pointer a FHIRPath: /name/0/_given to .name[0].given.
func fhirPath(pointer string) string {
	var b strings.Builder
	for segment := range strings.SplitSeq(strings.TrimPrefix(pointer, "/"), "/") {
		switch {
		case segment == "":
		case segment[0] >= '0' && segment[0] <= '9':
			b.WriteString("[" + segment + "]")
		default:
			b.WriteString("." + strings.TrimPrefix(segment, "_"))
		}
	}
	return b.String()
}
