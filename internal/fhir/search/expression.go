package search

import (
	"slices"

	"starling/internal/fhir"
	"starling/internal/fhir/definition"
	"starling/internal/fhir/fhirpath"
)

// expression is a branch of a parameter that the FHIRPath engine evaluates.
type expression struct {
	parameter *definition.SearchParameter
	compiled  *fhirpath.Expression
}

func (s *Search) compileExpression(d *definition.SearchParameter, branch string) (*expression, error) {
	compiled, err := fhirpath.Compile(s.registry, branch)
	if err != nil {
		return nil, err
	}
	return &expression{d, compiled}, nil
}

// evaluate takes the values of an expression. One that does not apply to a
// resource, or takes too long on it, gives none.
func (x *extraction) evaluate(e *expression, t fhir.ResourceType) {
	items, err := e.compiled.Evaluate(x.environment(e), fhirpath.Root(x.search.registry, t, x.root))
	if err != nil {
		return
	}
	for _, item := range items {
		x.item(e.parameter, item)
	}
}

// environment is what an expression knows besides the resource: what contains it. That
// of a parameter stored at run time may take as much as a client's may.
func (x *extraction) environment(e *expression) *fhirpath.Environment {
	custom, inner := e.parameter.Generation != "", !x.container.Same(x.root)
	if !custom && !inner {
		return nil
	}
	env := &fhirpath.Environment{}
	if custom {
		env.Limits = fhirpath.UserLimits.ForSize(len(x.container.Raw()))
	}
	if inner {
		env.RootResource = fhirpath.Root(x.search.registry, fhir.ResourceType(x.container.Get("resourceType").Str()), x.container)
	}
	return env
}

// item reads one result: an element as a path's end is read, a computed value
// as a token, a resource as a reference to it.
func (x *extraction) item(d *definition.SearchParameter, item fhirpath.Item) {
	n, typ := item.Node(), item.Type()
	read := readerFor(d.Type, typ)
	switch {
	case n.Exists() && read != nil:
		read(x, &take{param: d.Param(), typ: typ, read: read}, n)
	case !n.Exists() && d.Type == "token" && item.Text() != "":
		x.tokens.add(fhir.TokenValue{Param: d.Param(), Code: item.Text()})
	case d.Type == "reference" && slices.Contains(d.Target, fhir.ResourceType(typ)):
		if id := n.Get("id").Str(); id != "" {
			x.references.add(referenceValue{ReferenceValue: fhir.ReferenceValue{Param: d.Param(), Type: fhir.ResourceType(typ), ID: id}})
		}
	}
}
