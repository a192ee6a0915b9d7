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
		key, op, err := target(request.Type, match, p.id)
		if err != nil {
			return err
		}
		write, err := s.conditionalWrite(ctx, tx, request, p, key, op)
		if err != nil {
			return err
		}
		results, err := tx.Apply(ctx, []*fhir.Write{write})
		if err != nil {
			return err
		}
		response = written(write, results[0], p.issues)
		return nil
	})
	return response, single(err)
}

// target decides what a conditional update writes, by the match it found, nil
// for none, and the id of the body, "" for none.
func target(t fhir.ResourceType, match *fhir.Resource, id string) (fhir.Key, fhir.WriteOp, error) {
	switch {
	case match == nil && id == "":
		return fhir.Key{Type: t, ID: newID()}, fhir.OpCreate, nil
	case match == nil:
		return fhir.Key{Type: t, ID: id}, fhir.OpUpdate, nil
	case id == "" || id == match.ID:
		return match.Key, fhir.OpUpdate, nil
	}
	return fhir.Key{}, 0, fhir.NewError(fhir.KindInvalid, fhir.IssueInvalid,
		"The criteria are met by "+match.Key.String()+"; the body has the id "+quote(id)+".").At(string(t) + ".id")
}

// conditionalWrite is the write that target decided on. Under an id of the
// client's choice that nothing matched, only what does not exist is written:
// a resource there does not meet the criteria, so it is not the one meant.
func (s *Service) conditionalWrite(
	ctx context.Context, tx fhir.Tx, request *Request, p *prepared, key fhir.Key, op fhir.WriteOp,
) (*fhir.Write, error) {
	write := &fhir.Write{Op: op, Method: fhir.MethodPut, Key: key, Content: p.Content, Index: p.index}
	if op == fhir.OpCreate {
		write.Method = fhir.MethodPost
		if request.IfMatch != "" {
			return nil, fhir.NewError(fhir.KindPreconditionFailed, fhir.IssueConflict, "Nothing meets the criteria, so no version can match If-Match.")
		}
		return write, nil
	}
	return write, precondition(ctx, tx, request, write)
}
