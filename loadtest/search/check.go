package search

import (
	"bytes"
	"encoding/json"
	"strconv"
)

// Fault is a wrong answer: Kind groups equal ones, Detail is a sample.
type Fault struct{ Kind, Detail string }

// Check reports whether the answer is a page of results. A first page must have
// some: its search was made from what the server holds.
func Check(status int, body []byte, first bool) *Fault {
	has := func(member, value string) bool {
		return bytes.Contains(body, []byte(`"`+member+`":"`+value+`"`)) || bytes.Contains(body, []byte(`"`+member+`": "`+value+`"`))
	}
	switch {
	case status != 200:
		return &Fault{"status " + strconv.Itoa(status), string(body)}
	case !has("resourceType", "Bundle") || !has("type", "searchset"):
		return &Fault{"the body is no searchset", string(body)}
	case has("severity", "error") || has("severity", "fatal"):
		return &Fault{"the page has an error", string(body)}
	case first && !has("mode", "match"):
		return &Fault{"nothing was found", string(body)}
	}
	return nil
}

// Resources counts the resources of a page, matches and what they include: each has
// a fullUrl (https://hl7.org/fhir/R4/bundle.html#bundle-unique).
func Resources(body []byte) int { return bytes.Count(body, []byte(`fullUrl"`)) }

// NextLink gives the URL of the next page, "" if this is the last.
func NextLink(body []byte) string {
	relation := bytes.Index(body, []byte(`"next"`))
	if relation < 0 {
		return ""
	}
	from, to := bytes.LastIndexByte(body[:relation], '{'), bytes.IndexByte(body[relation:], '}')
	if from < 0 || to < 0 {
		return ""
	}
	var link struct{ Relation, URL string }
	if json.Unmarshal(body[from:relation+to+1], &link) != nil || link.Relation != "next" {
		return ""
	}
	return link.URL
}
