package interaction

import (
	"context"

	jsonpatch "github.com/evanphx/json-patch/v5"

	"starling/internal/fhir"
)

// patchAttempts is how often a patch is made anew when another write came
// between its reading and its writing.
const patchAttempts = 10

// patch changes parts of a resource
// (https://hl7.org/fhir/R4/http.html#patch). It is written on condition that
// the version it was made from is still current; if not, it is made again.
func (s *Service) patch(ctx context.Context, request *Request) (*Response, error) {
	patch, err := s.readPatch(request)
	if err != nil {
		return nil, err
	}
	for attempt := 1; ; attempt++ {
		current, err := s.Store.Read(ctx, fhir.Key{Type: request.Type, ID: request.ID})
		if err != nil {
			return nil, err
		}
		write, issues, err := s.patched(ctx, s.Store, request, patch, current)
		if err != nil {
			return nil, err
		}
		if issues, err = s.follow(ctx, s.Store, write, issues, request.Base); err != nil {
			return nil, err
		}
		result, err := s.Store.Write(ctx, write)
		if err == nil {
			return written(write, result, issues), nil
		}
		if Failure(err).Kind != fhir.KindPreconditionFailed || request.IfMatch != "" || attempt == patchAttempts {
			return nil, err
		}
	}
}

// conditionalPatch patches the one resource that meets the criteria.
func (s *Service) conditionalPatch(ctx context.Context, request *Request) (*Response, error) {
	patch, err := s.readPatch(request)
	if err != nil {
		return nil, err
	}
	condition, err := s.conditional(request.Type, request.RawQuery, request.Base)
	if err != nil {
		return nil, err
	}
	for attempt := 1; ; attempt++ {
		response, err := s.patchMatch(ctx, request, patch, condition)
		if err == nil || Failure(err).Issues[0].Code != fhir.IssueConflict ||
			Failure(err).Kind != fhir.KindPreconditionFailed || request.IfMatch != "" || attempt == patchAttempts {
			return response, err
		}
	}
}

func (s *Service) patchMatch(ctx context.Context, request *Request, patch jsonpatch.Patch, condition fhir.Condition) (response *Response, err error) {
	err = s.Store.Transact(ctx, []fhir.Condition{condition}, func(tx fhir.Tx) error {
		match, err := onlyMatch(ctx, tx, condition)
		if err != nil {
			return err
		}
		if match == nil {
			return nothingToPatch(condition)
		}
		write, issues, err := s.patched(ctx, tx, request, patch, match)
		if err != nil {
			return err
		}
		if issues, err = s.follow(ctx, tx, write, issues, request.Base); err != nil {
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

func nothingToPatch(condition fhir.Condition) error {
	return fhir.NewError(fhir.KindNotFound, fhir.IssueNotFound, "No "+string(condition.Type)+" meets the criteria.")
}

// patched is the write that a patch of the current version amounts to, and
// what the validation had to say of it.
func (s *Service) patched(
	ctx context.Context, from reader, request *Request, patch jsonpatch.Patch, current *fhir.Resource,
) (*fhir.Write, []fhir.Issue, error) {
	if current.Deleted() {
		return nil, nil, gone(current)
	}
	write := &fhir.Write{Op: fhir.OpUpdate, Method: fhir.MethodPatch, Key: current.Key}
	if err := precondition(ctx, from, request, write); err != nil {
		return nil, nil, err
	}
	if write.IfMatch == 0 {
		write.IfMatch = current.VersionID
	}
	text, err := applyPatch(current, patch)
	if err != nil {
		return nil, nil, err
	}
	root, err := s.parse(text)
	if err != nil {
		return nil, nil, err
	}
	if err := checkType(root, current.Type); err != nil {
		return nil, nil, err
	}
	p, err := s.accept(current.Type, root, request.Base)
	if err != nil {
		return nil, nil, err
	}
	if p.id != current.ID {
		return nil, nil, fhir.NewError(fhir.KindInvalid, fhir.IssueInvalid, "A patch cannot change the id.").At(string(current.Type) + ".id")
	}
	write.Content, write.Index = p.Content, p.index
	return write, p.issues, nil
}
