package interaction

import (
	"context"

	"starling/internal/fhir"
)

// create stores a new resource under an id of the server's choice, whatever
// the body says (https://hl7.org/fhir/R4/http.html#create).
func (s *Service) create(ctx context.Context, request *Request) (*Response, error) {
	p, err := s.prepare(request)
	if err != nil {
		return nil, err
	}
	write := p.create(request.Type)
	if request.IfNoneExist != "" {
		return s.conditionalCreate(ctx, request, p, write)
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

// conditionalCreate stores the resource unless one matches already; then it
// answers with that (https://hl7.org/fhir/R4/http.html#ccreate).
func (s *Service) conditionalCreate(ctx context.Context, request *Request, p *prepared, write *fhir.Write) (*Response, error) {
	criteria, err := s.conditional(request.Type, request.IfNoneExist, request.Base)
	if err != nil {
		return nil, err
	}
	var response *Response
	err = s.Store.Transact(ctx, []fhir.Condition{criteria}, func(tx fhir.Tx) error {
		match, err := onlyMatch(ctx, tx, criteria)
		switch {
		case err != nil:
			return err
		case match != nil:
			response = existing(match)
			return nil
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

// existing answers a conditional create that found its resource.
func existing(match *fhir.Resource) *Response {
	return &Response{
		Status: StatusOK, Resource: match, VersionID: match.VersionID, LastUpdated: match.LastUpdated,
		Location: location(match.Key, match.VersionID),
	}
}

func (p *prepared) create(t fhir.ResourceType) *fhir.Write {
	return &fhir.Write{
		Op: fhir.OpCreate, Method: fhir.MethodPost, Key: fhir.Key{Type: t, ID: newID()}, Content: p.Content, Index: p.index,
	}
}

// written answers a create or update.
func written(write *fhir.Write, result fhir.WriteResult, issues []fhir.Issue) *Response {
	status := StatusOK
	if result.Created {
		status = StatusCreated
	}
	return &Response{
		Status: status,
		Resource: &fhir.Resource{
			Key: write.Key, VersionID: result.VersionID, LastUpdated: result.LastUpdated, Method: write.Method, Content: write.Content,
		},
		VersionID:   result.VersionID,
		LastUpdated: result.LastUpdated,
		Location:    location(write.Key, result.VersionID),
		Issues:      issues,
		Changed:     !result.NoChange,
	}
}
