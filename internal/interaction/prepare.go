package interaction

import (
	"bytes"
	"errors"
	"strconv"
	"strings"
	"uuid"

	"starling/internal/fhir"
	"starling/internal/fhir/element"
)

// prepared is a resource that may be stored.
type prepared struct {
	fhir.Content
	index  *fhir.Index
	issues []fhir.Issue // what the validation had to say, none of it an error
	id     string       // of the body, "" for none
}

// prepare reads the body of a create or update: syntax, type, validation,
// index values.
func (s *Service) prepare(request *Request) (*prepared, error) {
	root, err := s.bodyOf(request)
	if err != nil {
		return nil, err
	}
	if err := checkType(root, request.Type); err != nil {
		return nil, err
	}
	return s.accept(request.Type, root, request.Base)
}

// bodyOf is the resource a request brings.
func (s *Service) bodyOf(request *Request) (element.Node, error) {
	switch {
	case request.resource.Exists():
		return request.resource, nil
	case request.ContentType != "":
		return s.parse(binaryJSON(request))
	}
	return s.parse(request.Body)
}

// parse reads JSON text whose document has to be an object.
func (s *Service) parse(body []byte) (element.Node, error) {
	if len(body) == 0 {
		return element.Node{}, fhir.NewError(fhir.KindInvalid, fhir.IssueRequired, "The request has no body; a resource was expected.")
	}
	if bytes.HasPrefix(body, []byte("\ufeff")) {
		return element.Node{}, fhir.NewError(fhir.KindInvalid, fhir.IssueInvalid,
			"The body begins with a byte order mark, which is no part of JSON (RFC 8259, section 8.1); send it without.")
	}
	tree, err := element.Parse(body, s.limits())
	if err != nil {
		return element.Node{}, syntaxFailure(err)
	}
	if root := tree.Root(); root.Kind() == element.Object {
		return root, nil
	}
	return element.Node{}, fhir.NewError(fhir.KindInvalid, fhir.IssueStructure,
		"The body is a JSON "+tree.Root().Kind().String()+"; a resource, an object, was expected.")
}

func (s *Service) limits() element.Limits {
	if s.Limits == (element.Limits{}) {
		return element.DefaultLimits
	}
	return s.Limits
}

func syntaxFailure(err error) error {
	var fault *element.SyntaxError
	if !errors.As(err, &fault) {
		return err
	}
	if fault.TooLarge {
		return fhir.NewError(fhir.KindTooLarge, fhir.IssueTooLong, fault.Message)
	}
	return fhir.NewError(fhir.KindInvalid, fhir.IssueInvalid, "The body is no acceptable JSON: line "+
		strconv.Itoa(fault.Line)+", column "+strconv.Itoa(fault.Column)+": "+fault.Message)
}

// checkType refuses a resource of another type than the URL's.
func checkType(root element.Node, t fhir.ResourceType) error {
	got := root.Get("resourceType")
	switch {
	case !got.Exists():
		return fhir.NewError(fhir.KindInvalid, fhir.IssueRequired, "The body has no resourceType; "+string(t)+" was expected.").At("resourceType")
	case got.Str() != string(t):
		return fhir.NewError(fhir.KindInvalid, fhir.IssueInvalid,
			"The body is of type "+quote(got.Literal())+"; "+string(t)+" was expected.").At("resourceType")
	}
	return nil
}

// accept validates a resource and takes it apart for the store.
func (s *Service) accept(t fhir.ResourceType, root element.Node, base string) (*prepared, error) {
	issues := s.Validator.Validate(t, root)
	if err := refusal(issues); err != nil {
		return nil, err
	}
	p, err := s.takeApart(t, root, base)
	if err != nil {
		return nil, err
	}
	p.issues = issues
	return p, nil
}

// takeApart gives content and index values of a resource known to be valid.
func (s *Service) takeApart(t fhir.ResourceType, root element.Node, base string) (*prepared, error) {
	content, err := element.Content(root)
	if err != nil {
		return nil, err
	}
	index, err := s.Indexer.Index(t, root, base)
	if err != nil {
		return nil, err
	}
	return &prepared{Content: content, index: index, id: root.Get("id").Str()}, nil
}

// refusal is the error that issues amount to, nil if none is an error. The
// worst decides: malformed before well formed but against a rule
// (https://hl7.org/fhir/R4/http.html#create), and last that it cannot be told at
// the moment.
func refusal(issues []fhir.Issue) error {
	refused, malformed, transient := false, false, true
	for i := range issues {
		if issues[i].Severity != fhir.SeverityError && issues[i].Severity != fhir.SeverityFatal {
			continue
		}
		refused = true
		switch issues[i].Code {
		case fhir.IssueInvalid, fhir.IssueStructure, fhir.IssueRequired, fhir.IssueValue:
			malformed = true
		}
		transient = transient && issues[i].Code == fhir.IssueTransient
	}
	kind := fhir.KindUnprocessable
	switch {
	case !refused:
		return nil
	case malformed:
		kind = fhir.KindInvalid
	case transient:
		kind = fhir.KindUnavailable
	}
	return &fhir.Error{Kind: kind, Issues: issues}
}

// newID is an id for a resource the server names: sortable by time, so that
// new rows stand together in the store's indexes.
func newID() string { return uuid.NewV7().String() }

// parseETag reads the version of an entity tag, weak or strong: W/"3".
// https://hl7.org/fhir/R4/http.html#versioning
func parseETag(tag string) (versionID int64, ok bool) {
	tag = strings.TrimPrefix(strings.TrimSpace(tag), "W/")
	if len(tag) >= 2 && tag[0] == '"' && tag[len(tag)-1] == '"' {
		tag = tag[1 : len(tag)-1]
	}
	return parseVersion(tag)
}

// parseVersion reads a version id as this server makes them: 1, 2, 3, ….
func parseVersion(text string) (versionID int64, ok bool) {
	versionID, err := strconv.ParseInt(text, 10, 64)
	return versionID, err == nil && versionID > 0 && text[0] != '+' && text[0] != '0'
}
