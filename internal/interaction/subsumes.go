package interaction

import (
	"context"

	"starling/internal/fhir"
)

// subsumes says how two codes of a system relate
// (https://hl7.org/fhir/R4/codesystem-operation-subsumes.html).
func (s *Service) subsumes(ctx context.Context, t *terminologyCall) ([]byte, error) {
	url, version := t.text("system"), t.text("version")
	var codes [2]string
	for i, name := range []string{"A", "B"} {
		codes[i] = t.text("code" + name)
		if coding := t.object("coding"+name, "Coding"); coding.Exists() {
			c := codingOf(coding)
			switch {
			case codes[i] != "":
				return nil, fhir.NewError(fhir.KindInvalid, fhir.IssueInvalid, "Either code"+name+" or coding"+name+" has to be given, not both.")
			case url != "" && c.System != "" && c.System != url:
				return nil, fhir.NewError(fhir.KindInvalid, fhir.IssueInvalid, "The codes are of different systems.")
			case url == "":
				url = c.System
			}
			codes[i] = c.Code
		}
		if codes[i] == "" && t.err == nil {
			return nil, fhir.NewError(fhir.KindInvalid, fhir.IssueRequired, "code"+name+" or coding"+name+" has to be given.")
		}
	}
	system, err := subject(ctx, t, canonicalOf(url, version), "", t.codes.StoredCodeSystem, t.codes.CodeSystemOf, t.codes.CodeSystem)
	if err != nil {
		return nil, err
	}
	outcome, err := system.Subsumes(codes[0], codes[1])
	if err != nil {
		return nil, err
	}
	out := newParameters()
	out.text("outcome", "valueCode", outcome)
	return out.end(), nil
}
