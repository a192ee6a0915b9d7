package interaction

import (
	"context"

	"starling/internal/fhir"
)

// delete marks a resource as deleted; what is not there needs none
// (https://hl7.org/fhir/R4/http.html#delete).
func (s *Service) delete(ctx context.Context, request *Request) (*Response, error) {
	write := deletion(fhir.Key{Type: request.Type, ID: request.ID})
	if err := precondition(ctx, s.Store, request, write); err != nil {
		return nil, err
	}
	result, err := s.Store.Write(ctx, write)
	if err != nil {
		return nil, err
	}
	return deleted(result), nil
}

// conditionalDelete deletes the one resource that meets the criteria. Several
// are refused, as the CapabilityStatement's conditionalDelete "single" says
// (https://hl7.org/fhir/R4/http.html#3.1.0.7.1).
func (s *Service) conditionalDelete(ctx context.Context, request *Request) (*Response, error) {
	condition, err := s.conditional(request.Type, request.RawQuery, request.Base)
	if err != nil {
		return nil, err
	}
	response := deleted(fhir.WriteResult{NoChange: true})
	err = s.Store.Transact(ctx, []fhir.Condition{condition}, func(tx fhir.Tx) error {
		match, err := onlyMatch(ctx, tx, condition)
		if err != nil || match == nil {
			return err
		}
		write := deletion(match.Key)
		if err := precondition(ctx, tx, request, write); err != nil {
			return err
		}
		results, err := tx.Apply(ctx, []*fhir.Write{write})
		if err != nil {
			return err
		}
		response = deleted(results[0])
		return nil
	})
	return response, single(err)
}

func deletion(key fhir.Key) *fhir.Write {
	return &fhir.Write{Op: fhir.OpDelete, Method: fhir.MethodDelete, Key: key}
}

func deleted(result fhir.WriteResult) *Response {
	return &Response{
		Status: StatusNoContent, VersionID: result.VersionID, LastUpdated: result.LastUpdated, Changed: !result.NoChange,
	}
}
