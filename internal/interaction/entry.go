package interaction

import (
	"encoding/base64"
	"strconv"
	"strings"

	"starling/internal/fhir"
	"starling/internal/fhir/element"
)

// maxEntries is the most entries a batch or transaction may have.
const maxEntries = 10_000

// entry is one entry of a batch or transaction.
type entry struct {
	number  int // in the Bundle, from 0
	fullURL string
	request *Request
}

// entryExpression names an entry in issues.
func entryExpression(number int) string { return "Bundle.entry[" + strconv.Itoa(number) + "]" }

// checkMembers refuses members that a part of a Bundle does not have.
func (s *Service) checkMembers(object element.Node, path ...string) error {
	definition := s.Definitions.Type("Bundle").Root
	for _, name := range path {
		property, _ := definition.Property(name)
		definition = property.Element
	}
	for member := range object.Children() {
		if _, known := definition.Property(member.Name()); !known && member.Name() != "resourceType" {
			return fhir.NewError(fhir.KindInvalid, fhir.IssueStructure, "There is no element "+quote(member.Name())+" here.").
				At(element.Path(member))
		}
	}
	return nil
}

// stringOf gives a member that has to be a string, "" if it is not there.
func stringOf(object element.Node, name string) (string, error) {
	member := object.Get(name)
	if !member.Exists() {
		return "", nil
	}
	if member.Kind() != element.String || member.Str() == "" {
		return "", fhir.NewError(fhir.KindInvalid, fhir.IssueStructure, "A string that is not empty was expected.").At(element.Path(member))
	}
	return member.Str(), nil
}

// entry reads an entry. outer is the request that brought the Bundle.
func (s *Service) entry(node element.Node, number int, outer *Request) (*entry, error) {
	if node.Kind() != element.Object {
		return nil, fhir.NewError(fhir.KindInvalid, fhir.IssueStructure, "An entry has to be an object.")
	}
	if err := s.checkMembers(node, "entry"); err != nil {
		return nil, err
	}
	asked := node.Get("request")
	if asked.Kind() != element.Object {
		return nil, fhir.NewError(fhir.KindInvalid, fhir.IssueRequired, "An entry of a batch or transaction needs a request.")
	}
	if err := s.checkMembers(asked, "entry", "request"); err != nil {
		return nil, err
	}
	e := &entry{number: number}
	var err error
	if e.fullURL, err = stringOf(node, "fullUrl"); err != nil {
		return nil, err
	}
	if strings.Contains(e.fullURL, "/_history/") {
		return nil, fhir.NewError(fhir.KindUnprocessable, fhir.IssueInvariant, "bdl-8: fullUrl cannot be a version specific reference.")
	}
	if e.request, err = s.entryRequest(asked, outer); err != nil {
		return nil, err
	}
	return e, e.bring(node.Get("resource"))
}

// entryRequest reads Bundle.entry.request.
func (s *Service) entryRequest(asked element.Node, outer *Request) (*Request, error) {
	var members [6]string
	for i, name := range []string{"method", "url", "ifMatch", "ifNoneMatch", "ifNoneExist", "ifModifiedSince"} {
		var err error
		if members[i], err = stringOf(asked, name); err != nil {
			return nil, err
		}
	}
	method, url := members[0], members[1]
	switch method {
	case "GET", "HEAD", "POST", "PUT", "DELETE", "PATCH":
	case "":
		return nil, fhir.NewError(fhir.KindInvalid, fhir.IssueRequired, "The request of an entry needs a method.")
	default:
		return nil, fhir.NewError(fhir.KindInvalid, fhir.IssueValue, quote(method)+" is no HTTP method that entries can have.")
	}
	if url == "" {
		return nil, fhir.NewError(fhir.KindInvalid, fhir.IssueRequired, "The request of an entry needs a url.")
	}
	path, query, _ := strings.Cut(url, "?")
	path = strings.TrimPrefix(strings.TrimPrefix(path, outer.Base), "/")
	if strings.Contains(path, "://") {
		return nil, fhir.NewError(fhir.KindInvalid, fhir.IssueValue, "The url "+quote(url)+" is not one of this server.")
	}
	request, err := s.Route(method, path, query)
	if err != nil {
		return nil, err
	}
	request.IfMatch, request.IfNoneMatch, request.IfNoneExist = members[2], members[3], members[4]
	if since := members[5]; since != "" {
		if request.IfModifiedSince, err = parseInstant(since); err != nil {
			return nil, fhir.NewError(fhir.KindInvalid, fhir.IssueValue, "ifModifiedSince is no instant.")
		}
	}
	request.head = method == "HEAD"
	request.Base, request.Handling, request.Return = outer.Base, outer.Handling, outer.Return
	request.Operator = outer.Operator
	return request, nil
}

// bring attaches the entry's resource to its request.
func (e *entry) bring(resource element.Node) error {
	switch e.request.Interaction {
	case Batch:
		return fhir.NewError(fhir.KindUnprocessable, fhir.IssueNotSupported, "An entry cannot be a Bundle to carry out.")
	case Operation:
		e.request.resource = resource
		return nil
	case Create, Update, ConditionalUpdate:
	case Patch, ConditionalPatch:
		return e.bringPatch(resource)
	default:
		return nil
	}
	if resource.Kind() != element.Object {
		return fhir.NewError(fhir.KindInvalid, fhir.IssueRequired, "The entry needs a resource to store.")
	}
	e.request.resource = resource
	return checkType(resource, e.request.Type)
}

// bringPatch takes a patch out of the Binary that carries it
// (https://hl7.org/fhir/R4/http.html#patch).
func (e *entry) bringPatch(resource element.Node) (err error) {
	if resource.Kind() != element.Object {
		return fhir.NewError(fhir.KindInvalid, fhir.IssueRequired, "The entry needs a Binary with the patch.")
	}
	if err := checkType(resource, "Binary"); err != nil {
		return err
	}
	e.request.ContentType = resource.Get("contentType").Str()
	e.request.Body, err = base64.StdEncoding.DecodeString(strings.Join(strings.Fields(resource.Get("data").Str()), ""))
	if err != nil {
		return fhir.NewError(fhir.KindInvalid, fhir.IssueValue, "The data of the Binary is no base64.").At("Binary.data")
	}
	return nil
}
