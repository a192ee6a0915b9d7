package interaction

import (
	"net/url"
	"strings"

	"starling/internal/fhir"
)

// mostParameters is how many parameters url.ParseQuery takes; it has no error of
// its own for more.
const mostParameters = 10_000

// ParseQuery reads the query of a URL, or a form that is sent in its place. The
// error, of KindInvalid, names the parameter that cannot be read.
func ParseQuery(text string) (url.Values, error) {
	if strings.Count(text, "&") >= mostParameters {
		return nil, fhir.NewError(fhir.KindInvalid, fhir.IssueTooCostly, "There are too many parameters.")
	}
	query, err := url.ParseQuery(text)
	if err == nil {
		return query, nil
	}
	for parameter := range strings.SplitSeq(text, "&") {
		if _, err := url.ParseQuery(parameter); err != nil {
			reason := " is not percent-encoded as it has to be."
			if strings.Contains(parameter, ";") {
				reason = " has a semicolon, which has to be written as %3B."
			}
			return nil, fhir.NewError(fhir.KindInvalid, fhir.IssueInvalid, "The parameter "+quote(parameter)+reason)
		}
	}
	return nil, err
}
