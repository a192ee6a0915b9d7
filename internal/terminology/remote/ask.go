package remote

import (
	"context"
	"encoding/json"
	"net/http"

	"starling/internal/fhir"
	"starling/internal/fhir/element"
	"starling/internal/terminology"
)

var _ terminology.Remote = (*Server)(nil)

// limits bound the tree of an answer.
var limits = element.Limits{Depth: 100, Size: maxAnswer, Nodes: maxAnswer / 8}

// Ask implements terminology.Remote.
func (s *Server) Ask(ctx context.Context, resourceType fhir.ResourceType, operation string, parameters []byte) ([]byte, error) {
	a, err := s.post(ctx, string(resourceType)+"/"+operation, parameters)
	if err != nil {
		return nil, err
	}
	if a.status >= 400 {
		tree, _ := element.Parse(a.body, limits) // a refusal need not say why
		return nil, refused(a.status, tree)
	}
	return a.body, nil
}

// refused tells of a refusal what its OperationOutcome says.
func refused(status int, tree *element.Tree) *fhir.Error {
	kind, code := fhir.KindUnprocessable, fhir.IssueNotSupported
	if status == http.StatusNotFound {
		kind, code = fhir.KindNotFound, fhir.IssueNotFound
	}
	text := "The terminology server that was asked gives no answer to this"
	if tree != nil {
		issue := tree.Root().Get("issue").At(0)
		said := issue.Get("diagnostics").Str()
		if said == "" {
			said = issue.Get("details").Get("text").Str()
		}
		if runes := []rune(said); len(runes) > maxSaid {
			said = string(runes[:maxSaid]) + "…"
		}
		if said != "" {
			text += ": " + said
		}
	}
	return fhir.NewError(kind, code, text)
}

// maxSaid is how much of another server's message is passed on.
const maxSaid = 300

// Contains implements terminology.Remote, by $validate-code on a value set made
// of the include.
func (s *Server) Contains(ctx context.Context, include []byte, system, code string) (terminology.Answer, string, error) {
	a, err := s.post(ctx, "ValueSet/$validate-code", question(include, system, code))
	if err != nil || a.status >= 400 {
		return terminology.Unknown, "", err
	}
	tree, err := element.Parse(a.body, limits)
	if err != nil {
		return terminology.Unknown, "", nil
	}
	return read(tree.Root())
}

func question(include []byte, system, code string) []byte {
	type coding struct {
		System string `json:"system"`
		Code   string `json:"code"`
	}
	value, err := json.Marshal(coding{system, code})
	if err != nil {
		panic(err) // strings alone
	}
	dst := append([]byte(`{"resourceType":"Parameters","parameter":[{"name":"valueSet","resource":{"resourceType":"ValueSet","status":"active","compose":{"include":[`), include...)
	dst = append(append(dst, `]}}},{"name":"coding","valueCoding":`...), value...)
	return append(dst, `}]}`...)
}

// read takes the answer out of the Parameters of $validate-code. Servers say
// false also of systems they do not have; then they name that, and it is
// unknown.
func read(root element.Node) (terminology.Answer, string, error) {
	answer, display := terminology.Unknown, ""
	for p := range root.Get("parameter").Children() {
		switch p.Get("name").Str() {
		case "result":
			switch p.Get("valueBoolean").Kind() {
			case element.True:
				answer = terminology.Yes
			case element.False:
				answer = terminology.No
			}
		case "display":
			display = p.Get("valueString").Str()
		case "x-caused-by-unknown-system", "x-unknown-system":
			return terminology.Unknown, "", nil
		case "issues":
			for issue := range p.Get("resource").Get("issue").Children() {
				if issue.Get("code").Str() == "not-found" {
					return terminology.Unknown, "", nil
				}
			}
		}
	}
	return answer, display, nil
}
