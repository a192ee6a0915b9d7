package interaction

import (
	"context"
	"strings"

	"starling/internal/fhir"
)

// update stores a new version of a resource, or the first one of an id the
// client chose (https://hl7.org/fhir/R4/http.html#update).
func (s *Service) update(ctx context.Context, request *Request) (*Response, error) {
	p, err := s.prepare(request)
	if err != nil {
		return nil, err
	}
	if err := checkID(p.id, request); err != nil {
		return nil, err
	}
	write, err := s.updateOf(ctx, s.Store, request, p)
	if err != nil {
		return nil, err
	}
	issues, err := s.follow(ctx, s.Store, write, p.issues, request.Base)
	if err != nil {
		return nil, err
	}
	result, err := s.Store.Write(ctx, write)
	if err != nil {
		return nil, err
	}
	return written(write, result, issues), nil
}

// checkID refuses a body without the id of the URL or with another.
func checkID(id string, request *Request) error {
	switch id {
	case request.ID:
		return nil
	case "":
		return fhir.NewError(fhir.KindInvalid, fhir.IssueRequired,
			"An update needs the resource's id in the body: "+request.ID+".").At(string(request.Type) + ".id")
	}
	return fhir.NewError(fhir.KindInvalid, fhir.IssueInvalid,
		"The body has the id "+quote(id)+", the URL "+quote(request.ID)+".").At(string(request.Type) + ".id")
}

// reader is what a precondition may have to look at.
type reader interface {
	Read(ctx context.Context, key fhir.Key) (*fhir.Resource, error)
}

// updateOf is the write of an update, with its preconditions.
func (s *Service) updateOf(ctx context.Context, from reader, request *Request, p *prepared) (*fhir.Write, error) {
	write := &fhir.Write{
		Op: fhir.OpUpdate, Method: fhir.MethodPut, Key: fhir.Key{Type: request.Type, ID: request.ID},
		Content: p.Content, Index: p.index,
	}
	return write, precondition(ctx, from, request, write)
}

// precondition puts If-Match and If-None-Match into a write. If-Match: * is
// the version that is current now.
func precondition(ctx context.Context, from reader, request *Request, write *fhir.Write) error {
	switch strings.TrimSpace(request.IfNoneMatch) {
	case "":
	case "*":
		write.IfNoneMatch = true
	default:
		return fhir.NewError(fhir.KindInvalid, fhir.IssueNotSupported, "Of If-None-Match only * is supported here.")
	}
	switch match := strings.TrimSpace(request.IfMatch); match {
	case "":
	case "*":
		current, err := from.Read(ctx, write.Key)
		if err != nil && Failure(err).Kind != fhir.KindNotFound {
			return err
		}
		if err != nil || current.Deleted() {
			return fhir.NewError(fhir.KindPreconditionFailed, fhir.IssueConflict, write.Key.String()+" does not exist, as If-Match: * demands.")
		}
		write.IfMatch = current.VersionID
	default:
		versionID, ok := parseETag(match)
		if !ok {
			return fhir.NewError(fhir.KindPreconditionFailed, fhir.IssueConflict,
				"If-Match "+quote(match)+" is no version of this server; its entity tags look like W/\"3\".")
		}
		write.IfMatch = versionID
	}
	return nil
}
