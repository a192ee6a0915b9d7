package interaction

import (
	"crypto/sha256"
	"encoding/hex"
	"strings"
	"time"

	"starling/internal/fhir"
)

// statement is the answers of /metadata by mode.
type statement struct {
	full, normative, terminology statementText
	revision                     string // of search parameters and profiles
}

// statementText is a CapabilityStatement or TerminologyCapabilities in two
// parts, between which the base URL stands: that may differ by request.
type statementText struct {
	before, after []byte
	etag          string // of the content but for the base
}

// capabilities says what the server does
// (https://hl7.org/fhir/R4/http.html#capabilities).
func (s *Service) capabilities(request *Request) (*Response, error) {
	mode, err := onlyValue(request.Query, "mode")
	if err != nil {
		return nil, err
	}
	st := s.statement.Load()
	revision := ""
	if s.Revision != nil {
		revision = s.Revision()
	}
	if st == nil || st.revision != revision {
		st = s.newStatement()
		st.revision = revision
		s.statement.Store(st)
	}
	text := &st.full
	switch mode {
	case "", "full":
	case "normative":
		text = &st.normative
	case "terminology":
		text = &st.terminology
	default:
		return nil, fhir.NewError(fhir.KindInvalid, fhir.IssueValue,
			"mode is "+quote(mode)+"; full, normative or terminology was expected.")
	}
	response := &Response{Status: StatusOK, ETag: text.etag}
	for tag := range strings.SplitSeq(request.IfNoneMatch, ",") {
		if tag = strings.TrimSpace(tag); tag == text.etag || tag == "*" {
			response.Status = StatusNotModified
			return response, nil
		}
	}
	url := appendString(nil, request.Base)
	response.Body = make([]byte, 0, len(text.before)+len(url)+len(text.after))
	response.Body = append(append(append(response.Body, text.before...), url...), text.after...)
	return response, nil
}

func (s *Service) newStatement() *statement {
	types := s.Definitions.ResourceTypes()
	return &statement{
		full:        newStatementText(s.capabilityStatement(types)),
		normative:   newStatementText(s.capabilityStatement(normativeTypes)),
		terminology: newStatementText(s.terminologyCapabilities()),
	}
}

func newStatementText(before, after []byte) statementText {
	hash := sha256.New()
	hash.Write(before)
	hash.Write(after)
	return statementText{before, after, `W/"` + hex.EncodeToString(hash.Sum(nil)[:8]) + `"`}
}

// normativeTypes are the resource types whose standards status is normative in
// R4 (https://hl7.org/fhir/R4/resourcelist.html).
var normativeTypes = []fhir.ResourceType{
	"Binary", "Bundle", "CapabilityStatement", "CodeSystem", "Observation", "OperationDefinition", "OperationOutcome",
	"Parameters", "Patient", "StructureDefinition", "ValueSet",
}

// appendHead appends what the two kinds of statement have in common, up to the
// place of the base URL.
func (s *Service) appendHead(dst []byte, resourceType, title string) []byte {
	dst = append(dst, `{"resourceType":"`+resourceType+`"`...)
	if s.Software.Version != "" {
		dst = appendString(append(dst, `,"version":`...), s.Software.Version)
	}
	dst = appendString(append(dst, `,"name":`...), strings.ReplaceAll(title, " ", ""))
	dst = appendString(append(dst, `,"title":`...), title)
	dst = appendString(append(dst, `,"status":"active","date":`...), s.Software.Date.UTC().Format(time.RFC3339))
	dst = append(dst, `,"kind":"instance","software":{"name":"Starling"`...)
	if s.Software.Version != "" {
		dst = appendString(append(dst, `,"version":`...), s.Software.Version)
	}
	return append(dst, `},"implementation":{"description":"Starling, a FHIR R4 server","url":`...)
}

// terminologyCapabilities says how the operations of terminology work
// (https://hl7.org/fhir/R4/terminologycapabilities.html).
func (s *Service) terminologyCapabilities() (before, after []byte) {
	after = []byte("}")
	if s.Terminology != nil {
		after = append(after, `,"expansion":{"hierarchical":false,"paging":true,"incomplete":false,"parameter":[`...)
		for _, name := range []string{
			"activeOnly", "check-system-version", "count", "displayLanguage", "exclude-system", "excludeNotForUI", "filter", "force-system-version",
			"includeDefinition", "includeDesignations", "offset", "system-version", "url", "valueSet", "valueSetVersion",
		} {
			after = append(after, `{"name":"`+name+`"},`...)
		}
		after = append(closed(after, ']'), `,"textFilter":"Each word of the filter has to begin the code or a word of the display; case is ignored."},`+
			`"validateCode":{"translations":false},"translation":{"needsMap":false}`...)
	}
	return s.appendHead(nil, "TerminologyCapabilities", "Starling Terminology Capabilities"), append(after, '}')
}
