package interaction

import (
	"context"
	"errors"
	"strings"

	"starling/internal/fhir"
	"starling/internal/fhir/element"
	"starling/internal/terminology"
)

// terminologyCall is a call of an operation of terminology.
type terminologyCall struct {
	*call
	*Service
	codes *terminology.Terminology
	// local is the resource the call is about, if it was found here: another
	// server would not know it.
	local []byte
}

// ofTerminology makes an operation of what answers a terminologyCall with a
// resource. What cannot be answered for want of a code system is passed on to
// the remote server, if there is one.
func ofTerminology(run func(*Service, context.Context, *terminologyCall) ([]byte, error)) func(*Service, context.Context, *call) (*Response, error) {
	return func(s *Service, ctx context.Context, c *call) (*Response, error) {
		t := &terminologyCall{call: c, Service: s, codes: s.Terminology()}
		if err := t.chooseVersions(); err != nil {
			return nil, err
		}
		body, err := run(s, ctx, t)
		if errors.Is(err, terminology.ErrNotHeld) && t.codes.HasRemote() {
			body, err = t.codes.Ask(ctx, c.Type, "$"+c.Operation, t.passedOn())
		}
		if err != nil {
			return nil, err
		}
		return &Response{Status: StatusOK, Body: body}, nil
	}
}

// versionParameters choose versions of code systems.
var versionParameters = []string{"system-version", "check-system-version", "force-system-version"}

// chooseVersions has value sets mean the versions of code systems that the call asks
// for. R4 defines the parameters for $expand; $validate-code takes them as later
// releases do.
func (t *terminologyCall) chooseVersions() error {
	if t.Type != "ValueSet" {
		return nil
	}
	versions, err := terminology.NewVersions(t.texts("system-version"), t.texts("check-system-version"), t.texts("force-system-version"))
	if t.err != nil {
		err = t.err
	}
	if err == nil && !versions.Empty() {
		t.codes = t.codes.WithVersions(versions)
	}
	return err
}

// passedOn is the call's parameters for another server, which does not know
// what is only here.
func (t *terminologyCall) passedOn() []byte {
	types := map[string]string{}
	for _, p := range t.operation.Parameter {
		if p.Use == "in" {
			types[p.Name] = p.Type
		}
	}
	out := newParameters()
	for i := range t.parameters {
		p := &t.parameters[i]
		switch {
		case t.local != nil && (p.name == "url" || p.name == t.operation.body):
		case p.kind == ofResource:
			out.add(p.name, "resource", p.node.Raw())
		case p.kind == ofParts:
			out.add(p.name, "part", p.node.Get("part").Raw())
		case p.node.Exists():
			out.add(p.name, p.node.Name(), p.node.Raw())
		case types[p.name] == "boolean" || types[p.name] == "integer":
			out.add(p.name, valueMember(types[p.name]), []byte(p.text))
		case types[p.name] != "":
			out.text(p.name, valueMember(types[p.name]), p.text)
		}
	}
	if t.local != nil && t.operation.body != "" {
		out.add(t.operation.body, "resource", t.local)
	}
	return out.end()
}

// valueMember is the member value[x] for a type: "valueUri" for uri.
func valueMember(typeName string) string {
	return "value" + strings.ToUpper(typeName[:1]) + typeName[1:]
}

// stored reads the resource that the URL names.
func (t *terminologyCall) stored(ctx context.Context) (*fhir.Resource, error) {
	resource, err := t.Store.Read(ctx, fhir.Key{Type: t.Type, ID: t.ID})
	if err != nil {
		return nil, err
	}
	if resource.Deleted() {
		return nil, gone(resource)
	}
	return resource, nil
}

// subject finds what the call is about: the resource the URL names, one sent
// along, or one by its canonical. canonical and resource are the parameters
// that say so.
func subject[T any](ctx context.Context, t *terminologyCall, canonical, resource string,
	stored func(*fhir.Resource) (T, error), sent func([]byte) (T, error), named func(string) (T, error),
) (found T, err error) {
	root := t.resourceOf(t.Service, resource)
	if t.err != nil {
		return found, t.err
	}
	switch {
	case t.ID != "":
		held, err := t.stored(ctx)
		if err != nil {
			return found, err
		}
		if t.codes.HasRemote() {
			t.local = held.AppendJSON(nil)
		}
		return stored(held)
	case root.Exists():
		if err := checkType(root, t.Type); err != nil {
			return found, err
		}
		t.local = root.Raw()
		return sent(root.Raw())
	case canonical != "":
		return named(canonical)
	}
	return found, fhir.NewError(fhir.KindInvalid, fhir.IssueRequired,
		"Which "+string(t.Type)+" is not said: give its url, or send it, or name it by its id in the URL.")
}

// valueSet finds the value set of the call.
func (t *terminologyCall) valueSet(ctx context.Context) (*terminology.ValueSet, error) {
	v, err := subject(ctx, t, canonicalOf(t.text("url"), t.text("valueSetVersion")), "valueSet",
		t.codes.StoredValueSet, t.codes.ValueSetOf, t.codes.ValueSet)
	if err == nil {
		t.local = v.Text()
	}
	return v, err
}

// canonicalOf joins a url and a version that were given apart.
func canonicalOf(url, version string) string {
	if version == "" || url == "" || strings.Contains(url, "|") {
		return url
	}
	return url + "|" + version
}

// codings gives the codes of the call: of code and system, coding, or
// codeableConcept, of which there must be one.
func (t *terminologyCall) codings(code, system, version string) ([]terminology.Coding, error) {
	coding, concept := t.object("coding", "Coding"), t.object("codeableConcept", "CodeableConcept")
	byCode := terminology.Coding{Code: t.text(code), System: t.text(system), Version: t.text(version), Display: t.text("display")}
	if t.err != nil {
		return nil, t.err
	}
	var all []terminology.Coding
	given := 0
	if byCode.Code != "" {
		given++
		all = append(all, byCode)
	}
	if coding.Exists() {
		given++
		all = append(all, codingOf(coding))
	}
	if concept.Exists() {
		given++
		for node := range concept.Get("coding").Children() {
			all = append(all, codingOf(node))
		}
	}
	if given != 1 {
		return nil, fhir.NewError(fhir.KindInvalid, fhir.IssueRequired, "One of "+code+", coding and codeableConcept has to be given.")
	}
	if len(all) > maxCodings {
		return nil, fhir.NewError(fhir.KindInvalid, fhir.IssueTooCostly, "The concept has too many codings.")
	}
	for _, c := range all {
		if c.Code == "" {
			return nil, fhir.NewError(fhir.KindInvalid, fhir.IssueRequired, "A coding has no code.")
		}
	}
	return all, nil
}

// maxCodings is the most codings of a concept that are looked at.
const maxCodings = 100

func codingOf(node element.Node) terminology.Coding {
	return terminology.Coding{
		System: node.Get("system").Str(), Version: node.Get("version").Str(),
		Code: node.Get("code").Str(), Display: node.Get("display").Str(),
	}
}
