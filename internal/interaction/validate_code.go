package interaction

import (
	"context"
	"errors"
	"strings"

	"starling/internal/terminology"
)

// validateCode says whether a code is in a value set
// (https://hl7.org/fhir/R4/valueset-operation-validate-code.html).
func (s *Service) validateCode(ctx context.Context, t *terminologyCall) ([]byte, error) {
	codings, err := t.codings("code", "system", "systemVersion")
	if err != nil {
		return nil, err
	}
	abstract := t.flag("abstract", false)
	v, err := t.valueSet(ctx)
	if err != nil {
		return nil, err
	}
	return checked(codings, func(c terminology.Coding) (*terminology.Checked, error) {
		return t.codes.ValidateCode(ctx, v, c, abstract)
	})
}

// validateCodeOfSystem says whether a code is in a code system
// (https://hl7.org/fhir/R4/codesystem-operation-validate-code.html).
func (s *Service) validateCodeOfSystem(ctx context.Context, t *terminologyCall) ([]byte, error) {
	// The system of code is the url itself.
	codings, err := t.codings("code", "", "version")
	if err != nil {
		return nil, err
	}
	abstract := t.flag("abstract", false)
	url := t.text("url")
	if url == "" && len(codings) == 1 {
		url = codings[0].System
	}
	system, err := subject(ctx, t, canonicalOf(url, t.text("version")), "codeSystem",
		t.codes.StoredCodeSystem, t.codes.CodeSystemOf, t.codes.CodeSystem)
	if err != nil {
		return nil, err
	}
	return checked(codings, func(c terminology.Coding) (*terminology.Checked, error) {
		if c.System != "" && c.System != system.URL {
			return &terminology.Checked{Message: "The code is of the system " + quote(c.System) + ", not of " + quote(system.URL) + "."}, nil
		}
		return system.ValidateCode(c, abstract)
	})
}

// checked answers for the first coding that is right, else with what is wrong
// with each. One that could not be decided may have been right.
func checked(codings []terminology.Coding, check func(terminology.Coding) (*terminology.Checked, error)) ([]byte, error) {
	var undecided error
	var messages []string
	answer := &terminology.Checked{}
	for _, c := range codings {
		one, err := check(c)
		if err != nil {
			if !errors.Is(err, terminology.ErrNotHeld) {
				return nil, err
			}
			undecided = err
			continue
		}
		if answer = one; one.Result {
			break
		}
		messages = append(messages, one.Message)
	}
	switch {
	case answer.Result:
	case undecided != nil:
		return nil, undecided
	case len(messages) == 0:
		answer.Message = "There is no coding."
	default:
		answer.Message = strings.Join(messages, " ")
	}
	out := newParameters()
	out.flag("result", answer.Result)
	out.text("message", "valueString", answer.Message)
	out.text("display", "valueString", answer.Display)
	return out.end(), nil
}
