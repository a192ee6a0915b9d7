package interaction

import (
	"context"
	"strings"
	"time"

	"starling/internal/fhir"
)

// read gives the current version of a resource
// (https://hl7.org/fhir/R4/http.html#read), or says that the client has it
// already (#cread).
func (s *Service) read(ctx context.Context, request *Request) (*Response, error) {
	resource, err := s.Store.Read(ctx, fhir.Key{Type: request.Type, ID: request.ID})
	if err != nil {
		return nil, err
	}
	return s.show(request, resource)
}

// vread gives one version (https://hl7.org/fhir/R4/http.html#vread).
func (s *Service) vread(ctx context.Context, request *Request) (*Response, error) {
	key := fhir.Key{Type: request.Type, ID: request.ID}
	versionID, ok := parseVersion(request.VersionID)
	if !ok {
		return nil, fhir.NewError(fhir.KindNotFound, fhir.IssueNotFound, key.String()+" has no version "+quote(request.VersionID)+".")
	}
	resource, err := s.Store.ReadVersion(ctx, key, versionID)
	if err != nil {
		return nil, err
	}
	return s.show(request, resource)
}

// show answers a read with a version.
func (s *Service) show(request *Request, resource *fhir.Resource) (*Response, error) {
	if resource.Deleted() {
		return nil, gone(resource)
	}
	form, err := parseForm(request.Query)
	if err != nil {
		return nil, err
	}
	if form.summary == summaryCount {
		return nil, fhir.NewError(fhir.KindInvalid, fhir.IssueInvalid, "_summary=count is for searches only.")
	}
	response := &Response{Status: StatusOK, VersionID: resource.VersionID, LastUpdated: resource.LastUpdated}
	switch {
	case unchanged(request, resource):
		response.Status = StatusNotModified
	case form.whole():
		response.Resource = resource
	default:
		response.Body, err = s.appendForm(nil, resource, form)
	}
	return response, err
}

func gone(resource *fhir.Resource) error {
	failure := fhir.NewError(fhir.KindGone, fhir.IssueDeleted, resource.Key.String()+" was deleted.")
	failure.Resource = resource
	return failure
}

// unchanged reports whether the conditions of a conditional read say that the
// client holds this version. If-None-Match, being exact, goes first.
func unchanged(request *Request, resource *fhir.Resource) bool {
	if request.IfNoneMatch != "" {
		for tag := range strings.SplitSeq(request.IfNoneMatch, ",") {
			if strings.TrimSpace(tag) == "*" {
				return true
			}
			if versionID, ok := parseETag(tag); ok && versionID == resource.VersionID {
				return true
			}
		}
		return false
	}
	// HTTP dates have whole seconds.
	return !request.IfModifiedSince.IsZero() && !resource.LastUpdated.Truncate(time.Second).After(request.IfModifiedSince)
}
