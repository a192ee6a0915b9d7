package interaction

import (
	"net/url"
	"slices"
	"strings"

	"starling/internal/fhir"
)

// Route finds the interaction that a method and URL ask for
// (https://hl7.org/fhir/R4/http.html#summary). path is relative to the base,
// still percent-encoded and without a leading slash: "Patient/1/_history/2".
func (s *Service) Route(method, path, rawQuery string) (*Request, error) {
	query, err := ParseQuery(rawQuery)
	if err != nil {
		return nil, err
	}
	request := &Request{Query: query, RawQuery: rawQuery}
	if method == "HEAD" {
		method = "GET"
	}
	segments, err := split(path)
	if err != nil {
		return nil, err
	}
	route, err := s.place(request, segments, method)
	if err != nil {
		return nil, err
	}
	if request.Type != "" && !searchable(request.Type) {
		route = slices.DeleteFunc(slices.Clone(route), func(c choice) bool { return c.interaction == SearchType })
	}
	for _, choice := range route {
		if choice.method == method {
			request.Interaction = choice.interaction
			return request, nil
		}
	}
	return nil, notAllowed(method, path, route)
}

// split cuts a path at its slashes and decodes the parts. One slash at the end
// is ignored.
func split(path string) ([]string, error) {
	path = strings.TrimSuffix(path, "/")
	if path == "" {
		return nil, nil
	}
	segments := strings.Split(path, "/")
	for i, segment := range segments {
		decoded, err := url.PathUnescape(segment)
		if err != nil {
			return nil, fhir.NewError(fhir.KindInvalid, fhir.IssueInvalid, "The path of the URL is not well formed.")
		}
		segments[i] = decoded
	}
	return segments, nil
}

// choice is a method served at a place and what it does there.
type choice struct {
	method      string
	interaction Name
}

// The places of the URL grammar, and the methods of each.
var (
	atBase          = []choice{{"GET", SearchSystem}, {"POST", Batch}}
	atMetadata      = []choice{{"GET", Capabilities}}
	atSystemSearch  = []choice{{"POST", SearchSystem}}
	atSystemHistory = []choice{{"GET", HistorySystem}}
	// Of operations, those that change nothing answer GET
	// (https://hl7.org/fhir/R4/operations.html#request).
	atOperation         = []choice{{"GET", Operation}, {"POST", Operation}}
	atChangingOperation = []choice{{"POST", Operation}}
	atType              = []choice{
		{"GET", SearchType},
		{"POST", Create},
		{"PUT", ConditionalUpdate},
		{"PATCH", ConditionalPatch},
		{"DELETE", ConditionalDelete},
	}
	atTypeSearch        = []choice{{"POST", SearchType}}
	atTypeHistory       = []choice{{"GET", HistoryType}}
	atInstance          = []choice{{"GET", Read}, {"PUT", Update}, {"PATCH", Patch}, {"DELETE", Delete}}
	atInstanceHistory   = []choice{{"GET", HistoryInstance}}
	atVersion           = []choice{{"GET", VRead}}
	atCompartment       = []choice{{"GET", SearchCompartment}}
	atCompartmentSearch = []choice{{"POST", SearchCompartment}}
)

// place finds what the path names, fills the request with it, and gives the
// methods served there.
func (s *Service) place(request *Request, segments []string, method string) ([]choice, error) {
	if len(segments) == 0 {
		return atBase, nil
	}
	first := segments[0]
	switch {
	case len(segments) == 1 && first == "metadata":
		return atMetadata, nil
	case len(segments) == 1 && first == "_search":
		return atSystemSearch, nil
	case len(segments) == 1 && first == "_history":
		return atSystemHistory, nil
	case len(segments) == 1 && isOperation(first):
		return s.placeOperation(request, first[1:])
	case !s.hasEndpoint(first):
		return nil, fhir.NewError(fhir.KindNotFound, fhir.IssueNotFound, "There is no resource type "+quote(first)+" here.")
	}
	request.Type = fhir.ResourceType(first)
	if len(segments) == 1 {
		return atType, nil
	}
	return s.placeInType(request, segments[1:], method)
}

// placeInType continues behind the type.
func (s *Service) placeInType(request *Request, segments []string, method string) ([]choice, error) {
	first := segments[0]
	if len(segments) == 1 {
		switch {
		case first == "_search":
			return atTypeSearch, nil
		case first == "_history":
			return atTypeHistory, nil
		case isOperation(first):
			return s.placeOperation(request, first[1:])
		}
	}
	if !fhir.ValidID(first) {
		return nil, badID(first, method)
	}
	request.ID = first
	if len(segments) == 1 {
		return atInstance, nil
	}
	return s.placeInInstance(request, segments[1:])
}

// placeInInstance continues behind the id.
func (s *Service) placeInInstance(request *Request, segments []string) ([]choice, error) {
	first := segments[0]
	switch {
	case first == "_history" && len(segments) == 1:
		return atInstanceHistory, nil
	case first == "_history" && len(segments) == 2:
		request.VersionID = segments[1]
		return atVersion, nil
	case isOperation(first) && len(segments) == 1:
		return s.placeOperation(request, first[1:])
	case len(segments) > 2 || len(segments) == 2 && segments[1] != "_search":
	case first == "*" || s.hasEndpoint(first):
		if s.Definitions.Compartment(request.Type) == nil {
			return nil, fhir.NewError(fhir.KindNotFound, fhir.IssueNotFound, "There is no compartment "+quote(string(request.Type))+".")
		}
		request.CompartmentType = first
		if len(segments) == 2 {
			return atCompartmentSearch, nil
		}
		return atCompartment, nil
	}
	return nil, fhir.NewError(fhir.KindNotFound, fhir.IssueNotFound,
		"Nothing is served at "+quote(string(request.Type)+"/"+request.ID+"/"+strings.Join(segments, "/"))+".")
}

// hasEndpoint reports whether resources of that type are kept here. Parameters
// is a resource that never rests anywhere
// (https://hl7.org/fhir/R4/parameters.html).
func (s *Service) hasEndpoint(name string) bool {
	return name != "Parameters" && s.Definitions.IsResourceType(name)
}

func isOperation(segment string) bool { return len(segment) > 1 && segment[0] == '$' }

// badID refuses an id that breaks the rule: nothing can be found under it, and
// nothing stored.
func badID(id, method string) error {
	text := "The id " + quote(id) + " is not one to 64 letters, digits, - and periods."
	if method == "GET" {
		return fhir.NewError(fhir.KindNotFound, fhir.IssueNotFound, text)
	}
	return fhir.NewError(fhir.KindInvalid, fhir.IssueValue, text)
}

func notAllowed(method, path string, route []choice) error {
	var allow []string
	for _, choice := range route {
		allow = append(allow, choice.method)
		if choice.method == "GET" {
			allow = append(allow, "HEAD")
		}
	}
	if path == "" {
		path = "the base"
	}
	text := method + " is not served at " + path
	if len(allow) > 0 {
		text += "; " + strings.Join(allow, ", ") + " would be"
	}
	failure := fhir.NewError(fhir.KindMethodNotAllowed, fhir.IssueNotSupported, text+".")
	failure.Allow = slices.Clip(allow)
	return failure
}

// quote shows text of the client's in a message, cut to a bearable length.
func quote(text string) string {
	const most = 100
	if runes := []rune(text); len(runes) > most {
		text = string(runes[:most]) + "…"
	}
	return `"` + text + `"`
}
