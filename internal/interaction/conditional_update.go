package interaction

import (
	"context"

	"starling/internal/fhir"
)

// conditionalUpdate updates the one resource that meets the criteria, or
// creates it (https://hl7.org/fhir/R4/http.html#cond-update).
func (s *Service) conditionalUpdate(ctx context.Context, request *Request) (*Response, error) {
	p, err := s.prepare(request)
	if err != nil {
		return nil, err
	}
	condition, err := s.conditional(request.Type, request.RawQuery, request.Base)
	if err != nil {
		return nil, err
	}
	var response *Response
	err = s.Store.Transact(ctx, []fhir.Condition{condition}, func(tx fhir.Tx) error {
		match, err := onlyMatch(ctx, tx, condition)
		if err != nil {
			return err
		}
		write, err := s.conditionalWrite(ctx, tx, request, p, match)
		if err != nil {
			return err
		}
		issues, err := s.follow(ctx, tx, write, p.issues, request.Base)
		if err != nil {
			return err
		}
		results, err := tx.Apply(ctx, []*fhir.Write{write})
		if err != nil {
			return err
		}
		response = written(write, results[0], issues)
		return nil
	})
	return response, single(err)
}

// conditionalWrite is what a conditional update writes, by the match it found,
// nil for none. Under an id of the client's choice that nothing matched only
// what does not exist is written: a resource there does not meet the criteria,
// so it is not the one meant.
func (s *Service) conditionalWrite(
	ctx context.Context, tx fhir.Tx, request *Request, p *prepared, match *fhir.Resource,
) (*fhir.Write, error) {
	if match == nil && p.id == "" {
		if request.IfMatch != "" {
			return nil, fhir.NewError(fhir.KindPreconditionFailed, fhir.IssueConflict,
				"Nothing meets the criteria, so no version can match If-Match.")
		}
		return p.create(request.Type), nil
	}
	write := &fhir.Write{
		Op: fhir.OpUpdate, Method: fhir.MethodPut, Key: fhir.Key{Type: request.Type, ID: p.id},
		Content: p.Content, Index: p.index, IfNoneMatch: match == nil,
	}
	if match != nil {
		if p.id != "" && p.id != match.ID {
			return nil, fhir.NewError(fhir.KindInvalid, fhir.IssueInvalid,
				"The criteria are met by "+match.Key.String()+"; the body has the id "+quote(p.id)+".").At(string(request.Type) + ".id")
		}
		write.Key = match.Key
	}
	return write, precondition(ctx, tx, request, write)
}
